"""What steps ask people: a row for everybody, whose assignee is empty, and one for each assignee.

What is asked is in the document of the attempt.
"""

from typing import Final

from scripts.schema.columns import INT, attempt_key, index, key, some, table, text
from sqlalchemy import Table

from stretto.store.sql.lengths import ASSIGNEE_LENGTH, ID_LENGTH, WORD_LENGTH

_ORDER: Final = ("asked_at", "workflow_id", "instance_id", "run_id", "step_id", "attempt_no")

APPROVAL: Final[Table] = table(
    "approval",
    *attempt_key(),
    key("assignee", text(ASSIGNEE_LENGTH)),
    some("home", text(ID_LENGTH)),  # the workflow that it belongs to, also from inside a loop
    some("asked", text(WORD_LENGTH)),  # OPEN or DONE
    some("asked_at", INT),
    index("approval_line", "assignee", "asked", *_ORDER),
    index("approval_home", "assignee", "home", "asked", *_ORDER),
    small=True,
    since="0005",
)
