-- Background jobs. All times are microseconds since 1970 by the application's clock.
CREATE TABLE jobs_queue (
    id UUID PRIMARY KEY,
    -- The nil UUID for a job of the system across organisations.
    organisation_id UUID NOT NULL,
    kind TEXT NOT NULL,
    -- JSON, as text: it is read whole, and never searched.
    payload TEXT NOT NULL,
    -- 0 waiting, 1 running, 2 dead, 3 cancelled, 4 finished
    state SMALLINT NOT NULL,
    run_at_us BIGINT NOT NULL,
    attempts INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    unique_key TEXT,
    unique_while_running BOOLEAN NOT NULL,
    -- Whether the row stays for a while after the job has finished.
    watched BOOLEAN NOT NULL,
    lease_token UUID,
    lease_owner UUID,
    lease_until_us BIGINT,
    cancel_requested BOOLEAN NOT NULL DEFAULT FALSE,
    progress_percent SMALLINT,
    progress_message TEXT,
    last_error TEXT,
    created_at_us BIGINT NOT NULL,
    -- Set when, and only when, the state is 2, 3 or 4.
    finished_at_us BIGINT,
    actor_user_id UUID,
    actor_name TEXT NOT NULL,
    -- The permissions of the API key through which the job was enqueued, and the roles that it acted for, as JSON.
    actor_scope TEXT,
    correlation UUID NOT NULL
)
-- only postgres
-- Rows are short-lived: leave room for updates in place, and vacuum early.
WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02)
-- both
;

-- What is due. Nothing leads this index, so that an idle look never reads future jobs.
CREATE INDEX jobs_queue_due ON jobs_queue (run_at_us, id) WHERE state = 0;

-- What waits of each organisation: they take turns where more is due than finds a place.
CREATE INDEX jobs_queue_turns ON jobs_queue (organisation_id, run_at_us, id) WHERE state = 0;

-- What runs. Without the end of the lease, so that a heartbeat touches no index.
CREATE INDEX jobs_queue_running ON jobs_queue (lease_owner) WHERE state = 1;

CREATE UNIQUE INDEX jobs_queue_unique ON jobs_queue (kind, unique_key)
    WHERE unique_key IS NOT NULL AND state IN (0, 1);

-- What has ended: for retention, and for lists.
CREATE INDEX jobs_queue_ended ON jobs_queue (state, finished_at_us)
    WHERE finished_at_us IS NOT NULL;
CREATE INDEX jobs_queue_ended_in ON jobs_queue (organisation_id, state, id)
    WHERE finished_at_us IS NOT NULL;

CREATE TABLE jobs_schedules (
    name TEXT PRIMARY KEY,
    cron TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    -- The node that moves this on is the one that enqueues the job.
    next_run_at_us BIGINT NOT NULL,
    last_run_at_us BIGINT
);
