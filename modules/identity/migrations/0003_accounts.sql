-- An address counts once its owner has shown that it is theirs. Until then there may be others who were
-- invited under the same one, in other organisations.
ALTER TABLE identity_users ADD COLUMN confirmed_at TIMESTAMPTZ;
CREATE UNIQUE INDEX identity_users_address ON identity_users (email_key)
    WHERE confirmed_at IS NOT NULL;
CREATE INDEX identity_users_email ON identity_users (email_key);

-- Links that were sent to people: each works once, and until its end. A new one takes the place of the
-- one before. Only a hash of what the link holds is stored.
CREATE TABLE identity_links (
    user_id UUID NOT NULL REFERENCES identity_users (id) ON DELETE CASCADE,
    purpose TEXT NOT NULL,
    token_hash BYTEA NOT NULL UNIQUE,
    ends_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (user_id, purpose)
);
CREATE INDEX identity_links_end ON identity_links (ends_at);
