-- Made by scripts/generate.py from scripts.schema; change the tables there.
CREATE TABLE approval (
    workflow_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    instance_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    step_id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    attempt_no BIGINT NOT NULL,
    assignee VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    home VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    asked VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    asked_at BIGINT NOT NULL,
    PRIMARY KEY (workflow_id, instance_id, run_id, step_id, attempt_no, assignee),
    INDEX approval_home (assignee, home, asked, asked_at, workflow_id, instance_id, run_id, step_id, attempt_no),
    INDEX approval_line (assignee, asked, asked_at, workflow_id, instance_id, run_id, step_id, attempt_no)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
