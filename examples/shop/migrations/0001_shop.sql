-- Foreign keys carry the organisation, so that not even a guessed id leads into another one.

CREATE TABLE categories (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    UNIQUE (organisation_id, id),
    UNIQUE (organisation_id, name)
);

CREATE TABLE suppliers (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    name TEXT NOT NULL,
    contact_name TEXT,
    email TEXT,
    phone TEXT,
    city TEXT NOT NULL,
    country TEXT NOT NULL,
    lead_time_days INTEGER NOT NULL DEFAULT 7 CHECK (lead_time_days >= 0),
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    UNIQUE (organisation_id, id),
    UNIQUE (organisation_id, name)
);

CREATE TABLE products (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    sku TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    category_id UUID NOT NULL,
    supplier_id UUID,
    unit TEXT NOT NULL DEFAULT 'piece',
    price NUMERIC(12, 2) NOT NULL CHECK (price >= 0),
    cost_price NUMERIC(12, 2) CHECK (cost_price >= 0),
    stock INTEGER NOT NULL DEFAULT 0 CHECK (stock >= 0),
    reorder_level INTEGER NOT NULL DEFAULT 0 CHECK (reorder_level >= 0),
    region TEXT,
    discontinued BOOLEAN NOT NULL DEFAULT FALSE,
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    UNIQUE (organisation_id, id),
    UNIQUE (organisation_id, sku),
    FOREIGN KEY (organisation_id, category_id) REFERENCES categories (organisation_id, id),
    FOREIGN KEY (organisation_id, supplier_id) REFERENCES suppliers (organisation_id, id)
);
CREATE INDEX products_name ON products (organisation_id, name, id);
CREATE INDEX products_category ON products (organisation_id, category_id);
CREATE INDEX products_supplier ON products (organisation_id, supplier_id);
CREATE INDEX products_price ON products (organisation_id, price, id);

CREATE TABLE customers (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    number TEXT NOT NULL,
    name TEXT NOT NULL,
    email TEXT,
    phone TEXT,
    city TEXT NOT NULL,
    country TEXT NOT NULL,
    credit_limit NUMERIC(12, 2) CHECK (credit_limit >= 0),
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    UNIQUE (organisation_id, id),
    UNIQUE (organisation_id, number)
);
CREATE INDEX customers_name ON customers (organisation_id, name, id);
CREATE INDEX customers_place ON customers (organisation_id, country, city);

CREATE TABLE orders (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    number TEXT NOT NULL,
    customer_id UUID NOT NULL,
    reference TEXT,
    status TEXT NOT NULL CHECK (status IN ('placed', 'shipped', 'cancelled')),
    ordered_at TIMESTAMPTZ NOT NULL,
    shipped_at TIMESTAMPTZ,
    total NUMERIC(12, 2) NOT NULL CHECK (total >= 0),
    currency TEXT NOT NULL CHECK (length(currency) = 3),
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CHECK ((status = 'shipped') = (shipped_at IS NOT NULL)),
    UNIQUE (organisation_id, id),
    UNIQUE (organisation_id, number),
    FOREIGN KEY (organisation_id, customer_id) REFERENCES customers (organisation_id, id)
);
CREATE INDEX orders_ordered_at ON orders (organisation_id, ordered_at, id);
CREATE INDEX orders_customer ON orders (organisation_id, customer_id, ordered_at);
CREATE INDEX orders_status ON orders (organisation_id, status, ordered_at);

-- An order with lines can't be deleted, only cancelled.
CREATE TABLE order_lines (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    order_id UUID NOT NULL,
    position INTEGER NOT NULL CHECK (position > 0),
    product_id UUID NOT NULL,
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    unit_price NUMERIC(12, 2) NOT NULL CHECK (unit_price >= 0),
    amount NUMERIC(12, 2) NOT NULL CHECK (amount >= 0),
    version BIGINT NOT NULL,
    UNIQUE (organisation_id, order_id, position),
    FOREIGN KEY (organisation_id, order_id) REFERENCES orders (organisation_id, id),
    FOREIGN KEY (organisation_id, product_id) REFERENCES products (organisation_id, id)
);
CREATE INDEX order_lines_product ON order_lines (organisation_id, product_id);

-- The last number that was given to an order, so that numbers have no gaps.
CREATE TABLE order_numbers (
    organisation_id UUID PRIMARY KEY,
    last BIGINT NOT NULL
);

CREATE TABLE purchases (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    reference TEXT NOT NULL,
    product_id UUID NOT NULL,
    supplier_id UUID,
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    received_at TIMESTAMPTZ,
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    UNIQUE (organisation_id, id),
    FOREIGN KEY (organisation_id, product_id) REFERENCES products (organisation_id, id),
    FOREIGN KEY (organisation_id, supplier_id) REFERENCES suppliers (organisation_id, id)
);
CREATE INDEX purchases_product ON purchases (organisation_id, product_id);
CREATE INDEX purchases_supplier ON purchases (organisation_id, supplier_id);

-- Has its one row once sample data was loaded, so that what somebody deletes stays deleted.
CREATE TABLE sample_data (
    id INTEGER PRIMARY KEY CHECK (id = 1)
);
