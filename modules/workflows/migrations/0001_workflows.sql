-- Where records stand in their workflows, and what workflows there were. Times are microseconds since 1970. On SQLite the tables with something of
-- each record are the index of their key: each look at a record is one search.

-- A version of a workflow never changes: records that began with it stay with it.
CREATE TABLE workflows_definitions (
    set_name TEXT NOT NULL,
    version BIGINT NOT NULL,
    -- SHA-256 of the definition, by which a node finds the version that it declares.
    digest TEXT NOT NULL,
    definition TEXT NOT NULL,
    published_at_us BIGINT NOT NULL,
    -- Whose it is, and who published it, where somebody has drawn it; none where the application declares it.
    organisation_id UUID,
    published_by UUID,
    published_name TEXT,
    note TEXT,
    PRIMARY KEY (set_name, version)
);
CREATE UNIQUE INDEX workflows_definitions_digest ON workflows_definitions (set_name, digest);

CREATE TABLE workflows_instances (
    organisation_id UUID NOT NULL,
    set_name TEXT NOT NULL,
    record_id UUID NOT NULL,
    definition_version BIGINT NOT NULL,
    state TEXT NOT NULL,
    -- How many transitions there were; checked and counted in the statement that moves the record.
    steps BIGINT NOT NULL,
    -- Since when the record is in this state.
    since_us BIGINT NOT NULL,
    -- Who made the record, and who took the last transition; none for the system.
    created_by UUID,
    last_by UUID,
    -- When it should have left the state; none where no time is set.
    due_us BIGINT,
    -- Since when others may act too, because it hadn't.
    escalated_us BIGINT,
    PRIMARY KEY (organisation_id, set_name, record_id)
-- only sqlite
) WITHOUT ROWID;
-- only postgres
);
-- both
-- Pages that are filtered or sorted by the state.
CREATE INDEX workflows_instances_state ON workflows_instances (organisation_id, set_name, state, record_id);

-- Whose turn it is: a row for each claim by which somebody may take a record on, as long as it is in its state.
CREATE TABLE workflows_claims (
    organisation_id UUID NOT NULL,
    set_name TEXT NOT NULL,
    record_id UUID NOT NULL,
    number BIGINT NOT NULL,
    -- `permission:<name>` or `user:<id>`.
    claim TEXT NOT NULL,
    -- The state of the record.
    state TEXT NOT NULL,
    since_us BIGINT NOT NULL,
    -- When it is due; the greatest number where no time is set, so that it comes last.
    due_us BIGINT NOT NULL,
    steps BIGINT NOT NULL,
    -- Where it takes several people: the transition, of which whoever has approved it is left out.
    several TEXT,
    -- Who is left out for four eyes.
    not_creator UUID,
    not_last UUID,
    -- In the place of whom, where it was reassigned.
    for_user UUID,
    PRIMARY KEY (organisation_id, set_name, record_id, number)
-- only sqlite
) WITHOUT ROWID;
-- only postgres
);
-- both
CREATE INDEX workflows_claims_since ON workflows_claims (organisation_id, set_name, claim, since_us, record_id);
CREATE INDEX workflows_claims_due ON workflows_claims (organisation_id, set_name, claim, due_us, record_id);
-- Pages of what awaits somebody, in the order of the keys and of the states.
CREATE INDEX workflows_claims_record ON workflows_claims (organisation_id, set_name, claim, record_id);
CREATE INDEX workflows_claims_state ON workflows_claims (organisation_id, set_name, claim, state, record_id);

-- What happens by itself while a record is in its state: `remind`, `escalate`, `automatic`.
CREATE TABLE workflows_timers (
    organisation_id UUID NOT NULL,
    set_name TEXT NOT NULL,
    record_id UUID NOT NULL,
    kind TEXT NOT NULL,
    at_us BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, set_name, record_id, kind)
-- only sqlite
) WITHOUT ROWID;
-- only postgres
);
-- both
CREATE INDEX workflows_timers_at ON workflows_timers (at_us);

-- What happened: a row for each transition.
CREATE TABLE workflows_steps (
    organisation_id UUID NOT NULL,
    set_name TEXT NOT NULL,
    record_id UUID NOT NULL,
    number BIGINT NOT NULL,
    transition TEXT NOT NULL,
    from_state TEXT NOT NULL,
    to_state TEXT NOT NULL,
    -- Who: the person (none for the system) with the name of that time.
    user_id UUID,
    user_name TEXT NOT NULL,
    -- For whom, where somebody stood in.
    for_user UUID,
    for_name TEXT,
    comment TEXT,
    at_us BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, set_name, record_id, number)
-- only sqlite
) WITHOUT ROWID;
-- only postgres
);
-- both

-- Transitions that take several people: who of them did so, of which version of the record.
CREATE TABLE workflows_approvals (
    organisation_id UUID NOT NULL,
    set_name TEXT NOT NULL,
    record_id UUID NOT NULL,
    -- How many transitions there were before, so that each step is approved anew.
    steps BIGINT NOT NULL,
    transition TEXT NOT NULL,
    user_id UUID NOT NULL,
    user_name TEXT NOT NULL,
    -- For whom, where somebody stood in.
    for_user UUID,
    for_name TEXT,
    comment TEXT,
    -- The groups that the person was of, with commas between; empty where the transition has none.
    group_names TEXT NOT NULL,
    record_version BIGINT NOT NULL,
    at_us BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, set_name, record_id, steps, transition, user_id)
-- only sqlite
) WITHOUT ROWID;
-- only postgres
);
-- both

-- Who stands in for whom, over a span of time.
CREATE TABLE workflows_delegations (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    from_user UUID NOT NULL,
    from_name TEXT NOT NULL,
    to_user UUID NOT NULL,
    to_name TEXT NOT NULL,
    begins_us BIGINT NOT NULL,
    ends_us BIGINT NOT NULL,
    reason TEXT
);
CREATE INDEX workflows_delegations_from ON workflows_delegations (organisation_id, from_user);
CREATE INDEX workflows_delegations_to ON workflows_delegations (organisation_id, to_user);

-- The claims of those who delegate, as they were looked up last, so that lists can ask for them.
CREATE TABLE workflows_delegated (
    delegation_id UUID NOT NULL,
    claim TEXT NOT NULL,
    organisation_id UUID NOT NULL,
    to_user UUID NOT NULL,
    from_user UUID NOT NULL,
    begins_us BIGINT NOT NULL,
    ends_us BIGINT NOT NULL,
    PRIMARY KEY (delegation_id, claim)
-- only sqlite
) WITHOUT ROWID;
-- only postgres
);
-- both
CREATE INDEX workflows_delegated_to ON workflows_delegated (organisation_id, to_user, claim);

-- Who stands in for whom with a record, after so many transitions of it.
CREATE TABLE workflows_reassignments (
    organisation_id UUID NOT NULL,
    set_name TEXT NOT NULL,
    record_id UUID NOT NULL,
    steps BIGINT NOT NULL,
    from_user UUID NOT NULL,
    to_user UUID NOT NULL,
    to_name TEXT NOT NULL,
    reason TEXT NOT NULL,
    by_name TEXT NOT NULL,
    -- The claims by rights by which it was the person's turn, with commas between.
    permissions TEXT NOT NULL,
    at_us BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, set_name, record_id, steps, from_user)
-- only sqlite
) WITHOUT ROWID;
-- only postgres
);
-- both

-- The version that new records of an organisation begin with, where one was drawn.
CREATE TABLE workflows_current (
    organisation_id UUID NOT NULL,
    set_name TEXT NOT NULL,
    version BIGINT NOT NULL,
    begins_in TEXT NOT NULL,
    PRIMARY KEY (organisation_id, set_name)
);

-- What is being drawn.
CREATE TABLE workflows_drafts (
    organisation_id UUID NOT NULL,
    set_name TEXT NOT NULL,
    -- How often it was saved, so that of two who draw the second is told.
    revision BIGINT NOT NULL,
    definition TEXT NOT NULL,
    changed_name TEXT NOT NULL,
    changed_at_us BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, set_name)
);
