CREATE TABLE web_shared_views (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    set_name TEXT NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    version BIGINT NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    UNIQUE (organisation_id, set_name, name)
);
