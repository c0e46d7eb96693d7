-- Made by scripts/generate.py from scripts.schema; change the tables there.
CREATE TABLE approval (
    workflow_id VARCHAR(191) COLLATE "C" NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    step_id VARCHAR(191) COLLATE "C" NOT NULL,
    attempt_no BIGINT NOT NULL,
    assignee VARCHAR(128) COLLATE "C" NOT NULL,
    home VARCHAR(191) COLLATE "C" NOT NULL,
    asked VARCHAR(32) COLLATE "C" NOT NULL,
    asked_at BIGINT NOT NULL,
    PRIMARY KEY (workflow_id, instance_id, run_id, step_id, attempt_no, assignee)
);
CREATE INDEX approval_home ON approval (assignee, home, asked, asked_at, workflow_id, instance_id, run_id, step_id, attempt_no);
CREATE INDEX approval_line ON approval (assignee, asked, asked_at, workflow_id, instance_id, run_id, step_id, attempt_no);
