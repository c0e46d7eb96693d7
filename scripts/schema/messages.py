"""Messages, pool work, permits."""

from typing import Final

from scripts.schema.columns import (
    DOCUMENT,
    FLAG,
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

from stretto.store.sql.lengths import NAME_LENGTH, NODE_LENGTH, TAG_LENGTH, WORD_LENGTH

# A reference may be longer than a key can be, so it is looked for by its digest. `about` and `about_too` are
# digests of the runs that a message names: those are not deleted while it is there.
OUTBOX: Final[Table] = table(
    "outbox",
    key("id", INT, autoincrement=True),
    maybe("to_group", INT),
    maybe("to_node", text()),
    some("kind", text(WORD_LENGTH)),
    some("ref", DOCUMENT),
    some("ref_digest", INT),
    maybe("about", INT),
    maybe("about_too", INT),
    some("sent_at", INT),
    some("tries", INT),
    some("not_before", INT),
    maybe("parked", DOCUMENT),
    some("is_parked", FLAG),
    maybe("outcome", DOCUMENT),
    some("is_answered", FLAG),  # an action that nobody has to decide any more
    some("doc", DOCUMENT),
    index("outbox_group", "to_group", "id", where=sql("to_group IS NOT NULL")),
    index("outbox_node", "to_node", "id", where=sql("to_node IS NOT NULL")),
    index("outbox_ref", "ref_digest"),
    index("outbox_about", "about", where=sql("about IS NOT NULL")),
    index("outbox_about_too", "about_too", where=sql("about_too IS NOT NULL")),
    index("outbox_parked", "is_parked", "id", where=sql("is_parked = 1")),
    index("outbox_answered", "is_answered", "sent_at", where=sql("is_answered = 1")),
    sqlite_autoincrement=True,
)

WORK: Final[Table] = table(
    "work",
    *attempt_key(),
    some("launch", INT),
    some("pool", text(NAME_LENGTH)),
    some("group_id", INT),
    some("since", INT),
    some("take", INT),
    maybe("taken_by", text(NODE_LENGTH)),
    index(
        "work_free",
        "pool",
        "taken_by",
        "since",
        "workflow_id",
        "instance_id",
        "run_id",
        "step_id",
        "attempt_no",
    ),
    index("work_pool", "pool", "workflow_id", "instance_id", "run_id", "step_id", "attempt_no"),
    index("work_group", "group_id"),
    index("work_taken", "taken_by", where=sql("taken_by IS NOT NULL")),
    small=True,
)

# A row without a document is there to be locked only.
TAG: Final[Table] = table(
    "tag",
    key("tag", text(TAG_LENGTH)),
    maybe("max_allowed", INT),
    some("is_limited", FLAG),
    maybe("doc", DOCUMENT),
    index("tag_limited", "is_limited", "tag"),
)

# Of tags that have a rate. Grants: when starts were granted that still count.
TAG_RATE: Final[Table] = table(
    "tag_rate",
    key("tag", text(TAG_LENGTH)),
    some("rate", text(WORD_LENGTH)),
    maybe("grants", DOCUMENT),
    since="0006",
)

PERMIT: Final[Table] = table(
    "permit",
    *attempt_key(),
    key("tag", text(TAG_LENGTH)),
    some("group_id", INT),
    some("home_group", INT),  # of the tag
    some("granted", FLAG),
    some("place", INT),  # by criticality
    maybe("criticality", text(WORD_LENGTH)),
    some("since", INT),
    maybe("max_allowed", INT),
    maybe("granted_at", INT),
    index(
        "permit_line",
        "tag",
        "granted",
        "place",
        "since",
        "workflow_id",
        "instance_id",
        "run_id",
        "step_id",
        "attempt_no",
    ),
    index("permit_tag", "tag", "granted", "workflow_id", "instance_id", "run_id", "step_id", "attempt_no"),
    index("permit_home", "granted", "home_group", "tag"),
    small=True,
)
