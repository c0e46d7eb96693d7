"""What may be forgotten."""

from typing import Protocol

from stretto.model.words import Word


class Aged(Word):
    """What goes by its age.

    LOG       Rows of the change log, in the order of their numbers up to the first that must stay: a younger
              one, the newest of a group, or one that a sink has not delivered.
    SIGNALS   Announcements, by age alone. Their numbers are not used again.
    NODES     Nodes, by when they were buried.
    OUTCOMES  Hourly counters.
    RESULTS   Results of functions, by until when they were kept.
    BULKS     Bulk jobs that have ended, by when they were made, with their items; `most` counts the jobs.
    """

    LOG = "LOG"
    SIGNALS = "SIGNALS"
    NODES = "NODES"
    OUTCOMES = "OUTCOMES"
    RESULTS = "RESULTS"
    BULKS = "BULKS"


class Retention(Protocol):
    """Deletion in small transactions: each deletes at most `most` rows and says how many; call it again while
    it deletes something. Nothing unfinished is ever deleted, nor what still counts. All are idempotent.
    """

    async def prune_runs(self, workflow_id: str, before: int, *, most: int = 500) -> int:
        """T13. Under the workflow's lock, delete instances with all their runs, iterations and sync children.

        Only instances that no step waits for, all of whose runs, iterations and sync descendants are ENDED
        and ended before the time; none that has a run, or a sync descendant, with a STANDING failure while
        the workflow of that one is STRICT_SEQUENTIAL, and none of which a message, a permit, a wait or pool
        work names a run. A large instance goes in several calls, its own rows last; from the first of them on
        neither `newest_run` nor a workflow transaction finds it: it can not be restarted. Async children are
        instances of their own.
        """
        ...

    async def prunable(self, before: int, *, after: str = "", most: int = 100) -> list[str]:
        """Workflows, by id and after one, that have runs which ended before a time. Only reads."""
        ...

    async def prune(self, aged: Aged, before: int, *, most: int = 500) -> int:
        """Delete what is older than a time, of one kind: see `Aged`."""
        ...

    async def purge(self, workflow_id: str, *, most: int = 500) -> int:
        """Delete what is left of a deleted workflow: versions, properties, timeline, breakpoints, counters,
        instances with everything that belongs to them. With the last row, its id can be published again.
        """
        ...

    async def purgeable(self) -> list[str]:
        """Workflows that are being deleted, by id. Only reads."""
        ...
