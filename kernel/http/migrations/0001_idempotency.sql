-- What was answered to requests with an `Idempotency-Key`. `id` is a hash of organisation, person and
-- key, `request_hash` one of what was asked; the answer is protected, since it may hold a secret that
-- is shown only once.
CREATE TABLE svc_idempotency_keys (
    id TEXT NOT NULL PRIMARY KEY,
    request_hash TEXT NOT NULL,
    answer TEXT NOT NULL,
    created_at_us BIGINT NOT NULL
);
CREATE INDEX svc_idempotency_keys_age ON svc_idempotency_keys (created_at_us);
