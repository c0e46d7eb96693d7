"""Nodes, leases, the change log."""

from typing import Final

from scripts.schema.columns import DOCUMENT, INT, index, key, maybe, some, table, text
from sqlalchemy import Table

from stretto.store.sql.lengths import WORD_LENGTH

NODE: Final[Table] = table(
    "node",
    key("node_id", text()),
    some("state", text(WORD_LENGTH)),
    some("joined_at", INT),
    maybe("buried_at", INT),
    maybe("last_n", INT),  # of a dead one: its beat is gone
    maybe("expired_at", INT),
    maybe("address", text(1024)),
    index("node_buried", "buried_at"),
    small=True,
)

# Apart from `node`, so that a beat never waits behind those who hold the node's row.
BEAT: Final[Table] = table(
    "beat",
    key("node_id", text()),
    some("n", INT),
    some("expires_at", INT),
    small=True,
)

# Apart from `node`, so that a beat reads the version alone, and not the names.
ADVERTISEMENT: Final[Table] = table(
    "advertisement",
    key("node_id", text()),
    some("version", INT),
    some("doc", DOCUMENT),
    since="0006",
)

FLOW_GROUP: Final[Table] = table(
    "flow_group",
    key("group_id", INT),
    some("generation", INT),
    maybe("owner", text()),
    some("falls", INT),
    maybe("suspect", DOCUMENT),
    index("flow_group_owner", "owner"),
    small=True,
)

CHANGE_LOG: Final[Table] = table(
    "change_log",
    key("group_id", INT),
    key("seq", INT),
    some("logged_at", INT),
    some("doc", DOCUMENT),
)

SINK: Final[Table] = table(
    "sink",
    key("sink", text()),
    key("group_id", INT),
    some("seq", INT),
    index("sink_group", "group_id"),
    small=True,
)

COUNTER: Final[Table] = table("counter", key("name", text()), some("next_value", INT), small=True)
