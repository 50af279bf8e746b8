-- What was answered to requests with an `Idempotency-Key`. `id` is a hash of organisation, person and
-- key, `person` one of the first two, `request_hash` one of what was asked, `rights_hash` one of what
-- the person could see then; the answer is protected, since it may hold a secret that is shown only once. `size` is what it counts, in bytes.
CREATE TABLE svc_idempotency_keys (
    id TEXT NOT NULL PRIMARY KEY,
    person TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    rights_hash TEXT NOT NULL,
    answer TEXT NOT NULL,
    size BIGINT NOT NULL,
    created_at_us BIGINT NOT NULL
);
CREATE INDEX svc_idempotency_keys_age ON svc_idempotency_keys (created_at_us);
CREATE INDEX svc_idempotency_keys_person ON svc_idempotency_keys (person, created_at_us, size);
