CREATE TABLE tools (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    name TEXT NOT NULL,
    lent_to TEXT,
    version BIGINT NOT NULL,
    UNIQUE (organisation_id, id)
);
