-- The OpenID provider. Times are Unix time in microseconds.

-- Keys that sign tokens. `private_key` is protected with the application's key ring. One key follows
-- another: two nodes that make the next one at the same time make one.
CREATE TABLE identity_signing_keys (
    generation BIGINT NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    private_key TEXT NOT NULL,
    created_at_us BIGINT NOT NULL,
    signs_from_us BIGINT NOT NULL
);

-- Programs that an organisation lets its people sign in through, or that act for themselves.
-- Addresses are one a line. `secret_hash` is the SHA-256 of a random secret; a public client has none.
CREATE TABLE identity_clients (
    id UUID NOT NULL PRIMARY KEY,
    organisation_id UUID NOT NULL REFERENCES identity_organisations (id),
    name TEXT NOT NULL,
    secret_hash BYTEA,
    redirect_uris TEXT NOT NULL,
    signed_out_uris TEXT NOT NULL,
    origins TEXT NOT NULL,
    logout_uri TEXT,
    user_id UUID,
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    FOREIGN KEY (organisation_id, user_id)
        REFERENCES identity_memberships (organisation_id, user_id) ON DELETE CASCADE
);
CREATE INDEX identity_clients_organisation ON identity_clients (organisation_id, id);

-- What a person has let a client do: tokens are made of it, and end with it. It ends with the
-- membership, and with the session unless it is for offline access.
CREATE TABLE identity_grants (
    id UUID NOT NULL PRIMARY KEY,
    client_id TEXT NOT NULL,
    user_id UUID NOT NULL,
    organisation_id UUID NOT NULL,
    session_id UUID NOT NULL,
    issuer TEXT NOT NULL,
    is_offline BOOLEAN NOT NULL,
    -- Whether the client is told when the session ends; then whoever tells it deletes the row.
    wants_logout BOOLEAN NOT NULL,
    scope TEXT NOT NULL,
    methods TEXT NOT NULL,
    authenticated_at_us BIGINT NOT NULL,
    created_at_us BIGINT NOT NULL,
    ends_at_us BIGINT NOT NULL,
    FOREIGN KEY (organisation_id, user_id)
        REFERENCES identity_memberships (organisation_id, user_id) ON DELETE CASCADE
);
CREATE INDEX identity_grants_user ON identity_grants (user_id, id);
CREATE INDEX identity_grants_session ON identity_grants (session_id);
CREATE INDEX identity_grants_end ON identity_grants (ends_at_us);

-- A used code stays until its time is over, so that a second use is noticed.
CREATE TABLE identity_codes (
    code_hash BYTEA NOT NULL PRIMARY KEY,
    grant_id UUID NOT NULL REFERENCES identity_grants (id) ON DELETE CASCADE,
    redirect_uri TEXT NOT NULL,
    challenge TEXT NOT NULL,
    nonce TEXT,
    expires_at_us BIGINT NOT NULL,
    used_at_us BIGINT
);
CREATE INDEX identity_codes_grant ON identity_codes (grant_id);

-- A used refresh token stays until its time is over, so that a second use is noticed.
CREATE TABLE identity_refresh_tokens (
    token_hash BYTEA NOT NULL PRIMARY KEY,
    grant_id UUID NOT NULL REFERENCES identity_grants (id) ON DELETE CASCADE,
    expires_at_us BIGINT NOT NULL,
    used_at_us BIGINT
);
CREATE INDEX identity_refresh_tokens_grant ON identity_refresh_tokens (grant_id);
CREATE INDEX identity_refresh_tokens_end ON identity_refresh_tokens (expires_at_us);
