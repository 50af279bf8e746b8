CREATE TABLE categories (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    name TEXT NOT NULL,
    version BIGINT NOT NULL,
    UNIQUE (organisation_id, id)
);

CREATE TABLE products (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    sku TEXT NOT NULL,
    name TEXT NOT NULL,
    category_id UUID NOT NULL,
    price NUMERIC(12, 2) NOT NULL,
    cost_price NUMERIC(12, 2),
    stock INTEGER NOT NULL,
    region TEXT,
    discontinued BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    version BIGINT NOT NULL,
    FOREIGN KEY (organisation_id, category_id) REFERENCES categories (organisation_id, id)
);
CREATE UNIQUE INDEX products_key ON products (organisation_id, id);
CREATE INDEX products_category ON products (organisation_id, category_id);
CREATE INDEX products_name ON products (organisation_id, name, id);
-- What the row filter goes by, so that rows can be counted under it without being read.
CREATE INDEX products_region ON products (organisation_id, region);

CREATE TABLE lines (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    product_id UUID NOT NULL,
    quantity INTEGER NOT NULL,
    price NUMERIC(12, 2) NOT NULL,
    version BIGINT NOT NULL,
    FOREIGN KEY (organisation_id, product_id) REFERENCES products (organisation_id, id)
);
CREATE INDEX lines_product ON lines (organisation_id, product_id, id);
