-- Rows for many_rows.py, which says how many, and how a database counts. IF and DIV are MariaDB's words.
INSERT INTO workflow (workflow_id, state, internal_id, latest_version, active_version, rule, slots,
    next_instance_id, queued, home_group, owner, modify_time, properties)
  SELECT CONCAT('wf-', seq), IF(seq % 50 = 49, 'DELETED', 'ALIVE'), seq, 3, 3, 'PARALLEL', 100, 1000000, IF(seq % 97 = 0, 1, 0),
    seq % 128, CONCAT('user-', seq % 20), <epoch>, '{}' FROM <few>;
INSERT INTO workflow_tag (tag, workflow_id) SELECT CONCAT('tag-', seq % 20), CONCAT('wf-', seq) FROM <few>;
INSERT INTO workflow_version (workflow_id, version_id, doc)
  SELECT CONCAT('wf-', seq % 100), seq DIV 100, '{}' FROM <few>;
INSERT INTO properties (workflow_id, create_time, doc)
  SELECT CONCAT('wf-', seq % 100), seq DIV 100, '{}' FROM <few>;
INSERT INTO workflow_change (workflow_id, place, doc)
  SELECT CONCAT('wf-', seq % 100), seq DIV 100, '{}' FROM <few>;
INSERT INTO outcome (workflow_id, hour, shard, succeeded, failed, stopped, timed_out)
  SELECT CONCAT('wf-', seq % 100), <epoch> + 3600000 * (seq DIV 100), 1, 1, 1, 1, 1 FROM <few>;
INSERT INTO breakpoint (workflow_id, step_id, version_id, instance_id, run_id, attempt_no, doc)
  SELECT CONCAT('wf-', seq % 100), CONCAT('step-', seq DIV 100), 0, 0, 0, 0, '{}' FROM <few>;
INSERT INTO job_template (job_type, version, doc)
  SELECT CONCAT('type-', seq % 100), CONCAT('v', seq DIV 100), '{}' FROM <few>;
INSERT INTO job_function (name, doc) SELECT CONCAT('signal-', seq), '{}' FROM <few>;
INSERT INTO kept_result (result_key, doc, kept_until)
  SELECT CONCAT('key-', seq), '{}', <epoch> + seq FROM <few>;
INSERT INTO run (workflow_id, instance_id, run_id, uuid, group_id, phase, lane, status, failure, paused, due_at,
    aside, version_id, initiator, nested, owner, correlation_id, listed_at, create_time, ended_at, modify_time, doc,
    parent_workflow_id, parent_instance_id, parent_run_id, parent_step_id, parent_attempt_no, parent_group)
  SELECT CONCAT('wf-', seq % 100), 1 + seq DIV 100, 1, CONCAT('uuid-', seq), (seq * 37) % 128,
    CASE WHEN seq % 503 = 0 THEN 'QUEUED' WHEN seq % 503 = 1 THEN 'ADMITTED' WHEN seq % 503 < 5 THEN 'LIVE'
      ELSE 'ENDED' END,
    CASE WHEN seq % 503 = 0 THEN 'QUEUED' WHEN seq % 503 = 1 THEN 'ADMITTED' WHEN seq % 503 < 5 THEN 'LIVE'
      WHEN seq % 503 = 5 THEN 'FAILED' END,
    CASE WHEN seq % 503 < 2 THEN 'CREATED' WHEN seq % 503 < 5 THEN 'IN_PROGRESS' WHEN seq % 503 < 50 THEN 'FAILED'
      ELSE 'SUCCEEDED' END,
    IF(seq % 503 = 5, 'FAILED', NULL), 0, NULL, IF(seq % 997 = 3, 1, 0), 1, 'manual', IF(seq % 5 = 0, 1, 0),
    CONCAT('user-', seq % 20), CONCAT('corr-', seq DIV 10), <epoch> + seq, <epoch> + seq,
    IF(seq % 503 < 5, NULL, <epoch> + seq), <epoch> + seq, '{"a": "<filler>"}',
    IF(seq % 5 = 0, 'wf-1', NULL), IF(seq % 5 = 0, 1 + seq DIV 100, NULL), IF(seq % 5 = 0, 1, NULL),
    IF(seq % 5 = 0, 'step-1', NULL), IF(seq % 5 = 0, 1, NULL), IF(seq % 5 = 0, 1, NULL)
  FROM <runs>;
INSERT INTO run (workflow_id, instance_id, run_id, uuid, group_id, phase, status, paused, aside, version_id,
    initiator, nested, correlation_id, create_time, ended_at, modify_time, doc,
    root_workflow_id, root_instance_id, root_run_id)
  SELECT CONCAT('maestro_foreach_', seq % 10), 1 + seq DIV 10, 1, CONCAT('inner-', seq), seq % 128,
    IF(seq % 50 = 0, 'LIVE', 'ENDED'), IF(seq % 50 = 0, 'IN_PROGRESS', 'SUCCEEDED'), 0, 0, 1, 'foreach', 1, 'corr',
    <epoch>, IF(seq % 50 = 0, NULL, <epoch>), <epoch>, '{}', CONCAT('wf-', seq % 100), 1 + seq DIV 1000, 1
  FROM <few>;
INSERT INTO run_tag (tag, listed_at, workflow_id, instance_id, run_id)
  SELECT CONCAT('tag-', seq % 20), <epoch> + seq, CONCAT('wf-', seq % 100), 1 + seq DIV 100, 1 FROM <runs>;
INSERT INTO attempt (workflow_id, instance_id, run_id, step_id, attempt_no, sequence, status, held, modify_time, doc)
  SELECT CONCAT('wf-', (seq DIV 10) % 100), 1 + seq DIV 1000, 1, CONCAT('step-', seq % 10), 1, seq, IF(seq % 10 = 1, 'RUNNING', 'SUCCEEDED'),
    IF(seq % 997 = 0, CONCAT('step-', seq % 10), NULL), <epoch>, '{"a": "<filler>"}' FROM <attempts>;
INSERT INTO run_loop (workflow_id, instance_id, run_id, step_id, attempt_no, doc)
  SELECT CONCAT('wf-', seq % 100), 1 + seq DIV 100, 1, 'step-1', 1, '{}' FROM <few>;
INSERT INTO large_doc (workflow_id, instance_id, run_id, part, step_id, attempt_no, doc)
  SELECT CONCAT('wf-', seq % 100), 1 + seq DIV 100, 1, 'attempt', 'step-1', 1, '{}' FROM <few>;
INSERT INTO outbox (to_group, to_node, kind, ref, ref_digest, about, sent_at, tries, not_before, is_parked,
    is_answered, doc)
  SELECT IF(seq % 20 = 0, NULL, seq % 128), IF(seq % 20 = 0, CONCAT('node-', seq % 4), NULL), 'log', CONCAT('r', seq),
    seq, seq, <epoch>, 0, 0, IF(seq % 500 = 0, 1, 0), IF(seq % 500 = 1, 1, 0), '{}' FROM <few>;
INSERT INTO work (workflow_id, instance_id, run_id, step_id, attempt_no, launch, pool, group_id, since, take, taken_by)
  SELECT CONCAT('wf-', seq % 100), 1 + seq DIV 100, 1, 'step-1', 1, 1, CONCAT('pool-', seq % 3), seq % 128,
    <epoch> + seq DIV 100, 1, IF(seq % 2 = 0, CONCAT('node-', seq % 4), NULL) FROM <few>;
INSERT INTO tag (tag, is_limited, max_allowed, doc) SELECT CONCAT('tag-', seq), 1, 5, '{}' FROM <few>;
INSERT INTO tag_rate (tag, rate, grants) SELECT CONCAT('tag-', seq), '10/minute', '[]' FROM <few>;
INSERT INTO permit (workflow_id, instance_id, run_id, step_id, attempt_no, tag, group_id, home_group, granted, place,
    since)
  SELECT CONCAT('wf-', seq % 100), 1 + seq DIV 100, 1, 'step-1', 1, CONCAT('tag-', seq DIV 10), seq % 128,
    (seq DIV 10) % 128, seq % 2, seq % 3, <epoch> + seq FROM <few>;
INSERT INTO signal_name (name, last_seq) SELECT CONCAT('signal-', seq), 100 FROM <few>;
INSERT INTO signal_instance (name, seq, digest, create_time, doc)
  SELECT CONCAT('signal-', seq % 20), 1 + seq DIV 20, CONCAT('digest-', seq), <epoch> + seq, '{}'
  FROM <few>;
INSERT INTO signal_wait (name, workflow_id, instance_id, run_id, step_id, attempt_no, dependency, group_id,
    match_params)
  SELECT CONCAT('signal-', seq % 20), CONCAT('wf-', seq % 100), 1 + seq DIV 100, 1, 'step-1', 1, 0, seq % 128, '{}'
  FROM <few>;
INSERT INTO signal_trigger (trigger_id, workflow_id, version_id, since, doc)
  SELECT CONCAT('trigger-', seq), CONCAT('wf-', seq % 100), 1, '{}', '{}' FROM <few>;
INSERT INTO signal_listener (name, trigger_id)
  SELECT CONCAT('signal-', seq % 200), CONCAT('trigger-', seq) FROM <few>;
INSERT INTO signal_join (trigger_id, digest, join_key, taken)
  SELECT CONCAT('trigger-', seq % 100), CONCAT('digest-', seq DIV 100), '', '{}' FROM <few>;
INSERT INTO time_trigger (trigger_id, workflow_id, version_id, home_group, next_fire_at, jitter, doc)
  SELECT CONCAT('trigger-', seq), CONCAT('wf-', seq % 100), 1, seq % 128, <epoch> + seq, 0, '{}'
  FROM <few>;
INSERT INTO change_log (group_id, seq, logged_at, doc)
  SELECT seq % 128, 1 + seq DIV 128, <epoch> + seq, '{}' FROM <few>;
INSERT INTO sink (sink, group_id, seq) SELECT CONCAT('sink-', seq DIV 128), seq % 128, 1 FROM <sinks>;
INSERT INTO node (node_id, state, joined_at) SELECT CONCAT('node-', seq), 'ALIVE', <epoch> FROM <nodes>;
INSERT INTO beat (node_id, n, expires_at) SELECT CONCAT('node-', seq), 1, <epoch> FROM <nodes>;
INSERT INTO advertisement (node_id, version, doc) SELECT CONCAT('node-', seq), 1, '[]' FROM <nodes>;
UPDATE flow_group SET owner = CONCAT('node-', group_id % 4);
INSERT INTO job_function (name, doc) SELECT CONCAT('function-', seq), '{}' FROM <few>;
INSERT INTO kept_result (result_key, doc, kept_until)
  SELECT CONCAT('result-', seq), '{}', <epoch> + seq FROM <few>;
INSERT INTO approval (workflow_id, instance_id, run_id, step_id, attempt_no, assignee, home, asked, asked_at)
  SELECT CONCAT('wf-', seq % 100), 1 + seq DIV 100, 1, 'step-1', 1, CASE WHEN seq % 3 = 0 THEN '' ELSE CONCAT('user-', seq % 20) END,
    CONCAT('wf-', seq % 100), CASE WHEN seq DIV 100 % 2 = 0 THEN 'OPEN' ELSE 'DONE' END, <epoch> + seq
  FROM <few>;
INSERT INTO bulk_job (job_id, create_time, state, held_until, doc)
  SELECT CONCAT('job-', seq), <epoch> + seq, CASE WHEN seq % 100 = 0 THEN 'RUNNING' ELSE 'DONE' END, <epoch> + seq, '{}'
  FROM <few>;
INSERT INTO bulk_item (job_id, number, state, doc)
  SELECT CONCAT('job-', seq % 100), seq DIV 100, CASE WHEN seq DIV 100 % 2 = 0 THEN 'WAITING' ELSE 'DONE' END, '{}'
  FROM <few>;
