-- Made by scripts/generate.py from scripts.schema; change the tables there.
CREATE TABLE attempt (
    workflow_id VARCHAR(191) COLLATE "C" NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    step_id VARCHAR(191) COLLATE "C" NOT NULL,
    attempt_no BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    status VARCHAR(32) COLLATE "C" NOT NULL,
    held VARCHAR(191) COLLATE "C",
    create_time BIGINT,
    start_time BIGINT,
    end_time BIGINT,
    launch BIGINT,
    runs_on VARCHAR(255) COLLATE "C",
    child_workflow_id VARCHAR(191) COLLATE "C",
    child_instance_id BIGINT,
    child_run_id BIGINT,
    loop_total BIGINT,
    modify_time BIGINT NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (workflow_id, instance_id, run_id, step_id, attempt_no)
);
CREATE INDEX attempt_held ON attempt (held, workflow_id, instance_id, run_id, attempt_no) WHERE held IS NOT NULL;
CREATE TABLE beat (
    node_id VARCHAR(255) COLLATE "C" NOT NULL,
    n BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (node_id)
);
CREATE TABLE breakpoint (
    workflow_id VARCHAR(191) COLLATE "C" NOT NULL,
    step_id VARCHAR(191) COLLATE "C" NOT NULL,
    version_id BIGINT NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    attempt_no BIGINT NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (workflow_id, step_id, version_id, instance_id, run_id, attempt_no)
);
CREATE TABLE change_log (
    group_id BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    logged_at BIGINT NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (group_id, seq)
);
CREATE TABLE counter (
    name VARCHAR(255) COLLATE "C" NOT NULL,
    next_value BIGINT NOT NULL,
    PRIMARY KEY (name)
);
CREATE TABLE flow_group (
    group_id BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    owner VARCHAR(255) COLLATE "C",
    falls BIGINT NOT NULL,
    suspect TEXT,
    PRIMARY KEY (group_id)
);
CREATE INDEX flow_group_owner ON flow_group (owner);
CREATE TABLE job_template (
    job_type VARCHAR(256) COLLATE "C" NOT NULL,
    version VARCHAR(256) COLLATE "C" NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (job_type, version)
);
CREATE INDEX job_template_version ON job_template (version, job_type);
CREATE TABLE large_doc (
    workflow_id VARCHAR(191) COLLATE "C" NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    part VARCHAR(32) COLLATE "C" NOT NULL,
    step_id VARCHAR(191) COLLATE "C" NOT NULL,
    attempt_no BIGINT NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (workflow_id, instance_id, run_id, part, step_id, attempt_no)
);
CREATE TABLE node (
    node_id VARCHAR(255) COLLATE "C" NOT NULL,
    state VARCHAR(32) COLLATE "C" NOT NULL,
    joined_at BIGINT NOT NULL,
    buried_at BIGINT,
    last_n BIGINT,
    expired_at BIGINT,
    address VARCHAR(1024) COLLATE "C",
    PRIMARY KEY (node_id)
);
CREATE INDEX node_buried ON node (buried_at);
CREATE TABLE outbox (
    id BIGSERIAL NOT NULL,
    to_group BIGINT,
    to_node VARCHAR(255) COLLATE "C",
    kind VARCHAR(32) COLLATE "C" NOT NULL,
    ref TEXT NOT NULL,
    ref_digest BIGINT NOT NULL,
    about BIGINT,
    about_too BIGINT,
    sent_at BIGINT NOT NULL,
    tries BIGINT NOT NULL,
    not_before BIGINT NOT NULL,
    parked TEXT,
    is_parked SMALLINT NOT NULL,
    outcome TEXT,
    is_answered SMALLINT NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX outbox_about ON outbox (about) WHERE about IS NOT NULL;
CREATE INDEX outbox_about_too ON outbox (about_too) WHERE about_too IS NOT NULL;
CREATE INDEX outbox_answered ON outbox (is_answered, sent_at) WHERE is_answered = 1;
CREATE INDEX outbox_group ON outbox (to_group, id) WHERE to_group IS NOT NULL;
CREATE INDEX outbox_node ON outbox (to_node, id) WHERE to_node IS NOT NULL;
CREATE INDEX outbox_parked ON outbox (is_parked, id) WHERE is_parked = 1;
CREATE INDEX outbox_ref ON outbox (ref_digest);
CREATE TABLE outcome (
    workflow_id VARCHAR(191) COLLATE "C" NOT NULL,
    hour BIGINT NOT NULL,
    shard BIGINT NOT NULL,
    succeeded BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    stopped BIGINT NOT NULL,
    timed_out BIGINT NOT NULL,
    PRIMARY KEY (workflow_id, hour, shard)
);
CREATE INDEX outcome_hour ON outcome (hour, workflow_id);
CREATE TABLE permit (
    workflow_id VARCHAR(191) COLLATE "C" NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    step_id VARCHAR(191) COLLATE "C" NOT NULL,
    attempt_no BIGINT NOT NULL,
    tag VARCHAR(320) COLLATE "C" NOT NULL,
    group_id BIGINT NOT NULL,
    home_group BIGINT NOT NULL,
    granted SMALLINT NOT NULL,
    place BIGINT NOT NULL,
    criticality VARCHAR(32) COLLATE "C",
    since BIGINT NOT NULL,
    max_allowed BIGINT,
    granted_at BIGINT,
    PRIMARY KEY (workflow_id, instance_id, run_id, step_id, attempt_no, tag)
);
CREATE INDEX permit_home ON permit (granted, home_group, tag);
CREATE INDEX permit_line ON permit (tag, granted, place, since, workflow_id, instance_id, run_id, step_id, attempt_no);
CREATE INDEX permit_tag ON permit (tag, granted, workflow_id, instance_id, run_id, step_id, attempt_no);
CREATE TABLE properties (
    workflow_id VARCHAR(191) COLLATE "C" NOT NULL,
    create_time BIGINT NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (workflow_id, create_time)
);
CREATE TABLE run (
    workflow_id VARCHAR(191) COLLATE "C" NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    uuid VARCHAR(255) COLLATE "C" NOT NULL,
    group_id BIGINT NOT NULL,
    phase VARCHAR(32) COLLATE "C" NOT NULL,
    lane VARCHAR(32) COLLATE "C",
    status VARCHAR(32) COLLATE "C" NOT NULL,
    failure VARCHAR(32) COLLATE "C",
    paused SMALLINT NOT NULL,
    due_at BIGINT,
    aside SMALLINT DEFAULT '0' NOT NULL,
    quarantined TEXT,
    root_workflow_id VARCHAR(191) COLLATE "C",
    root_instance_id BIGINT,
    root_run_id BIGINT,
    parent_group BIGINT,
    parent_workflow_id VARCHAR(191) COLLATE "C",
    parent_instance_id BIGINT,
    parent_run_id BIGINT,
    parent_step_id VARCHAR(191) COLLATE "C",
    parent_attempt_no BIGINT,
    version_id BIGINT NOT NULL,
    initiator VARCHAR(32) COLLATE "C" NOT NULL,
    nested SMALLINT NOT NULL,
    owner VARCHAR(255) COLLATE "C",
    correlation_id VARCHAR(255) COLLATE "C" NOT NULL,
    listed_at BIGINT,
    create_time BIGINT NOT NULL,
    start_time BIGINT,
    end_time BIGINT,
    ended_at BIGINT,
    modify_time BIGINT NOT NULL,
    summary TEXT,
    params TEXT,
    base VARCHAR(32) COLLATE "C",
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
CREATE TABLE run_loop (
    workflow_id VARCHAR(191) COLLATE "C" NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    step_id VARCHAR(191) COLLATE "C" NOT NULL,
    attempt_no BIGINT NOT NULL,
    counts TEXT,
    doc TEXT NOT NULL,
    PRIMARY KEY (workflow_id, instance_id, run_id, step_id, attempt_no)
);
CREATE TABLE run_tag (
    tag VARCHAR(256) COLLATE "C" NOT NULL,
    listed_at BIGINT NOT NULL,
    workflow_id VARCHAR(191) COLLATE "C" NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    PRIMARY KEY (tag, listed_at, workflow_id, instance_id, run_id)
);
CREATE INDEX run_tag_of ON run_tag (workflow_id, instance_id, run_id);
CREATE TABLE signal_instance (
    name VARCHAR(256) COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    digest VARCHAR(64) COLLATE "C" NOT NULL,
    create_time BIGINT NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (name, seq)
);
CREATE UNIQUE INDEX signal_instance_id ON signal_instance (name, digest);
CREATE INDEX signal_instance_time ON signal_instance (create_time);
CREATE TABLE signal_join (
    trigger_id VARCHAR(255) COLLATE "C" NOT NULL,
    digest VARCHAR(64) COLLATE "C" NOT NULL,
    join_key TEXT NOT NULL,
    taken TEXT NOT NULL,
    PRIMARY KEY (trigger_id, digest)
);
CREATE TABLE signal_listener (
    name VARCHAR(256) COLLATE "C" NOT NULL,
    trigger_id VARCHAR(255) COLLATE "C" NOT NULL,
    PRIMARY KEY (name, trigger_id)
);
CREATE INDEX signal_listener_of ON signal_listener (trigger_id);
CREATE TABLE signal_name (
    name VARCHAR(256) COLLATE "C" NOT NULL,
    last_seq BIGINT NOT NULL,
    PRIMARY KEY (name)
);
CREATE TABLE signal_trigger (
    trigger_id VARCHAR(255) COLLATE "C" NOT NULL,
    workflow_id VARCHAR(191) COLLATE "C" NOT NULL,
    version_id BIGINT NOT NULL,
    since TEXT NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (trigger_id)
);
CREATE INDEX signal_trigger_of ON signal_trigger (workflow_id, trigger_id);
CREATE TABLE signal_wait (
    name VARCHAR(256) COLLATE "C" NOT NULL,
    workflow_id VARCHAR(191) COLLATE "C" NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    step_id VARCHAR(191) COLLATE "C" NOT NULL,
    attempt_no BIGINT NOT NULL,
    dependency BIGINT NOT NULL,
    group_id BIGINT NOT NULL,
    match_params TEXT NOT NULL,
    PRIMARY KEY (name, workflow_id, instance_id, run_id, step_id, attempt_no, dependency)
);
CREATE INDEX signal_wait_of ON signal_wait (workflow_id, instance_id, run_id, step_id, attempt_no);
CREATE TABLE sink (
    sink VARCHAR(255) COLLATE "C" NOT NULL,
    group_id BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (sink, group_id)
);
CREATE INDEX sink_group ON sink (group_id);
CREATE TABLE tag (
    tag VARCHAR(320) COLLATE "C" NOT NULL,
    max_allowed BIGINT,
    is_limited SMALLINT NOT NULL,
    doc TEXT,
    PRIMARY KEY (tag)
);
CREATE INDEX tag_limited ON tag (is_limited, tag);
CREATE TABLE time_trigger (
    trigger_id VARCHAR(255) COLLATE "C" NOT NULL,
    workflow_id VARCHAR(191) COLLATE "C" NOT NULL,
    version_id BIGINT NOT NULL,
    home_group BIGINT NOT NULL,
    next_fire_at BIGINT,
    jitter BIGINT NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (trigger_id)
);
CREATE INDEX time_trigger_due ON time_trigger (home_group, next_fire_at) WHERE next_fire_at IS NOT NULL;
CREATE INDEX time_trigger_of ON time_trigger (workflow_id, trigger_id);
CREATE TABLE work (
    workflow_id VARCHAR(191) COLLATE "C" NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    step_id VARCHAR(191) COLLATE "C" NOT NULL,
    attempt_no BIGINT NOT NULL,
    launch BIGINT NOT NULL,
    pool VARCHAR(256) COLLATE "C" NOT NULL,
    group_id BIGINT NOT NULL,
    since BIGINT NOT NULL,
    take BIGINT NOT NULL,
    taken_by VARCHAR(96) COLLATE "C",
    PRIMARY KEY (workflow_id, instance_id, run_id, step_id, attempt_no)
);
CREATE INDEX work_free ON work (pool, taken_by, since, workflow_id, instance_id, run_id, step_id, attempt_no);
CREATE INDEX work_group ON work (group_id);
CREATE INDEX work_pool ON work (pool, workflow_id, instance_id, run_id, step_id, attempt_no);
CREATE INDEX work_taken ON work (taken_by) WHERE taken_by IS NOT NULL;
CREATE TABLE workflow (
    workflow_id VARCHAR(191) COLLATE "C" NOT NULL,
    state VARCHAR(32) COLLATE "C" NOT NULL,
    internal_id BIGINT NOT NULL,
    latest_version BIGINT NOT NULL,
    active_version BIGINT NOT NULL,
    activate_time BIGINT,
    activated_by TEXT,
    rule VARCHAR(32) COLLATE "C" NOT NULL,
    slots BIGINT NOT NULL,
    next_instance_id BIGINT NOT NULL,
    queued BIGINT NOT NULL,
    home_group BIGINT NOT NULL,
    owner VARCHAR(255) COLLATE "C",
    modify_time BIGINT NOT NULL,
    properties TEXT NOT NULL,
    PRIMARY KEY (workflow_id)
);
CREATE INDEX workflow_owner ON workflow (owner, workflow_id);
CREATE INDEX workflow_queue ON workflow (home_group, queued);
CREATE INDEX workflow_state ON workflow (state, workflow_id);
CREATE TABLE workflow_change (
    workflow_id VARCHAR(191) COLLATE "C" NOT NULL,
    place BIGINT NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (workflow_id, place)
);
CREATE TABLE workflow_tag (
    tag VARCHAR(256) COLLATE "C" NOT NULL,
    workflow_id VARCHAR(191) COLLATE "C" NOT NULL,
    PRIMARY KEY (tag, workflow_id)
);
CREATE INDEX workflow_tag_of ON workflow_tag (workflow_id);
CREATE TABLE workflow_version (
    workflow_id VARCHAR(191) COLLATE "C" NOT NULL,
    version_id BIGINT NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (workflow_id, version_id)
);
INSERT INTO flow_group (group_id, generation, falls) VALUES (0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0), (5, 0, 0), (6, 0, 0), (7, 0, 0), (8, 0, 0), (9, 0, 0), (10, 0, 0), (11, 0, 0), (12, 0, 0), (13, 0, 0), (14, 0, 0), (15, 0, 0), (16, 0, 0), (17, 0, 0), (18, 0, 0), (19, 0, 0), (20, 0, 0), (21, 0, 0), (22, 0, 0), (23, 0, 0), (24, 0, 0), (25, 0, 0), (26, 0, 0), (27, 0, 0), (28, 0, 0), (29, 0, 0), (30, 0, 0), (31, 0, 0), (32, 0, 0), (33, 0, 0), (34, 0, 0), (35, 0, 0), (36, 0, 0), (37, 0, 0), (38, 0, 0), (39, 0, 0), (40, 0, 0), (41, 0, 0), (42, 0, 0), (43, 0, 0), (44, 0, 0), (45, 0, 0), (46, 0, 0), (47, 0, 0), (48, 0, 0), (49, 0, 0), (50, 0, 0), (51, 0, 0), (52, 0, 0), (53, 0, 0), (54, 0, 0), (55, 0, 0), (56, 0, 0), (57, 0, 0), (58, 0, 0), (59, 0, 0), (60, 0, 0), (61, 0, 0), (62, 0, 0), (63, 0, 0), (64, 0, 0), (65, 0, 0), (66, 0, 0), (67, 0, 0), (68, 0, 0), (69, 0, 0), (70, 0, 0), (71, 0, 0), (72, 0, 0), (73, 0, 0), (74, 0, 0), (75, 0, 0), (76, 0, 0), (77, 0, 0), (78, 0, 0), (79, 0, 0), (80, 0, 0), (81, 0, 0), (82, 0, 0), (83, 0, 0), (84, 0, 0), (85, 0, 0), (86, 0, 0), (87, 0, 0), (88, 0, 0), (89, 0, 0), (90, 0, 0), (91, 0, 0), (92, 0, 0), (93, 0, 0), (94, 0, 0), (95, 0, 0), (96, 0, 0), (97, 0, 0), (98, 0, 0), (99, 0, 0), (100, 0, 0), (101, 0, 0), (102, 0, 0), (103, 0, 0), (104, 0, 0), (105, 0, 0), (106, 0, 0), (107, 0, 0), (108, 0, 0), (109, 0, 0), (110, 0, 0), (111, 0, 0), (112, 0, 0), (113, 0, 0), (114, 0, 0), (115, 0, 0), (116, 0, 0), (117, 0, 0), (118, 0, 0), (119, 0, 0), (120, 0, 0), (121, 0, 0), (122, 0, 0), (123, 0, 0), (124, 0, 0), (125, 0, 0), (126, 0, 0), (127, 0, 0);
