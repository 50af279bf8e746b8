CREATE TABLE svc_settings (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    version BIGINT NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    UNIQUE (organisation_id, name)
);
