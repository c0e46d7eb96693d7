-- Made by scripts/generate.py from scripts.schema; change the tables there.
CREATE TABLE attempt (
    workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    step_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    attempt_no BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    status VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    held VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    create_time BIGINT,
    start_time BIGINT,
    end_time BIGINT,
    launch BIGINT,
    runs_on VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    child_workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    child_instance_id BIGINT,
    child_run_id BIGINT,
    loop_total BIGINT,
    modify_time BIGINT NOT NULL,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (workflow_id, instance_id, run_id, step_id, attempt_no),
    INDEX attempt_held (held, workflow_id, instance_id, run_id, attempt_no)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE beat (
    node_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    n BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (node_id)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE breakpoint (
    workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    step_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    version_id BIGINT NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    attempt_no BIGINT NOT NULL,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (workflow_id, step_id, version_id, instance_id, run_id, attempt_no)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE change_log (
    group_id BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    logged_at BIGINT NOT NULL,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (group_id, seq)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE counter (
    name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    next_value BIGINT NOT NULL,
    PRIMARY KEY (name)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE flow_group (
    group_id BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    owner VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    falls BIGINT NOT NULL,
    suspect LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    PRIMARY KEY (group_id),
    INDEX flow_group_owner (owner)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE job_template (
    job_type VARCHAR(256) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    version VARCHAR(256) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (job_type, version),
    INDEX job_template_version (version, job_type)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE large_doc (
    workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    part VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    step_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    attempt_no BIGINT NOT NULL,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (workflow_id, instance_id, run_id, part, step_id, attempt_no)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE node (
    node_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    state VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    joined_at BIGINT NOT NULL,
    buried_at BIGINT,
    last_n BIGINT,
    expired_at BIGINT,
    address VARCHAR(1024) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    PRIMARY KEY (node_id),
    INDEX node_buried (buried_at)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE outbox (
    id BIGINT NOT NULL AUTO_INCREMENT,
    to_group BIGINT,
    to_node VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    kind VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    ref LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    ref_digest BIGINT NOT NULL,
    about BIGINT,
    about_too BIGINT,
    sent_at BIGINT NOT NULL,
    tries BIGINT NOT NULL,
    not_before BIGINT NOT NULL,
    parked LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    is_parked SMALLINT NOT NULL,
    outcome LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    is_answered SMALLINT NOT NULL,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (id),
    INDEX outbox_about (about),
    INDEX outbox_about_too (about_too),
    INDEX outbox_answered (is_answered, sent_at),
    INDEX outbox_group (to_group, id),
    INDEX outbox_node (to_node, id),
    INDEX outbox_parked (is_parked, id),
    INDEX outbox_ref (ref_digest)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE outcome (
    workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    hour BIGINT NOT NULL,
    shard BIGINT NOT NULL,
    succeeded BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    stopped BIGINT NOT NULL,
    timed_out BIGINT NOT NULL,
    PRIMARY KEY (workflow_id, hour, shard),
    INDEX outcome_hour (hour, workflow_id)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE permit (
    workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    step_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    attempt_no BIGINT NOT NULL,
    tag VARCHAR(320) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    group_id BIGINT NOT NULL,
    home_group BIGINT NOT NULL,
    granted SMALLINT NOT NULL,
    place BIGINT NOT NULL,
    criticality VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    since BIGINT NOT NULL,
    max_allowed BIGINT,
    granted_at BIGINT,
    PRIMARY KEY (workflow_id, instance_id, run_id, step_id, attempt_no, tag),
    INDEX permit_home (granted, home_group, tag),
    INDEX permit_line (tag, granted, place, since, workflow_id, instance_id, run_id, step_id, attempt_no),
    INDEX permit_tag (tag, granted, workflow_id, instance_id, run_id, step_id, attempt_no)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE properties (
    workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    create_time BIGINT NOT NULL,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (workflow_id, create_time)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE run (
    workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    uuid VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    group_id BIGINT NOT NULL,
    phase VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    lane VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    status VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    failure VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    paused SMALLINT NOT NULL,
    due_at BIGINT,
    aside SMALLINT NOT NULL DEFAULT '0',
    quarantined LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    root_workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    root_instance_id BIGINT,
    root_run_id BIGINT,
    parent_group BIGINT,
    parent_workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    parent_instance_id BIGINT,
    parent_run_id BIGINT,
    parent_step_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    parent_attempt_no BIGINT,
    version_id BIGINT NOT NULL,
    initiator VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    nested SMALLINT NOT NULL,
    owner VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    correlation_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    listed_at BIGINT,
    create_time BIGINT NOT NULL,
    start_time BIGINT,
    end_time BIGINT,
    ended_at BIGINT,
    modify_time BIGINT NOT NULL,
    summary LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    params LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    base VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (workflow_id, instance_id, run_id),
    INDEX run_aside (aside, workflow_id, instance_id, run_id),
    INDEX run_child (parent_workflow_id, parent_instance_id, parent_run_id, parent_step_id, parent_attempt_no, workflow_id, instance_id, run_id),
    INDEX run_correlation (correlation_id, listed_at),
    INDEX run_ended (workflow_id, ended_at),
    INDEX run_group (group_id, lane),
    INDEX run_iteration (root_workflow_id, root_instance_id, root_run_id, phase),
    INDEX run_lane (workflow_id, lane, instance_id, run_id),
    INDEX run_owner_time (owner, listed_at),
    UNIQUE INDEX run_request (workflow_id, uuid),
    INDEX run_status (workflow_id, status, instance_id, run_id),
    INDEX run_status_time (status, listed_at),
    INDEX run_time (nested, listed_at),
    INDEX run_workflow_time (workflow_id, listed_at)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE run_loop (
    workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    step_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    attempt_no BIGINT NOT NULL,
    counts LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (workflow_id, instance_id, run_id, step_id, attempt_no)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE run_tag (
    tag VARCHAR(256) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    listed_at BIGINT NOT NULL,
    workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    PRIMARY KEY (tag, listed_at, workflow_id, instance_id, run_id),
    INDEX run_tag_of (workflow_id, instance_id, run_id)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE signal_instance (
    name VARCHAR(256) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    seq BIGINT NOT NULL,
    digest VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    create_time BIGINT NOT NULL,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (name, seq),
    UNIQUE INDEX signal_instance_id (name, digest),
    INDEX signal_instance_time (create_time)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE signal_join (
    trigger_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    digest VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    join_key LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    taken LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (trigger_id, digest)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE signal_listener (
    name VARCHAR(256) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    trigger_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (name, trigger_id),
    INDEX signal_listener_of (trigger_id)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE signal_name (
    name VARCHAR(256) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    last_seq BIGINT NOT NULL,
    PRIMARY KEY (name)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE signal_trigger (
    trigger_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    version_id BIGINT NOT NULL,
    since LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (trigger_id),
    INDEX signal_trigger_of (workflow_id, trigger_id)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE signal_wait (
    name VARCHAR(256) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    step_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    attempt_no BIGINT NOT NULL,
    dependency BIGINT NOT NULL,
    group_id BIGINT NOT NULL,
    match_params LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (name, workflow_id, instance_id, run_id, step_id, attempt_no, dependency),
    INDEX signal_wait_of (workflow_id, instance_id, run_id, step_id, attempt_no)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE sink (
    sink VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    group_id BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (sink, group_id),
    INDEX sink_group (group_id)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE tag (
    tag VARCHAR(320) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    max_allowed BIGINT,
    is_limited SMALLINT NOT NULL,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    PRIMARY KEY (tag),
    INDEX tag_limited (is_limited, tag)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE time_trigger (
    trigger_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    version_id BIGINT NOT NULL,
    home_group BIGINT NOT NULL,
    next_fire_at BIGINT,
    jitter BIGINT NOT NULL,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (trigger_id),
    INDEX time_trigger_due (home_group, next_fire_at),
    INDEX time_trigger_of (workflow_id, trigger_id)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE work (
    workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    step_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    attempt_no BIGINT NOT NULL,
    launch BIGINT NOT NULL,
    pool VARCHAR(256) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    group_id BIGINT NOT NULL,
    since BIGINT NOT NULL,
    take BIGINT NOT NULL,
    taken_by VARCHAR(96) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    PRIMARY KEY (workflow_id, instance_id, run_id, step_id, attempt_no),
    INDEX work_free (pool, taken_by, since, workflow_id, instance_id, run_id, step_id, attempt_no),
    INDEX work_group (group_id),
    INDEX work_pool (pool, workflow_id, instance_id, run_id, step_id, attempt_no),
    INDEX work_taken (taken_by)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE workflow (
    workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    state VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    internal_id BIGINT NOT NULL,
    latest_version BIGINT NOT NULL,
    active_version BIGINT NOT NULL,
    activate_time BIGINT,
    activated_by LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    rule VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    slots BIGINT NOT NULL,
    next_instance_id BIGINT NOT NULL,
    queued BIGINT NOT NULL,
    home_group BIGINT NOT NULL,
    owner VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    modify_time BIGINT NOT NULL,
    properties LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (workflow_id),
    INDEX workflow_owner (owner, workflow_id),
    INDEX workflow_queue (home_group, queued),
    INDEX workflow_state (state, workflow_id)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE workflow_change (
    workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    place BIGINT NOT NULL,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (workflow_id, place)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE workflow_tag (
    tag VARCHAR(256) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (tag, workflow_id),
    INDEX workflow_tag_of (workflow_id)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE workflow_version (
    workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    version_id BIGINT NOT NULL,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (workflow_id, version_id)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
INSERT INTO flow_group (group_id, generation, falls) VALUES (0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0), (5, 0, 0), (6, 0, 0), (7, 0, 0), (8, 0, 0), (9, 0, 0), (10, 0, 0), (11, 0, 0), (12, 0, 0), (13, 0, 0), (14, 0, 0), (15, 0, 0), (16, 0, 0), (17, 0, 0), (18, 0, 0), (19, 0, 0), (20, 0, 0), (21, 0, 0), (22, 0, 0), (23, 0, 0), (24, 0, 0), (25, 0, 0), (26, 0, 0), (27, 0, 0), (28, 0, 0), (29, 0, 0), (30, 0, 0), (31, 0, 0), (32, 0, 0), (33, 0, 0), (34, 0, 0), (35, 0, 0), (36, 0, 0), (37, 0, 0), (38, 0, 0), (39, 0, 0), (40, 0, 0), (41, 0, 0), (42, 0, 0), (43, 0, 0), (44, 0, 0), (45, 0, 0), (46, 0, 0), (47, 0, 0), (48, 0, 0), (49, 0, 0), (50, 0, 0), (51, 0, 0), (52, 0, 0), (53, 0, 0), (54, 0, 0), (55, 0, 0), (56, 0, 0), (57, 0, 0), (58, 0, 0), (59, 0, 0), (60, 0, 0), (61, 0, 0), (62, 0, 0), (63, 0, 0), (64, 0, 0), (65, 0, 0), (66, 0, 0), (67, 0, 0), (68, 0, 0), (69, 0, 0), (70, 0, 0), (71, 0, 0), (72, 0, 0), (73, 0, 0), (74, 0, 0), (75, 0, 0), (76, 0, 0), (77, 0, 0), (78, 0, 0), (79, 0, 0), (80, 0, 0), (81, 0, 0), (82, 0, 0), (83, 0, 0), (84, 0, 0), (85, 0, 0), (86, 0, 0), (87, 0, 0), (88, 0, 0), (89, 0, 0), (90, 0, 0), (91, 0, 0), (92, 0, 0), (93, 0, 0), (94, 0, 0), (95, 0, 0), (96, 0, 0), (97, 0, 0), (98, 0, 0), (99, 0, 0), (100, 0, 0), (101, 0, 0), (102, 0, 0), (103, 0, 0), (104, 0, 0), (105, 0, 0), (106, 0, 0), (107, 0, 0), (108, 0, 0), (109, 0, 0), (110, 0, 0), (111, 0, 0), (112, 0, 0), (113, 0, 0), (114, 0, 0), (115, 0, 0), (116, 0, 0), (117, 0, 0), (118, 0, 0), (119, 0, 0), (120, 0, 0), (121, 0, 0), (122, 0, 0), (123, 0, 0), (124, 0, 0), (125, 0, 0), (126, 0, 0), (127, 0, 0);
