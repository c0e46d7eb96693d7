-- Made by scripts/generate.py from scripts.schema; change the tables there.
CREATE TABLE advertisement (
    node_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    version BIGINT NOT NULL,
    doc LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (node_id)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE tag_rate (
    tag VARCHAR(320) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    rate VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    grants LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    PRIMARY KEY (tag)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
