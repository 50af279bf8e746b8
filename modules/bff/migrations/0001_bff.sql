-- Where browsers are signed in. `id` is the SHA-256 of what the cookie holds; `tokens` are protected with
-- the application's key ring. Times are Unix time in microseconds.
CREATE TABLE bff_sessions (
    id BYTEA NOT NULL PRIMARY KEY,
    -- Whom the session is of, and its name at the provider.
    subject TEXT NOT NULL,
    provider_session TEXT,
    issuer TEXT NOT NULL,
    tokens TEXT NOT NULL,
    -- Counts the tokens that the session has had.
    generation BIGINT NOT NULL,
    tokens_end_at_us BIGINT NOT NULL,
    -- Until when a node may renew them that asks over the network; 0 where none does.
    claimed_until_us BIGINT NOT NULL,
    used_at_us BIGINT NOT NULL,
    ends_at_us BIGINT NOT NULL
);
CREATE INDEX bff_sessions_provider ON bff_sessions (issuer, provider_session);
CREATE INDEX bff_sessions_subject ON bff_sessions (issuer, subject);
CREATE INDEX bff_sessions_end ON bff_sessions (ends_at_us);
CREATE INDEX bff_sessions_use ON bff_sessions (used_at_us);
