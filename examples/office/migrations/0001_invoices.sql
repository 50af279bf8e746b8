CREATE TABLE invoices (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    number TEXT NOT NULL,
    customer TEXT NOT NULL,
    currency TEXT NOT NULL DEFAULT 'EUR' CHECK (length(currency) = 3),
    urgency INTEGER NOT NULL DEFAULT 0 CHECK (urgency BETWEEN 0 AND 5),
    terms JSONB,
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    UNIQUE (organisation_id, id),
    UNIQUE (organisation_id, number)
);

CREATE TABLE invoice_lines (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    invoice_id UUID NOT NULL,
    position INTEGER NOT NULL,
    what TEXT NOT NULL,
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    price NUMERIC(12, 2) NOT NULL CHECK (price >= 0),
    version BIGINT NOT NULL,
    UNIQUE (organisation_id, id),
    UNIQUE (organisation_id, invoice_id, position),
    FOREIGN KEY (organisation_id, invoice_id) REFERENCES invoices (organisation_id, id) ON DELETE CASCADE
);
