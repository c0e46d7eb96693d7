-- Made by scripts/generate.py from scripts.schema; change the tables there.
CREATE TABLE advertisement (
    node_id VARCHAR(255) NOT NULL,
    version INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (node_id)
);
CREATE TABLE approval (
    workflow_id VARCHAR(191) NOT NULL,
    instance_id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    step_id VARCHAR(191) NOT NULL,
    attempt_no INTEGER NOT NULL,
    assignee VARCHAR(128) NOT NULL,
    home VARCHAR(191) NOT NULL,
    asked VARCHAR(32) NOT NULL,
    asked_at INTEGER NOT NULL,
    PRIMARY KEY (workflow_id, instance_id, run_id, step_id, attempt_no, assignee)
)
 WITHOUT ROWID;
CREATE INDEX approval_home ON approval (assignee, home, asked, asked_at, workflow_id, instance_id, run_id, step_id, attempt_no);
CREATE INDEX approval_line ON approval (assignee, asked, asked_at, workflow_id, instance_id, run_id, step_id, attempt_no);
CREATE TABLE attempt (
    workflow_id VARCHAR(191) NOT NULL,
    instance_id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    step_id VARCHAR(191) NOT NULL,
    attempt_no INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    status VARCHAR(32) NOT NULL,
    held VARCHAR(191),
    create_time INTEGER,
    start_time INTEGER,
    end_time INTEGER,
    launch INTEGER,
    runs_on VARCHAR(255),
    child_workflow_id VARCHAR(191),
    child_instance_id INTEGER,
    child_run_id INTEGER,
    loop_total INTEGER,
    modify_time INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (workflow_id, instance_id, run_id, step_id, attempt_no)
);
CREATE INDEX attempt_held ON attempt (held, workflow_id, instance_id, run_id, attempt_no) WHERE held IS NOT NULL;
CREATE TABLE beat (
    node_id VARCHAR(255) NOT NULL,
    n INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (node_id)
)
 WITHOUT ROWID;
CREATE TABLE breakpoint (
    workflow_id VARCHAR(191) NOT NULL,
    step_id VARCHAR(191) NOT NULL,
    version_id INTEGER NOT NULL,
    instance_id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    attempt_no INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (workflow_id, step_id, version_id, instance_id, run_id, attempt_no)
);
CREATE TABLE bulk_item (
    job_id VARCHAR(255) NOT NULL,
    number INTEGER NOT NULL,
    state VARCHAR(32) NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (job_id, number)
);
CREATE INDEX bulk_item_state ON bulk_item (job_id, state, number);
CREATE TABLE bulk_job (
    job_id VARCHAR(255) NOT NULL,
    create_time INTEGER NOT NULL,
    state VARCHAR(32) NOT NULL,
    held_until INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (job_id)
);
CREATE INDEX bulk_job_held ON bulk_job (state, held_until);
CREATE INDEX bulk_job_time ON bulk_job (create_time, job_id);
CREATE TABLE change_log (
    group_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    logged_at INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (group_id, seq)
);
CREATE TABLE counter (
    name VARCHAR(255) NOT NULL,
    next_value INTEGER NOT NULL,
    PRIMARY KEY (name)
)
 WITHOUT ROWID;
CREATE TABLE flow_group (
    group_id INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    owner VARCHAR(255),
    falls INTEGER NOT NULL,
    suspect TEXT,
    PRIMARY KEY (group_id)
)
 WITHOUT ROWID;
CREATE INDEX flow_group_owner ON flow_group (owner);
CREATE TABLE job_function (
    name VARCHAR(512) NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (name)
);
CREATE TABLE job_template (
    job_type VARCHAR(256) NOT NULL,
    version VARCHAR(256) NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (job_type, version)
);
CREATE INDEX job_template_version ON job_template (version, job_type);
CREATE TABLE kept_result (
    result_key VARCHAR(512) NOT NULL,
    doc TEXT NOT NULL,
    kept_until INTEGER NOT NULL,
    PRIMARY KEY (result_key)
);
CREATE INDEX kept_result_until ON kept_result (kept_until);
CREATE TABLE large_doc (
    workflow_id VARCHAR(191) NOT NULL,
    instance_id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    part VARCHAR(32) NOT NULL,
    step_id VARCHAR(191) NOT NULL,
    attempt_no INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (workflow_id, instance_id, run_id, part, step_id, attempt_no)
);
CREATE TABLE node (
    node_id VARCHAR(255) NOT NULL,
    state VARCHAR(32) NOT NULL,
    joined_at INTEGER NOT NULL,
    buried_at INTEGER,
    last_n INTEGER,
    expired_at INTEGER,
    address VARCHAR(1024),
    PRIMARY KEY (node_id)
)
 WITHOUT ROWID;
CREATE INDEX node_buried ON node (buried_at);
CREATE TABLE outbox (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    to_group INTEGER,
    to_node VARCHAR(255),
    kind VARCHAR(32) NOT NULL,
    ref TEXT NOT NULL,
    ref_digest INTEGER NOT NULL,
    about INTEGER,
    about_too INTEGER,
    sent_at INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    not_before INTEGER NOT NULL,
    parked TEXT,
    is_parked SMALLINT NOT NULL,
    outcome TEXT,
    is_answered SMALLINT NOT NULL,
    doc TEXT NOT NULL
);
CREATE INDEX outbox_about ON outbox (about) WHERE about IS NOT NULL;
CREATE INDEX outbox_about_too ON outbox (about_too) WHERE about_too IS NOT NULL;
CREATE INDEX outbox_answered ON outbox (is_answered, sent_at) WHERE is_answered = 1;
CREATE INDEX outbox_group ON outbox (to_group, id) WHERE to_group IS NOT NULL;
CREATE INDEX outbox_node ON outbox (to_node, id) WHERE to_node IS NOT NULL;
CREATE INDEX outbox_parked ON outbox (is_parked, id) WHERE is_parked = 1;
CREATE INDEX outbox_ref ON outbox (ref_digest);
CREATE TABLE outcome (
    workflow_id VARCHAR(191) NOT NULL,
    hour INTEGER NOT NULL,
    shard INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    stopped INTEGER NOT NULL,
    timed_out INTEGER NOT NULL,
    PRIMARY KEY (workflow_id, hour, shard)
)
 WITHOUT ROWID;
CREATE INDEX outcome_hour ON outcome (hour, workflow_id);
CREATE TABLE permit (
    workflow_id VARCHAR(191) NOT NULL,
    instance_id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    step_id VARCHAR(191) NOT NULL,
    attempt_no INTEGER NOT NULL,
    tag VARCHAR(320) NOT NULL,
    group_id INTEGER NOT NULL,
    home_group INTEGER NOT NULL,
    granted SMALLINT NOT NULL,
    place INTEGER NOT NULL,
    criticality VARCHAR(32),
    since INTEGER NOT NULL,
    max_allowed INTEGER,
    granted_at INTEGER,
    PRIMARY KEY (workflow_id, instance_id, run_id, step_id, attempt_no, tag)
)
 WITHOUT ROWID;
CREATE INDEX permit_home ON permit (granted, home_group, tag);
CREATE INDEX permit_line ON permit (tag, granted, place, since, workflow_id, instance_id, run_id, step_id, attempt_no);
CREATE INDEX permit_tag ON permit (tag, granted, workflow_id, instance_id, run_id, step_id, attempt_no);
CREATE TABLE properties (
    workflow_id VARCHAR(191) NOT NULL,
    create_time INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (workflow_id, create_time)
);
CREATE TABLE run (
    workflow_id VARCHAR(191) NOT NULL,
    instance_id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    uuid VARCHAR(255) NOT NULL,
    group_id INTEGER NOT NULL,
    phase VARCHAR(32) NOT NULL,
    lane VARCHAR(32),
    status VARCHAR(32) NOT NULL,
    failure VARCHAR(32),
    paused SMALLINT NOT NULL,
    due_at INTEGER,
    aside SMALLINT DEFAULT '0' NOT NULL,
    quarantined TEXT,
    root_workflow_id VARCHAR(191),
    root_instance_id INTEGER,
    root_run_id INTEGER,
    parent_group INTEGER,
    parent_workflow_id VARCHAR(191),
    parent_instance_id INTEGER,
    parent_run_id INTEGER,
    parent_step_id VARCHAR(191),
    parent_attempt_no INTEGER,
    version_id INTEGER NOT NULL,
    initiator VARCHAR(32) NOT NULL,
    nested SMALLINT NOT NULL,
    owner VARCHAR(255),
    correlation_id VARCHAR(255) NOT NULL,
    listed_at INTEGER,
    create_time INTEGER NOT NULL,
    start_time INTEGER,
    end_time INTEGER,
    ended_at INTEGER,
    modify_time INTEGER NOT NULL,
    summary TEXT,
    params TEXT,
    base VARCHAR(32),
    doc TEXT NOT NULL,
    PRIMARY KEY (workflow_id, instance_id, run_id)
);
CREATE INDEX run_aside ON run (aside, workflow_id, instance_id, run_id) WHERE aside = 1;
CREATE INDEX run_child ON run (parent_workflow_id, parent_instance_id, parent_run_id, parent_step_id, parent_attempt_no, workflow_id, instance_id, run_id) WHERE parent_workflow_id IS NOT NULL;
CREATE INDEX run_correlation ON run (correlation_id, listed_at) WHERE listed_at IS NOT NULL;
CREATE INDEX run_ended ON run (workflow_id, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX run_group ON run (group_id, lane) WHERE lane IS NOT NULL;
CREATE INDEX run_iteration ON run (root_workflow_id, root_instance_id, root_run_id, phase) WHERE root_workflow_id IS NOT NULL;
CREATE INDEX run_lane ON run (workflow_id, lane, instance_id, run_id) WHERE lane IS NOT NULL;
CREATE INDEX run_owner_time ON run (owner, listed_at) WHERE owner IS NOT NULL;
CREATE UNIQUE INDEX run_request ON run (workflow_id, uuid);
CREATE INDEX run_status ON run (workflow_id, status, instance_id, run_id);
CREATE INDEX run_status_time ON run (status, listed_at) WHERE listed_at IS NOT NULL;
CREATE INDEX run_time ON run (nested, listed_at) WHERE listed_at IS NOT NULL;
CREATE INDEX run_workflow_time ON run (workflow_id, listed_at) WHERE listed_at IS NOT NULL;
CREATE INDEX run_uuid ON run (uuid, listed_at) WHERE listed_at IS NOT NULL;
CREATE TABLE run_loop (
    workflow_id VARCHAR(191) NOT NULL,
    instance_id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    step_id VARCHAR(191) NOT NULL,
    attempt_no INTEGER NOT NULL,
    counts TEXT,
    doc TEXT NOT NULL,
    PRIMARY KEY (workflow_id, instance_id, run_id, step_id, attempt_no)
);
CREATE TABLE run_tag (
    tag VARCHAR(256) NOT NULL,
    listed_at INTEGER NOT NULL,
    workflow_id VARCHAR(191) NOT NULL,
    instance_id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    PRIMARY KEY (tag, listed_at, workflow_id, instance_id, run_id)
)
 WITHOUT ROWID;
CREATE INDEX run_tag_of ON run_tag (workflow_id, instance_id, run_id);
CREATE TABLE signal_instance (
    name VARCHAR(256) NOT NULL,
    seq INTEGER NOT NULL,
    digest VARCHAR(64) NOT NULL,
    create_time INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (name, seq)
);
CREATE UNIQUE INDEX signal_instance_id ON signal_instance (name, digest);
CREATE INDEX signal_instance_time ON signal_instance (create_time);
CREATE TABLE signal_join (
    trigger_id VARCHAR(255) NOT NULL,
    digest VARCHAR(64) NOT NULL,
    join_key TEXT NOT NULL,
    taken TEXT NOT NULL,
    PRIMARY KEY (trigger_id, digest)
);
CREATE TABLE signal_listener (
    name VARCHAR(256) NOT NULL,
    trigger_id VARCHAR(255) NOT NULL,
    PRIMARY KEY (name, trigger_id)
)
 WITHOUT ROWID;
CREATE INDEX signal_listener_of ON signal_listener (trigger_id);
CREATE TABLE signal_name (
    name VARCHAR(256) NOT NULL,
    last_seq INTEGER NOT NULL,
    PRIMARY KEY (name)
)
 WITHOUT ROWID;
CREATE TABLE signal_trigger (
    trigger_id VARCHAR(255) NOT NULL,
    workflow_id VARCHAR(191) NOT NULL,
    version_id INTEGER NOT NULL,
    since TEXT NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (trigger_id)
);
CREATE INDEX signal_trigger_of ON signal_trigger (workflow_id, trigger_id);
CREATE TABLE signal_wait (
    name VARCHAR(256) NOT NULL,
    workflow_id VARCHAR(191) NOT NULL,
    instance_id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    step_id VARCHAR(191) NOT NULL,
    attempt_no INTEGER NOT NULL,
    dependency INTEGER NOT NULL,
    group_id INTEGER NOT NULL,
    match_params TEXT NOT NULL,
    PRIMARY KEY (name, workflow_id, instance_id, run_id, step_id, attempt_no, dependency)
);
CREATE INDEX signal_wait_of ON signal_wait (workflow_id, instance_id, run_id, step_id, attempt_no);
CREATE TABLE sink (
    sink VARCHAR(255) NOT NULL,
    group_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (sink, group_id)
)
 WITHOUT ROWID;
CREATE INDEX sink_group ON sink (group_id);
CREATE TABLE tag (
    tag VARCHAR(320) NOT NULL,
    max_allowed INTEGER,
    is_limited SMALLINT NOT NULL,
    doc TEXT,
    PRIMARY KEY (tag)
);
CREATE INDEX tag_limited ON tag (is_limited, tag);
CREATE TABLE tag_rate (
    tag VARCHAR(320) NOT NULL,
    rate VARCHAR(32) NOT NULL,
    grants TEXT,
    PRIMARY KEY (tag)
);
CREATE TABLE time_trigger (
    trigger_id VARCHAR(255) NOT NULL,
    workflow_id VARCHAR(191) NOT NULL,
    version_id INTEGER NOT NULL,
    home_group INTEGER NOT NULL,
    next_fire_at INTEGER,
    jitter INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (trigger_id)
);
CREATE INDEX time_trigger_due ON time_trigger (home_group, next_fire_at) WHERE next_fire_at IS NOT NULL;
CREATE INDEX time_trigger_of ON time_trigger (workflow_id, trigger_id);
CREATE INDEX time_trigger_next ON time_trigger (next_fire_at, trigger_id) WHERE next_fire_at IS NOT NULL;
CREATE TABLE work (
    workflow_id VARCHAR(191) NOT NULL,
    instance_id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    step_id VARCHAR(191) NOT NULL,
    attempt_no INTEGER NOT NULL,
    launch INTEGER NOT NULL,
    pool VARCHAR(256) NOT NULL,
    group_id INTEGER NOT NULL,
    since INTEGER NOT NULL,
    take INTEGER NOT NULL,
    taken_by VARCHAR(96),
    PRIMARY KEY (workflow_id, instance_id, run_id, step_id, attempt_no)
)
 WITHOUT ROWID;
CREATE INDEX work_free ON work (pool, taken_by, since, workflow_id, instance_id, run_id, step_id, attempt_no);
CREATE INDEX work_group ON work (group_id);
CREATE INDEX work_pool ON work (pool, workflow_id, instance_id, run_id, step_id, attempt_no);
CREATE INDEX work_taken ON work (taken_by) WHERE taken_by IS NOT NULL;
CREATE TABLE workflow (
    workflow_id VARCHAR(191) NOT NULL,
    state VARCHAR(32) NOT NULL,
    internal_id INTEGER NOT NULL,
    latest_version INTEGER NOT NULL,
    active_version INTEGER NOT NULL,
    activate_time INTEGER,
    activated_by TEXT,
    rule VARCHAR(32) NOT NULL,
    slots INTEGER NOT NULL,
    next_instance_id INTEGER NOT NULL,
    queued INTEGER NOT NULL,
    home_group INTEGER NOT NULL,
    owner VARCHAR(255),
    modify_time INTEGER NOT NULL,
    properties TEXT NOT NULL,
    PRIMARY KEY (workflow_id)
);
CREATE INDEX workflow_owner ON workflow (owner, workflow_id);
CREATE INDEX workflow_queue ON workflow (home_group, queued);
CREATE INDEX workflow_state ON workflow (state, workflow_id);
CREATE TABLE workflow_change (
    workflow_id VARCHAR(191) NOT NULL,
    place INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (workflow_id, place)
);
CREATE TABLE workflow_tag (
    tag VARCHAR(256) NOT NULL,
    workflow_id VARCHAR(191) NOT NULL,
    PRIMARY KEY (tag, workflow_id)
)
 WITHOUT ROWID;
CREATE INDEX workflow_tag_of ON workflow_tag (workflow_id);
CREATE TABLE workflow_version (
    workflow_id VARCHAR(191) NOT NULL,
    version_id INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (workflow_id, version_id)
);
INSERT INTO flow_group (group_id, generation, falls) VALUES (0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0), (5, 0, 0), (6, 0, 0), (7, 0, 0), (8, 0, 0), (9, 0, 0), (10, 0, 0), (11, 0, 0), (12, 0, 0), (13, 0, 0), (14, 0, 0), (15, 0, 0), (16, 0, 0), (17, 0, 0), (18, 0, 0), (19, 0, 0), (20, 0, 0), (21, 0, 0), (22, 0, 0), (23, 0, 0), (24, 0, 0), (25, 0, 0), (26, 0, 0), (27, 0, 0), (28, 0, 0), (29, 0, 0), (30, 0, 0), (31, 0, 0), (32, 0, 0), (33, 0, 0), (34, 0, 0), (35, 0, 0), (36, 0, 0), (37, 0, 0), (38, 0, 0), (39, 0, 0), (40, 0, 0), (41, 0, 0), (42, 0, 0), (43, 0, 0), (44, 0, 0), (45, 0, 0), (46, 0, 0), (47, 0, 0), (48, 0, 0), (49, 0, 0), (50, 0, 0), (51, 0, 0), (52, 0, 0), (53, 0, 0), (54, 0, 0), (55, 0, 0), (56, 0, 0), (57, 0, 0), (58, 0, 0), (59, 0, 0), (60, 0, 0), (61, 0, 0), (62, 0, 0), (63, 0, 0), (64, 0, 0), (65, 0, 0), (66, 0, 0), (67, 0, 0), (68, 0, 0), (69, 0, 0), (70, 0, 0), (71, 0, 0), (72, 0, 0), (73, 0, 0), (74, 0, 0), (75, 0, 0), (76, 0, 0), (77, 0, 0), (78, 0, 0), (79, 0, 0), (80, 0, 0), (81, 0, 0), (82, 0, 0), (83, 0, 0), (84, 0, 0), (85, 0, 0), (86, 0, 0), (87, 0, 0), (88, 0, 0), (89, 0, 0), (90, 0, 0), (91, 0, 0), (92, 0, 0), (93, 0, 0), (94, 0, 0), (95, 0, 0), (96, 0, 0), (97, 0, 0), (98, 0, 0), (99, 0, 0), (100, 0, 0), (101, 0, 0), (102, 0, 0), (103, 0, 0), (104, 0, 0), (105, 0, 0), (106, 0, 0), (107, 0, 0), (108, 0, 0), (109, 0, 0), (110, 0, 0), (111, 0, 0), (112, 0, 0), (113, 0, 0), (114, 0, 0), (115, 0, 0), (116, 0, 0), (117, 0, 0), (118, 0, 0), (119, 0, 0), (120, 0, 0), (121, 0, 0), (122, 0, 0), (123, 0, 0), (124, 0, 0), (125, 0, 0), (126, 0, 0), (127, 0, 0);
CREATE TABLE IF NOT EXISTS stretto_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT stretto_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO stretto_version (version_num) VALUES ('0006');
