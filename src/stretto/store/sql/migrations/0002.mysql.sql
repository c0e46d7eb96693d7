-- Made by scripts/generate.py from scripts.schema; change the tables there.
CREATE TABLE job_function (
    name VARCHAR(512) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (name)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE kept_result (
    result_key VARCHAR(512) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    kept_until BIGINT NOT NULL,
    PRIMARY KEY (result_key),
    INDEX kept_result_until (kept_until)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
