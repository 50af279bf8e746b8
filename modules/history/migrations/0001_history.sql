-- What happened to records. Identifiers are UUIDv7, so their order is the order in time.

CREATE TABLE history_entries (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    -- The entity set; of what is no change of a record, the name of the event.
    set_name TEXT NOT NULL,
    -- The record's key as text; empty for an event.
    record_key TEXT NOT NULL,
    -- Orders the entries of one record, whatever the clocks of nodes say: twice its version after the
    -- change, and one more where it was removed for good.
    position BIGINT NOT NULL,
    -- 1 created, 2 updated, 3 deleted, 4 restored, 5 purged, 6 an event.
    operation SMALLINT NOT NULL,
    -- Who: the person (none for the system) with the name of that time, the API key, the job.
    user_id UUID,
    user_name TEXT NOT NULL,
    api_key_id UUID,
    work_id UUID,
    -- Found by the index below where it isn't the entry's own identifier: the first unit of work of a
    -- request has that of the request.
    request_id UUID NOT NULL,
    unit_id UUID NOT NULL,
    -- The entry that this one took back.
    took_back UUID,
    -- The record afterwards, by column; none when it was removed for good. Of an event its data.
    row_after TEXT,
    -- What differed before, by column; all of a record that was removed for good, none of a new one.
    row_before TEXT,
    -- Both of the columns that never leave the application, encrypted.
    protected TEXT,
    -- Whether its unit of work is found by the index below. An entry that is alone in its unit of work
    -- has the identifier of that instead, so that most changes are spared the index.
    shares_unit SMALLINT NOT NULL,
    -- Whether its values were blanked.
    blanked SMALLINT NOT NULL DEFAULT 0,
    PRIMARY KEY (organisation_id, id)
-- only sqlite
) WITHOUT ROWID;
-- only postgres
);
-- both
CREATE INDEX history_entries_of ON history_entries
    (organisation_id, set_name, record_key, position, id);
CREATE INDEX history_entries_unit ON history_entries (unit_id) WHERE shares_unit = 1;
CREATE INDEX history_entries_request ON history_entries (request_id) WHERE request_id <> id;

-- A row for each organisation that has seals: who adds one locks it first.
CREATE TABLE history_chains (organisation_id UUID PRIMARY KEY);

-- What makes a later change evident: batches of entries, each chained to the one before by its hash.
CREATE TABLE history_seals (
    organisation_id UUID NOT NULL,
    number BIGINT NOT NULL,
    hash TEXT NOT NULL,
    -- Up to which entry everything is sealed.
    through UUID NOT NULL,
    sealed_at_us BIGINT NOT NULL,
    -- A line for each entry.
    lines TEXT NOT NULL,
    PRIMARY KEY (organisation_id, number)
);
