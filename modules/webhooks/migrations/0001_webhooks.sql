-- Outgoing webhooks. Times that end with `_us` are microseconds since 1970 by the application's
-- clock; identifiers are UUIDv7, so their order is the order in time.

CREATE TABLE webhooks_endpoints (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    url TEXT NOT NULL,
    description TEXT NOT NULL,
    -- The patterns as they were given, a JSON list.
    events TEXT NOT NULL,
    -- Which of these events it wants: a condition over their data.
    filter TEXT,
    -- How bodies are written: 0 as Standard Webhooks advises, 1 as CloudEvents.
    format SMALLINT NOT NULL,
    -- What people keep with it, a JSON object of texts.
    metadata TEXT,
    is_active BOOLEAN NOT NULL,
    -- Whether an update's envelope carries `changes` beside `data`.
    includes_changes BOOLEAN NOT NULL,
    -- Whether an event of a record tells its key and address in place of its data.
    is_thin BOOLEAN NOT NULL,
    -- Whether events of one entity are delivered one after the other.
    is_ordered BOOLEAN NOT NULL,
    -- Whether its receiver fetches what it is told, and nothing is sent.
    is_polled BOOLEAN NOT NULL DEFAULT FALSE,
    -- Who fetches: an API key, or where none is named a person with any credential.
    receiver_id UUID,
    receiver_key_id UUID,
    -- The most requests in a second, over all nodes; none means no limit.
    max_per_second INTEGER,
    -- Seconds for one attempt, and a delivery's age at which it is given up; none means the settings'.
    timeout_s INTEGER,
    expires_after_s INTEGER,
    -- Seconds between attempts, a JSON list; none means the settings'.
    retry_delays_s TEXT,
    -- Custom headers, a JSON object, encrypted: they may carry tokens.
    headers TEXT,
    -- What is shown to the receiver besides signatures, a JSON object, encrypted.
    credentials TEXT,
    owner_id UUID NOT NULL,
    owner_name TEXT NOT NULL,
    -- The API key with which the owner saved it; what it gets is limited to what that may read.
    owner_key_id UUID,
    -- Since when events are kept as missed because the owner is gone, or the key has ended.
    owner_gone_at TIMESTAMPTZ,
    -- Encrypted with the key ring.
    secret TEXT NOT NULL,
    -- The key pair of asymmetric signatures, encrypted too, and its public half.
    key_pair TEXT,
    public_key TEXT,
    -- JSON: what signs beside the secret and the key pair, and until when.
    retired_keys TEXT,
    consecutive_failures INTEGER NOT NULL,
    last_error TEXT,
    disabled_at TIMESTAMPTZ,
    disabled_reason TEXT,
    -- All that waited was cancelled the last time: nothing is sent that was made before this delivery, unless it was
    -- queued after that time. And what is said of each.
    cancelled_to UUID,
    cancelled_us BIGINT,
    cancelled_by TEXT,
    -- Counts what people change. The dispatcher, which changes the counter of failures, leaves it.
    version BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
)
-- only postgres
WITH (fillfactor = 80)
-- both
;
CREATE INDEX webhooks_endpoints_in ON webhooks_endpoints (organisation_id, id);
-- What was changed lately: nodes that hold deliveries in memory ask for it.
CREATE INDEX webhooks_endpoints_changed ON webhooks_endpoints (updated_at);

-- Endpoints for which something waits, and when to look at each: never later than the first of it may be
-- claimed. Whoever looks puts that off, unless the row was touched since it was read.
CREATE TABLE webhooks_queues (
    endpoint_id UUID PRIMARY KEY,
    look_us BIGINT NOT NULL,
    touches BIGINT NOT NULL
)
-- only postgres
WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05)
-- both
;
CREATE INDEX webhooks_queues_due ON webhooks_queues (look_us, endpoint_id);

-- The pace of endpoints that have one: when their next request may begin. Whoever claims for such
-- an endpoint locks its row, so the pace holds over all nodes.
CREATE TABLE webhooks_paces (
    endpoint_id UUID PRIMARY KEY,
    next_us BIGINT NOT NULL
);

-- What organisations that have limits used of them. Whoever claims for endpoints of one locks its row,
-- so the limits hold over all nodes.
CREATE TABLE webhooks_allowances (
    organisation_id UUID PRIMARY KEY,
    -- When its next request may begin, and whose turn the last was.
    next_us BIGINT NOT NULL,
    at_endpoint UUID NOT NULL,
    -- The minute in which requests were last counted, and how many began in it.
    minute BIGINT NOT NULL,
    begun BIGINT NOT NULL,
    -- Bytes that counted at a time; they come back evenly over a day.
    bytes BIGINT NOT NULL,
    bytes_us BIGINT NOT NULL,
    -- JSON: when each limit was near, and reached, for the last time.
    reached TEXT
);

-- One row for each pattern, so that the endpoints of an event are found by a few steps into an
-- index, however many endpoints there are.
CREATE TABLE webhooks_subscriptions (
    pattern TEXT NOT NULL,
    organisation_id UUID NOT NULL,
    endpoint_id UUID NOT NULL,
    PRIMARY KEY (pattern, organisation_id, endpoint_id)
);
CREATE INDEX webhooks_subscriptions_of ON webhooks_subscriptions (endpoint_id);

-- The bytes that are sent, once for all endpoints that get the same.
CREATE TABLE webhooks_messages (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    event_id UUID NOT NULL,
    event_type TEXT NOT NULL,
    time_us BIGINT NOT NULL,
    -- Where the event happened (`traceparent`), while traces are exported.
    trace TEXT,
    -- The entity that the event is about: its set, and its key as text.
    entity_type TEXT,
    entity_id TEXT,
    -- Empty where nobody was there to make it for.
    body TEXT NOT NULL,
    -- Instead of a body: the event as the outbox told it, JSON, of which a recovery makes the body
    -- for whoever owns the endpoint then.
    source TEXT
);

-- What was told of an event, and of an entity, newest first.
CREATE INDEX webhooks_messages_of_event ON webhooks_messages (organisation_id, event_id, id);
CREATE INDEX webhooks_messages_of_entity
    ON webhooks_messages (organisation_id, entity_type, entity_id, id)
    WHERE entity_id IS NOT NULL;

CREATE TABLE webhooks_deliveries (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    endpoint_id UUID NOT NULL,
    message_id UUID NOT NULL,
    -- 0 queued, 1 retrying, 2 delivered, 3 failed, 4 missed while the endpoint was switched
    -- off or its owner was gone, 5 cancelled
    status SMALLINT NOT NULL,
    -- 0 ordinary; 1 test events, which don't wait for the endpoint to be switched on; 2 those of
    -- endpoints that want order; 3 many that are sent again, after the others.
    lane SMALLINT NOT NULL,
    attempts INTEGER NOT NULL,
    due_us BIGINT NOT NULL,
    -- The claim of a dispatcher that is sending it. It ends by itself, so that a delivery whose
    -- process died is sent by another one.
    claim UUID,
    claimed_until_us BIGINT,
    status_code SMALLINT,
    duration_ms INTEGER,
    error TEXT,
    redelivery_of UUID,
    -- When one that was missed was queued, to be recovered; the others were when they were made.
    queued_us BIGINT,
    -- Of endpoints that want order: the entity, and the event, by which its deliveries follow.
    order_key TEXT,
    order_event UUID,
    -- Of the last attempt: where it went, which the endpoint's address may no longer be, and headers as JSON
    -- lists of names and values.
    url TEXT,
    request_headers TEXT,
    response_headers TEXT,
    response_body TEXT,
    attempted_us BIGINT,
    finished_at_us BIGINT
)
-- only postgres
-- Rows that wait are updated when they are claimed: leave room for it, and vacuum early.
WITH (
    fillfactor = 80,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.05
)
-- both
;

-- What waits, by endpoint: whoever claims takes from the front, and never walks a backlog. Without the
-- claim, so that claiming touches no index.
CREATE INDEX webhooks_deliveries_waiting ON webhooks_deliveries (endpoint_id, lane, due_us, id)
    WHERE status < 2;

-- What waits by entity, of endpoints that want order: what is new, and apart from it what was missed and is
-- recovered, so that whoever looks for what is new doesn't step along that.
CREATE INDEX webhooks_deliveries_ordered
    ON webhooks_deliveries (endpoint_id, order_key, order_event, id)
    WHERE status < 2 AND order_key IS NOT NULL AND queued_us IS NULL;
CREATE INDEX webhooks_deliveries_recovered
    ON webhooks_deliveries (endpoint_id, order_key, order_event, id)
    WHERE status < 2 AND order_key IS NOT NULL AND queued_us IS NOT NULL;

-- The log by status, newest first. A page takes the newest of each status that it shows. How an
-- endpoint does is read from the second without a look at the rows.
CREATE INDEX webhooks_deliveries_log ON webhooks_deliveries (organisation_id, status, id);
CREATE INDEX webhooks_deliveries_log_of
    ON webhooks_deliveries (endpoint_id, status, id, duration_ms, finished_at_us);

-- The log by the code of the last answer. Most answers are 2xx, and in neither index.
CREATE INDEX webhooks_deliveries_codes ON webhooks_deliveries (organisation_id, status_code, id)
    WHERE status_code >= 300;
CREATE INDEX webhooks_deliveries_codes_of ON webhooks_deliveries (endpoint_id, status_code, id)
    WHERE status_code >= 300;

-- The deliveries of a message.
CREATE INDEX webhooks_deliveries_of_message ON webhooks_deliveries (message_id, id);

-- Whether a delivery was sent again.
CREATE INDEX webhooks_deliveries_again ON webhooks_deliveries (redelivery_of)
    WHERE redelivery_of IS NOT NULL;

-- The attempts before the last one, each as the log kept it while it was the last.
CREATE TABLE webhooks_attempts (
    delivery_id UUID NOT NULL,
    number INTEGER NOT NULL,
    attempted_us BIGINT,
    status_code SMALLINT,
    duration_ms INTEGER,
    error TEXT,
    url TEXT,
    request_headers TEXT,
    response_headers TEXT,
    response_body TEXT,
    PRIMARY KEY (delivery_id, number)
);

-- Endpoints that were deleted, whose deliveries are deleted after them, step by step.
CREATE TABLE webhooks_deletions (
    endpoint_id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    deleted_us BIGINT NOT NULL,
    -- Whether its deliveries are deleted, but for what somebody may still store.
    is_swept BOOLEAN NOT NULL
);

-- Events that more endpoints want than one unit of work tells: a job tells them step by step, and
-- notes here how far it is.
CREATE TABLE webhooks_fan_outs (
    -- Nil for a record that belongs to all organisations.
    organisation_id UUID NOT NULL,
    event_id UUID NOT NULL,
    event_type TEXT NOT NULL,
    -- The event as the outbox told it, JSON.
    source TEXT NOT NULL,
    -- The last endpoint that was told of it; they go by organisation and identifier.
    at_organisation UUID NOT NULL,
    at_endpoint UUID NOT NULL,
    PRIMARY KEY (organisation_id, event_id)
);

-- Sets of which all records are told to an endpoint, step by step, and how far each is.
CREATE TABLE webhooks_backfills (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    endpoint_id UUID NOT NULL,
    set_name TEXT NOT NULL,
    -- 0 under way, 1 finished, 2 cancelled, 3 failed
    state SMALLINT NOT NULL,
    -- The key of the last record that was looked at, JSON; none at the beginning.
    after_key TEXT,
    -- Records that were looked at, deliveries that were made of them, and how many records there were.
    records BIGINT NOT NULL,
    queued BIGINT NOT NULL,
    total BIGINT,
    error TEXT,
    started_us BIGINT NOT NULL,
    ended_us BIGINT
);
CREATE INDEX webhooks_backfills_of ON webhooks_backfills (endpoint_id, id);
-- A set is told to an endpoint once at a time.
CREATE UNIQUE INDEX webhooks_backfills_under_way ON webhooks_backfills (endpoint_id, set_name)
    WHERE state = 0;

-- Deliveries that the fan-out handed to the dispatcher of its node in memory, a row for those of one
-- unit of work. A delivery gets a row of its own with its outcome, or when that takes long; then
-- this one goes. Whoever finds it after its end queues what has no row.
CREATE TABLE webhooks_hand_overs (
    -- The token under which the dispatcher holds them.
    id UUID PRIMARY KEY,
    until_us BIGINT NOT NULL,
    -- How many they were.
    count INTEGER NOT NULL,
    -- JSON: endpoints, and messages with the deliveries of each.
    deliveries TEXT NOT NULL
);
-- only postgres
-- It lives for milliseconds: packing it costs more than it saves.
ALTER TABLE webhooks_hand_overs ALTER COLUMN deliveries SET STORAGE EXTERNAL;
-- both
