"""How a transaction fails, and what the caller does about it.

    Fenced           the lease is not the current one    drop what was decided under it
    Stale            a row it names has moved on         load again, decide again
    NoPermits        it took permits that are not left   the same, and stand in line for them
    Poison           a value that can not be stored      split the batch; alone, the culprit is set aside
    Unavailable      nothing was written                 repeat it
    OutcomeUnknown   the commit was sent, no answer      group commit: claim again; all others: repeat them

After each of them but the last, nothing of the transaction is there. A deadlock or a serialisation failure
is none of these: the store repeats the transaction itself. What a function that was handed in raises rolls
the transaction back and reaches the caller as it is.
"""

from collections.abc import Collection

from stretto.engine.records import RunKey
from stretto.model.errors import Conflict, Unavailable, Unprocessable

__all__ = ["Fenced", "NoPermits", "OutcomeUnknown", "Poison", "Stale"]


class Fenced(Conflict):
    """Somebody else has, or had, the group: a lease that was named is not the current one."""

    id = "fenced"

    def __init__(self, groups: Collection[int]) -> None:
        super().__init__(f"not the owner of flow group {', '.join(map(str, sorted(groups)))} any more")
        self.groups = frozenset(groups)


class Stale(Conflict):
    """A row that had to be there, or to be in a phase, is not. Nothing was written.

    `groups` are those whose part of a batch named such a row; the others may be sent again as they are.
    """

    id = "stale"

    def __init__(self, message: str, groups: Collection[int] = ()) -> None:
        super().__init__(message)
        self.groups = frozenset(groups)


class NoPermits(Stale):
    """Decisions took permits that are not left. Nothing was written.

    `runs` are the roots of these decisions: they decide again, and stand in line for the `tags`.
    """

    id = "no-permits"

    def __init__(self, runs: Collection[RunKey], tags: Collection[str], groups: Collection[int]) -> None:
        super().__init__(f"no permits are left of {', '.join(sorted(tags))}", groups)
        self.runs = frozenset(runs)
        self.tags = frozenset(tags)


class Poison(Unprocessable):
    """The database refuses a value. Which one it was is found by halving the batch."""

    id = "poison"


class OutcomeUnknown(Unavailable):
    """The transaction may have been committed, or be so later: neither success nor failure."""

    id = "outcome-unknown"
