CREATE TABLE expenses (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    what TEXT NOT NULL,
    amount NUMERIC(12, 2) NOT NULL CHECK (amount >= 0),
    currency TEXT NOT NULL DEFAULT 'EUR' CHECK (length(currency) = 3),
    distance NUMERIC(8, 1),
    version BIGINT NOT NULL,
    UNIQUE (organisation_id, id)
);
