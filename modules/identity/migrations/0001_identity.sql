CREATE TABLE identity_organisations (
    id UUID NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

-- One row at most, written together with the first organisation: two nodes that start on an
-- empty database at the same time can't both set it up.
CREATE TABLE identity_setup (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    done_at_us BIGINT NOT NULL
);

-- A person is the same in all organisations. `email_key` is the address in lower case.
CREATE TABLE identity_users (
    id UUID NOT NULL PRIMARY KEY,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL,
    display_name TEXT NOT NULL,
    disabled_at TIMESTAMPTZ,
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

-- Apart from the person, so that no captured change, history or export ever carries a hash.
CREATE TABLE identity_passwords (
    user_id UUID NOT NULL PRIMARY KEY REFERENCES identity_users (id) ON DELETE CASCADE,
    password_hash TEXT NOT NULL,
    changed_at_us BIGINT NOT NULL
);

CREATE TABLE identity_memberships (
    id UUID NOT NULL PRIMARY KEY,
    organisation_id UUID NOT NULL REFERENCES identity_organisations (id),
    user_id UUID NOT NULL REFERENCES identity_users (id),
    created_at TIMESTAMPTZ NOT NULL,
    UNIQUE (organisation_id, id),
    UNIQUE (organisation_id, user_id)
);
CREATE INDEX identity_memberships_user ON identity_memberships (user_id);

-- The Administrator role has no rows in `identity_role_permissions`: it holds all there are.
CREATE TABLE identity_roles (
    id UUID NOT NULL PRIMARY KEY,
    organisation_id UUID NOT NULL REFERENCES identity_organisations (id),
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    description TEXT NOT NULL,
    is_administrator BOOLEAN NOT NULL,
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    UNIQUE (organisation_id, id),
    UNIQUE (organisation_id, name_key)
);

CREATE TABLE identity_role_permissions (
    id UUID NOT NULL PRIMARY KEY,
    organisation_id UUID NOT NULL REFERENCES identity_organisations (id),
    role_id UUID NOT NULL,
    permission TEXT NOT NULL,
    UNIQUE (role_id, permission),
    FOREIGN KEY (organisation_id, role_id) REFERENCES identity_roles (organisation_id, id)
);

CREATE TABLE identity_membership_roles (
    id UUID NOT NULL PRIMARY KEY,
    organisation_id UUID NOT NULL REFERENCES identity_organisations (id),
    membership_id UUID NOT NULL,
    role_id UUID NOT NULL,
    UNIQUE (membership_id, role_id),
    FOREIGN KEY (organisation_id, membership_id) REFERENCES identity_memberships (organisation_id, id),
    FOREIGN KEY (organisation_id, role_id) REFERENCES identity_roles (organisation_id, id)
);
CREATE INDEX identity_membership_roles_role ON identity_membership_roles (role_id);

-- One row for each value of a claim, which row filters compare with.
CREATE TABLE identity_claims (
    id UUID NOT NULL PRIMARY KEY,
    organisation_id UUID NOT NULL REFERENCES identity_organisations (id),
    membership_id UUID NOT NULL,
    name TEXT NOT NULL,
    claim_value TEXT NOT NULL,
    UNIQUE (membership_id, name, claim_value),
    FOREIGN KEY (organisation_id, membership_id) REFERENCES identity_memberships (organisation_id, id)
);

-- `scope` holds the names of permissions with a space between them; null is all that the person
-- may do. `key_hash` is the SHA-256 of the key.
CREATE TABLE identity_api_keys (
    id UUID NOT NULL PRIMARY KEY,
    organisation_id UUID NOT NULL REFERENCES identity_organisations (id),
    user_id UUID NOT NULL REFERENCES identity_users (id),
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    key_hash BYTEA NOT NULL UNIQUE,
    scope TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ,
    revoked_at TIMESTAMPTZ,
    last_used_at TIMESTAMPTZ
);
CREATE INDEX identity_api_keys_owner ON identity_api_keys (organisation_id, user_id, id);
CREATE INDEX identity_api_keys_user ON identity_api_keys (user_id);
