"""Signals, who waits for them, and triggers."""

from typing import Final

from scripts.schema.columns import (
    DOCUMENT,
    INT,
    attempt_key,
    index,
    key,
    maybe,
    some,
    table,
    text,
)
from sqlalchemy import Table
from sqlalchemy import text as sql

from stretto.store.sql.lengths import ID_LENGTH, NAME_LENGTH

SIGNAL_NAME: Final[Table] = table(
    "signal_name", key("name", text(NAME_LENGTH)), some("last_seq", INT), small=True
)

# Instance ids come from outside and may be long: they are looked for by their digest.
SIGNAL_INSTANCE: Final[Table] = table(
    "signal_instance",
    key("name", text(NAME_LENGTH)),
    key("seq", INT),
    some("digest", text(64)),
    some("create_time", INT),
    some("doc", DOCUMENT),
    index("signal_instance_id", "name", "digest", unique=True),
    index("signal_instance_time", "create_time"),
)

SIGNAL_WAIT: Final[Table] = table(
    "signal_wait",
    key("name", text(NAME_LENGTH)),
    *attempt_key(),
    key("dependency", INT),
    some("group_id", INT),
    some("match_params", DOCUMENT),
    index("signal_wait_of", "workflow_id", "instance_id", "run_id", "step_id", "attempt_no"),
)

SIGNAL_TRIGGER: Final[Table] = table(
    "signal_trigger",
    key("trigger_id", text()),
    some("workflow_id", text(ID_LENGTH)),
    some("version_id", INT),
    some("since", DOCUMENT),
    some("doc", DOCUMENT),
    index("signal_trigger_of", "workflow_id", "trigger_id"),
)

SIGNAL_LISTENER: Final[Table] = table(
    "signal_listener",
    key("name", text(NAME_LENGTH)),
    key("trigger_id", text()),
    index("signal_listener_of", "trigger_id"),
    small=True,
)

# A join key is made of values and may be long: it is looked for by its digest.
SIGNAL_JOIN: Final[Table] = table(
    "signal_join",
    key("trigger_id", text()),
    key("digest", text(64)),
    some("join_key", DOCUMENT),
    some("taken", DOCUMENT),
)

TIME_TRIGGER: Final[Table] = table(
    "time_trigger",
    key("trigger_id", text()),
    some("workflow_id", text(ID_LENGTH)),
    some("version_id", INT),
    some("home_group", INT),
    maybe("next_fire_at", INT),
    some("jitter", INT),
    some("doc", DOCUMENT),
    index("time_trigger_due", "home_group", "next_fire_at", where=sql("next_fire_at IS NOT NULL")),
    index("time_trigger_of", "workflow_id", "trigger_id"),
    index(
        "time_trigger_next", "next_fire_at", "trigger_id", where=sql("next_fire_at IS NOT NULL"), since="0003"
    ),
)
