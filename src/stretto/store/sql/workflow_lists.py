"""Workflows by id, filtered.

A list is walked along an index of workflows, or of their tags. Parts of an id, what is active and what has
ended how are looked at on the way: there are many runs, but not so many workflows.
"""

from functools import lru_cache
from typing import Any, Final

from stretto.ports.workflows import WorkflowFilter
from stretto.store.sql.paging import Listing
from stretto.store.sql.rows.runs import prefixed
from stretto.store.sql.rows.workflows import ENDS, ROW

LAST: Final = "\U0010ffff"  # no text that begins with a prefix comes after the prefix and this
ESCAPE: Final = "!"
BY_STATUS: Final = {status: f"has_{column}" for status, column in ENDS.items()}
HAS_RUN: Final = "has_run"
CONDITIONS: Final = {
    "tag": "workflow_tag.tag = :tag",
    "owner": "{owner} = :owner",
    "active": "workflow.active_version > 0",
    "inactive": "workflow.active_version = 0",
    # No EXISTS: MariaDB would make a join of it, and begin with the runs.
    HAS_RUN: "(SELECT 1 FROM run WHERE run.workflow_id = {first}.workflow_id "
    "AND run.status = :has AND run.lane IS NOT NULL LIMIT 1) IS NOT NULL",
    **{
        BY_STATUS[status]: "(SELECT 1 FROM outcome WHERE outcome.workflow_id = {first}.workflow_id "
        f"AND outcome.hour >= :since AND outcome.{column} > 0 LIMIT 1) IS NOT NULL"
        for status, column in ENDS.items()
    },
}


def asked_of(wanted: WorkflowFilter) -> tuple[frozenset[str], int]:
    """The names of what is asked for, and of how many words."""
    flags = {
        "prefix": bool(wanted.prefix),
        "owner": wanted.owner is not None,
        "tag": wanted.tag is not None,
        "active": wanted.active is True,
        "inactive": wanted.active is False,
    }
    asked = {name for name, is_asked in flags.items() if is_asked}
    if wanted.has is not None:
        asked.add(BY_STATUS.get(wanted.has, HAS_RUN))
    return frozenset(asked), len(wanted.words)


def values_of(wanted: WorkflowFilter) -> dict[str, Any]:
    """What a list binds."""
    return {
        "prefix": wanted.prefix,
        "prefix_end": wanted.prefix + LAST,
        "owner": wanted.owner,
        "tag": wanted.tag,
        "has": wanted.has,
        "since": wanted.since,
        **{f"word_{place}": _pattern(word) for place, word in enumerate(wanted.words)},
    }


def _pattern(word: str) -> str:
    for special in (ESCAPE, "%", "_"):
        word = word.replace(special, ESCAPE + special)
    return f"%{word.lower()}%"


@lru_cache
def listing(asked: frozenset[str], words: int = 0) -> Listing:
    """Workflows by id; what is not asked for is not looked at."""
    first, source, names = "workflow", "workflow", {"owner": "owner", "state": "state"}
    if "tag" in asked:  # in words that keep a database from beginning with all workflows
        first, names = "workflow_tag", {name: f"COALESCE({name}, '')" for name in names}
        source = "workflow_tag LEFT JOIN workflow ON workflow.workflow_id = workflow_tag.workflow_id"
    conditions = [
        *(CONDITIONS["tag"] for _ in asked & {"tag"}),
        f"{names['state']} = 'ALIVE'",
        *(text.format(first=first, **names) for name, text in CONDITIONS.items() if name in asked - {"tag"}),
        *(f"LOWER({first}.workflow_id) LIKE :word_{place} ESCAPE '{ESCAPE}'" for place in range(words)),
    ]
    bounds = [f"{first}.workflow_id {sign}" for sign in (">= :prefix", "< :prefix_end")]
    return Listing(
        prefixed(ROW, "workflow"),
        f"{source} WHERE {' AND '.join(conditions)}",
        [f"{first}.workflow_id"],
        bounds=bounds if "prefix" in asked else (),
    )
