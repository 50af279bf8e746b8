CREATE TABLE notes (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    words TEXT NOT NULL,
    paper TEXT NOT NULL DEFAULT 'yellow' CHECK (paper IN ('yellow', 'green', 'pink')),
    version BIGINT NOT NULL,
    UNIQUE (organisation_id, id)
);
