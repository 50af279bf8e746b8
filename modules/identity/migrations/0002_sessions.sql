-- Where people are signed in. Only a hash of what the browser's cookie holds is stored. A session
-- belongs to a membership and ends with it.
CREATE TABLE identity_sessions (
    id UUID NOT NULL PRIMARY KEY,
    user_id UUID NOT NULL,
    organisation_id UUID NOT NULL,
    token_hash BYTEA NOT NULL UNIQUE,
    -- Names with a space between them, in the order in which they were used.
    methods TEXT NOT NULL,
    authenticated_at TIMESTAMPTZ NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    used_at TIMESTAMPTZ NOT NULL,
    ends_at TIMESTAMPTZ NOT NULL,
    user_agent TEXT NOT NULL,
    address TEXT,
    FOREIGN KEY (organisation_id, user_id)
        REFERENCES identity_memberships (organisation_id, user_id) ON DELETE CASCADE
);
CREATE INDEX identity_sessions_user ON identity_sessions (user_id, id);
CREATE INDEX identity_sessions_end ON identity_sessions (ends_at);
CREATE INDEX identity_sessions_use ON identity_sessions (used_at);
