CREATE TABLE svc_settings (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    user_id UUID,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    version BIGINT NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

CREATE UNIQUE INDEX svc_settings_organisation ON svc_settings (organisation_id, name)
    WHERE user_id IS NULL;

CREATE UNIQUE INDEX svc_settings_person ON svc_settings (organisation_id, user_id, name)
    WHERE user_id IS NOT NULL;

CREATE TABLE svc_profiles (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    user_id UUID NOT NULL,
    name TEXT NOT NULL,
    document TEXT NOT NULL,
    version BIGINT NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    UNIQUE (organisation_id, user_id, name)
);
