"""Runs, step attempts, loops.

`lane` is what a run is counted and looked for by: its phase while it is not over, PAUSED while it is paused
in its queue, FAILED while its failure stands; null for everything else, and for iterations. `paused` says who
holds a run: 1 a user, 2 the run whose step waits for it, 3 both. `listed_at` is its creation; null for
iterations, which appear in no list but that of their loop, and for an instance that is being forgotten.
`held` is the step of an attempt that is PAUSED.
"""

from typing import Final

from scripts.schema.columns import (
    DOCUMENT,
    FLAG,
    INT,
    attempt_key,
    index,
    key,
    maybe,
    run_key,
    some,
    table,
    text,
)
from sqlalchemy import Table
from sqlalchemy import text as sql

from stretto.store.sql.lengths import ID_LENGTH, NAME_LENGTH, WORD_LENGTH

LISTED: Final = sql("listed_at IS NOT NULL")

RUN: Final[Table] = table(
    "run",
    *run_key(),
    some("uuid", text()),
    some("group_id", INT),
    some("phase", text(WORD_LENGTH)),
    maybe("lane", text(WORD_LENGTH)),
    some("status", text(WORD_LENGTH)),
    maybe("failure", text(WORD_LENGTH)),
    some("paused", FLAG),
    maybe("due_at", INT),
    some("aside", FLAG, default="0"),  # in quarantine
    maybe("quarantined", DOCUMENT),  # why
    maybe("root_workflow_id", text(ID_LENGTH)),  # of an iteration; others are their own root
    maybe("root_instance_id", INT),
    maybe("root_run_id", INT),
    maybe("parent_group", INT),
    maybe("parent_workflow_id", text(ID_LENGTH)),
    maybe("parent_instance_id", INT),
    maybe("parent_run_id", INT),
    maybe("parent_step_id", text(ID_LENGTH)),
    maybe("parent_attempt_no", INT),
    some("version_id", INT),
    some("initiator", text(WORD_LENGTH)),
    some("nested", FLAG),  # a step started it
    maybe("owner", text()),
    some("correlation_id", text()),
    maybe("listed_at", INT),
    some("create_time", INT),
    maybe("start_time", INT),
    maybe("end_time", INT),
    maybe("ended_at", INT),  # when it ended, for retention; set with the phase
    some("modify_time", INT),
    maybe("summary", DOCUMENT),
    maybe("params", DOCUMENT),  # null: none; empty: they are in `large_doc`
    maybe("base", text(WORD_LENGTH)),  # of an iteration: the part of `large_doc` that its params are over
    some("doc", DOCUMENT),  # the rest of the record; empty: it is in `large_doc`
    index("run_request", "workflow_id", "uuid", unique=True),
    index("run_lane", "workflow_id", "lane", "instance_id", "run_id", where=sql("lane IS NOT NULL")),
    index("run_group", "group_id", "lane", where=sql("lane IS NOT NULL")),
    index("run_status", "workflow_id", "status", "instance_id", "run_id"),
    index(
        "run_iteration",
        "root_workflow_id",
        "root_instance_id",
        "root_run_id",
        "phase",
        where=sql("root_workflow_id IS NOT NULL"),
    ),
    index(
        "run_child",
        "parent_workflow_id",
        "parent_instance_id",
        "parent_run_id",
        "parent_step_id",
        "parent_attempt_no",
        "workflow_id",
        "instance_id",
        "run_id",
        where=sql("parent_workflow_id IS NOT NULL"),
    ),
    # Runs of the same millisecond are sorted by key when they are read: so narrow, an index costs half.
    index("run_time", "nested", "listed_at", where=LISTED),
    index("run_status_time", "status", "listed_at", where=LISTED),
    index("run_workflow_time", "workflow_id", "listed_at", where=LISTED),
    index("run_owner_time", "owner", "listed_at", where=sql("owner IS NOT NULL")),
    index("run_correlation", "correlation_id", "listed_at", where=LISTED),
    index("run_uuid", "uuid", "listed_at", where=LISTED, since="0003"),
    index("run_ended", "workflow_id", "ended_at", where=sql("ended_at IS NOT NULL")),
    index("run_aside", "aside", "workflow_id", "instance_id", "run_id", where=sql("aside = 1")),
)

RUN_TAG: Final[Table] = table(
    "run_tag",
    key("tag", text(NAME_LENGTH)),
    key("listed_at", INT),
    *run_key(),
    index("run_tag_of", "workflow_id", "instance_id", "run_id"),
    small=True,
)

ATTEMPT: Final[Table] = table(
    "attempt",
    *attempt_key(),
    some("sequence", INT),
    some("status", text(WORD_LENGTH)),
    maybe("held", text(ID_LENGTH)),
    maybe("create_time", INT),
    maybe("start_time", INT),
    maybe("end_time", INT),
    maybe("launch", INT),
    maybe("runs_on", text()),
    maybe("child_workflow_id", text(ID_LENGTH)),
    maybe("child_instance_id", INT),
    maybe("child_run_id", INT),
    maybe("loop_total", INT),
    some("modify_time", INT),
    some("doc", DOCUMENT),  # empty: it is in `large_doc`
    index(
        "attempt_held",
        "held",
        "workflow_id",
        "instance_id",
        "run_id",
        "attempt_no",
        where=sql("held IS NOT NULL"),
    ),
)

LOOP: Final[Table] = table(
    "run_loop",
    *attempt_key(),
    maybe("counts", DOCUMENT),  # how many iterations ended how: what live views read of it
    some("doc", DOCUMENT),  # empty: it is in `large_doc`
)

# Documents that are too large for their rows, or shared by many. `part`: what it is missing in.
LARGE_DOC: Final[Table] = table(
    "large_doc",
    *run_key(),
    key("part", text(WORD_LENGTH)),
    key("step_id", text(ID_LENGTH)),
    key("attempt_no", INT),
    some("doc", DOCUMENT),
)
