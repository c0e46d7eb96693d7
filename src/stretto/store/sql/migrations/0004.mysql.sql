-- Made by scripts/generate.py from scripts.schema; change the tables there.
CREATE TABLE bulk_item (
    job_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    number BIGINT NOT NULL,
    state VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (job_id, number),
    INDEX bulk_item_state (job_id, state, number)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE bulk_job (
    job_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    create_time BIGINT NOT NULL,
    state VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    held_until BIGINT NOT NULL,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (job_id),
    INDEX bulk_job_held (state, held_until),
    INDEX bulk_job_time (create_time, job_id)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
