-- The second step of signing in, by codes of an authenticator app (RFC 6238). The secret is protected by a
-- key that is not in the database; `last_step` is that of the last code that was taken, since none is
-- taken twice.
CREATE TABLE identity_totp (
    user_id UUID NOT NULL PRIMARY KEY REFERENCES identity_users (id) ON DELETE CASCADE,
    secret TEXT NOT NULL,
    last_step BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);

-- Codes for when the app is gone. Each has 80 random bits, so a fast hash is enough; each works once.
CREATE TABLE identity_recovery_codes (
    user_id UUID NOT NULL REFERENCES identity_users (id) ON DELETE CASCADE,
    code_hash BYTEA NOT NULL,
    PRIMARY KEY (user_id, code_hash)
);
