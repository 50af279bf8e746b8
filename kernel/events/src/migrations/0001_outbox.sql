-- One row for each message and handler that has not succeeded with it yet.
CREATE TABLE events_outbox (
    id UUID NOT NULL,
    handler TEXT NOT NULL,
    name TEXT NOT NULL,
    -- The nil UUID where it belongs to no organisation, which takes its turn like any other.
    organisation_id UUID NOT NULL,
    correlation UUID NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('ready', 'dead')),
    attempts INTEGER NOT NULL,
    available_at_us BIGINT NOT NULL,
    created_at_us BIGINT NOT NULL,
    last_error TEXT,
    content TEXT NOT NULL,
    PRIMARY KEY (id, handler)
);

-- What a handler's lane goes along, from organisation to organisation: its cost depends on what is taken, not
-- on what waits.
CREATE INDEX events_outbox_fresh ON events_outbox (handler, organisation_id, id)
    WHERE state = 'ready' AND attempts = 0;

-- What was tried and is tried again.
CREATE INDEX events_outbox_again ON events_outbox (handler, available_at_us, id)
    WHERE state = 'ready' AND attempts > 0;

CREATE INDEX events_outbox_dead ON events_outbox (id, handler) WHERE state = 'dead';

-- What a process may have ended over, by event.
CREATE INDEX events_outbox_begun ON events_outbox (handler, id)
    WHERE state = 'ready' AND attempts = 1
    AND last_error = 'the process ended while it handled the message';

-- only postgres
-- A queue's rows die young: vacuum after a fixed number of them, whatever the table's size, and
-- without pauses, or walks along the index pass dead entries. Its file keeps the size it once had:
-- truncating it would take an exclusive lock, and PostgreSQL would plan to read all of a table that
-- it saw empty, and hold on to such plans while the queue fills.
ALTER TABLE events_outbox SET (
    vacuum_truncate = false,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_insert_scale_factor = 0,
    autovacuum_vacuum_insert_threshold = 10000,
    autovacuum_analyze_scale_factor = 0,
    autovacuum_analyze_threshold = 10000,
    autovacuum_vacuum_cost_delay = 0,
    toast.autovacuum_vacuum_scale_factor = 0,
    toast.autovacuum_vacuum_threshold = 2000,
    toast.autovacuum_vacuum_cost_delay = 0
);
-- both
