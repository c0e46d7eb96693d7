-- Made by scripts/generate.py from scripts.schema; change the tables there.
CREATE TABLE advertisement (
    node_id VARCHAR(255) NOT NULL,
    version INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (node_id)
);
CREATE TABLE tag_rate (
    tag VARCHAR(320) NOT NULL,
    rate VARCHAR(32) NOT NULL,
    grants TEXT,
    PRIMARY KEY (tag)
);
