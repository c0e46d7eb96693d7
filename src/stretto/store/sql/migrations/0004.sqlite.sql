-- Made by scripts/generate.py from scripts.schema; change the tables there.
CREATE TABLE bulk_item (
    job_id VARCHAR(255) NOT NULL,
    number INTEGER NOT NULL,
    state VARCHAR(32) NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (job_id, number)
);
CREATE INDEX bulk_item_state ON bulk_item (job_id, state, number);
CREATE TABLE bulk_job (
    job_id VARCHAR(255) NOT NULL,
    create_time INTEGER NOT NULL,
    state VARCHAR(32) NOT NULL,
    held_until INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (job_id)
);
CREATE INDEX bulk_job_held ON bulk_job (state, held_until);
CREATE INDEX bulk_job_time ON bulk_job (create_time, job_id);
