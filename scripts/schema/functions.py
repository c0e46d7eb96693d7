"""Functions of programs, and results of theirs that are kept for a while."""

from typing import Final

from scripts.schema.columns import DOCUMENT, INT, index, key, some, table, text
from sqlalchemy import Table

from stretto.store.sql.lengths import CODE_LENGTH

JOB_FUNCTION: Final[Table] = table(
    "job_function",
    key("name", text(CODE_LENGTH)),
    some("doc", DOCUMENT),
    since="0002",
)

KEPT_RESULT: Final[Table] = table(
    "kept_result",
    key("result_key", text(CODE_LENGTH)),
    some("doc", DOCUMENT),
    some("kept_until", INT),
    index("kept_result_until", "kept_until"),
    since="0002",
)
