-- The number of the last event: its row is locked while events are stored.
CREATE TABLE live_head (
    id SMALLINT PRIMARY KEY,
    position BIGINT NOT NULL
);

INSERT INTO live_head (id, position) VALUES (1, 0);

-- What happened, for as long as somebody may ask for it.
CREATE TABLE live_log (
    position BIGINT PRIMARY KEY,
    organisation_id UUID,
    content TEXT NOT NULL,
    told_at_us BIGINT NOT NULL
);
