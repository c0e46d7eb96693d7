"""Bulk jobs and their items."""

from typing import Final

from scripts.schema.columns import DOCUMENT, INT, index, key, some, table, text
from sqlalchemy import Table

from stretto.store.sql.lengths import TEXT_LENGTH, WORD_LENGTH

BULK_JOB: Final[Table] = table(
    "bulk_job",
    key("job_id", text(TEXT_LENGTH)),
    some("create_time", INT),
    some("state", text(WORD_LENGTH)),
    some("held_until", INT),
    some("doc", DOCUMENT),
    index("bulk_job_time", "create_time", "job_id"),
    index("bulk_job_held", "state", "held_until"),
    since="0004",
)

BULK_ITEM: Final[Table] = table(
    "bulk_item",
    key("job_id", text(TEXT_LENGTH)),
    key("number", INT),
    some("state", text(WORD_LENGTH)),
    some("doc", DOCUMENT),
    index("bulk_item_state", "job_id", "state", "number"),
    since="0004",
)
