-- Passkeys (Web Authentication): keys that a person's device or key ring holds, by the public half. Only the
-- count that a key gives with each use changes, and it never goes back.
CREATE TABLE identity_passkeys (
    id UUID NOT NULL PRIMARY KEY,
    user_id UUID NOT NULL REFERENCES identity_users (id) ON DELETE CASCADE,
    credential_id BYTEA NOT NULL UNIQUE,
    algorithm BIGINT NOT NULL,
    public_key BYTEA NOT NULL,
    sign_count BIGINT NOT NULL,
    name TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    used_at TIMESTAMPTZ
);
CREATE INDEX identity_passkeys_user ON identity_passkeys (user_id);

-- Challenges that were answered: none is taken twice. They are forgotten once they would have ended anyway.
CREATE TABLE identity_spent_challenges (
    challenge_hash BYTEA NOT NULL PRIMARY KEY,
    ends_at TIMESTAMPTZ NOT NULL
);
