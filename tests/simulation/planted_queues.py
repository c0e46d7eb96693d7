"""Planted bugs of run strategies, queues, requests and triggers: see `planted`."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from tests.simulation.plant import Planted, replaced

from stretto.store.memory import runs as workflow_transactions
from stretto.strategies.admission import BatchAdmission
from stretto.strategies.rules import FirstOnly, Joins, LastOnly, Replaces, SerialLatestOnly, StrictSequential


def first_only_takes_all() -> AbstractContextManager[None]:
    """FIRST_ONLY does not look at who is unfinished."""
    return replaced(FirstOnly, "receive", lambda _before: lambda _self, _run, _crowd: Joins())


def last_only_stops_nobody() -> AbstractContextManager[None]:
    """LAST_ONLY lets the run before the newest go on."""
    return replaced(
        LastOnly,
        "receive",
        lambda _before: lambda self, run, _crowd: Replaces(self.because_of(run, "replaced it")),
    )


def strict_queue_goes_on() -> AbstractContextManager[None]:
    """A failure does not hold up a STRICT_SEQUENTIAL queue."""
    return replaced(StrictSequential, "is_blocked", lambda _before: lambda _self, _crowd: False)


def latest_only_keeps_all() -> AbstractContextManager[None]:
    """SERIAL_LATEST_ONLY keeps whoever was queued before."""
    return replaced(SerialLatestOnly, "receive", lambda _before: lambda _self, _run, _crowd: Joins())


def request_not_noted() -> AbstractContextManager[None]:
    """A run is stored without its request id: a request that comes again makes another run."""

    def make(insert: Any) -> Any:
        def inserted(db: Any, row: Any) -> None:
            insert(db, row)
            db.requests.pop((row.key.workflow_id, row.record.uuid))

        return inserted

    return replaced(workflow_transactions, "insert_run", make)


def failure_not_superseded() -> AbstractContextManager[None]:
    """The failure of a run still stands after its restart."""

    def make(register: Any) -> Any:
        def registered(self: Any, run: Any, latest: Any) -> None:
            register(self, run, latest)
            self.marks.clear()

        return registered

    return replaced(BatchAdmission, "_register", make)


QUEUES_PLANTS: Mapping[str, Planted] = {
    "first_only_takes_all": Planted(first_only_takes_all, 12, ("I7:",)),
    "last_only_stops_nobody": Planted(last_only_stops_nobody, 10, ("I7:",)),
    "strict_queue_goes_on": Planted(strict_queue_goes_on, 34, ("I7:",)),
    "latest_only_keeps_all": Planted(latest_only_keeps_all, 19, ("I7:",)),
    "request_not_noted": Planted(
        request_not_noted,
        54,
        (
            "I9:",
            "I7:",
            "I15:",
            "I12:",
        ),
    ),
    "failure_not_superseded": Planted(failure_not_superseded, 68, ("I7:",)),
}
