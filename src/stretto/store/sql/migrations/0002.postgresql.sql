-- Made by scripts/generate.py from scripts.schema; change the tables there.
CREATE TABLE job_function (
    name VARCHAR(512) COLLATE "C" NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (name)
);
CREATE TABLE kept_result (
    result_key VARCHAR(512) COLLATE "C" NOT NULL,
    doc TEXT NOT NULL,
    kept_until BIGINT NOT NULL,
    PRIMARY KEY (result_key)
);
CREATE INDEX kept_result_until ON kept_result (kept_until);
