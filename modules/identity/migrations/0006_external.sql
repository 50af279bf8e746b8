-- Who signs in with an issuer that somebody else runs: a person here, by the issuer's name for it.
CREATE TABLE identity_external_accounts (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id UUID NOT NULL REFERENCES identity_users (id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX identity_external_accounts_user ON identity_external_accounts (user_id);
