-- Made by scripts/generate.py from scripts.schema; change the tables there.
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
