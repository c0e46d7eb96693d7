"""Workflows and what belongs to them across runs."""

from typing import Final

from scripts.schema.columns import (
    DOCUMENT,
    INT,
    index,
    key,
    maybe,
    some,
    table,
    text,
)
from sqlalchemy import Table

from stretto.store.sql.lengths import ID_LENGTH, NAME_LENGTH, WORD_LENGTH

# Every id that was ever used: ALIVE, DELETED (its rows are being deleted) or GONE (instance ids go on).
WORKFLOW: Final[Table] = table(
    "workflow",
    key("workflow_id", text(ID_LENGTH)),
    some("state", text(WORD_LENGTH)),
    some("internal_id", INT),
    some("latest_version", INT),
    some("active_version", INT),
    maybe("activate_time", INT),
    maybe("activated_by", DOCUMENT),
    some("rule", text(WORD_LENGTH)),
    some("slots", INT),
    some("next_instance_id", INT),
    some("queued", INT),
    some("home_group", INT),
    maybe("owner", text()),
    some("modify_time", INT),
    some("properties", DOCUMENT),
    index("workflow_queue", "home_group", "queued"),
    index("workflow_owner", "owner", "workflow_id"),
    index("workflow_state", "state", "workflow_id"),
)

WORKFLOW_TAG: Final[Table] = table(
    "workflow_tag",
    key("tag", text(NAME_LENGTH)),
    key("workflow_id", text(ID_LENGTH)),
    index("workflow_tag_of", "workflow_id"),
    small=True,
)

WORKFLOW_VERSION: Final[Table] = table(
    "workflow_version",
    key("workflow_id", text(ID_LENGTH)),
    key("version_id", INT),
    some("doc", DOCUMENT),
)

PROPERTIES: Final[Table] = table(
    "properties",
    key("workflow_id", text(ID_LENGTH)),
    key("create_time", INT),
    some("doc", DOCUMENT),
)

WORKFLOW_CHANGE: Final[Table] = table(
    "workflow_change",
    key("workflow_id", text(ID_LENGTH)),
    key("place", INT),
    some("doc", DOCUMENT),
)

# How runs ended, hour by hour; under an empty id those of all workflows, in shorter times. Each node adds to
# a row of its own (`shard`), so that none waits for another.
OUTCOME: Final[Table] = table(
    "outcome",
    key("workflow_id", text(ID_LENGTH)),
    key("hour", INT),
    key("shard", INT),
    some("succeeded", INT),
    some("failed", INT),
    some("stopped", INT),
    some("timed_out", INT),
    index("outcome_hour", "hour", "workflow_id"),
    small=True,
)

BREAKPOINT: Final[Table] = table(
    "breakpoint",
    key("workflow_id", text(ID_LENGTH)),
    key("step_id", text(ID_LENGTH)),
    key("version_id", INT),
    key("instance_id", INT),
    key("run_id", INT),
    key("attempt_no", INT),
    some("doc", DOCUMENT),
)

JOB_TEMPLATE: Final[Table] = table(
    "job_template",
    key("job_type", text(NAME_LENGTH)),
    key("version", text(NAME_LENGTH)),
    some("doc", DOCUMENT),
    index("job_template_version", "version", "job_type"),
)
