"""Run strategies: what becomes of a new run while others of its workflow are queued or running.

    requests, queue, counts --admit--> Admission(answers, replaced, stop_running, marks, admitted)

Asked under the workflow's lock, with counts that were read in one statement after the lock and before any
write. Promise: no clock, dice or I/O; the same question has the same answer, so a transaction that was rolled
back is simply repeated. Each request has an answer of its own: a refused one does not harm its neighbours.

A run is *queued* until it is admitted, *running* from then until it has ended. Iterations of foreach and
while never come here: they belong to their parent.
"""

from stretto.strategies.admission import Admission, admit, refuse_all, would_admit
from stretto.strategies.change import check_change
from stretto.strategies.explain import Waiting, explain, explain_paused, hold_of
from stretto.strategies.requests import (
    Accepted,
    Answer,
    Batch,
    Duplicate,
    Refused,
    Request,
    Restart,
    Start,
    Undo,
)
from stretto.strategies.rules import MOST_ADMITTED, paused_needed, queue_needed
from stretto.strategies.runs import LatestRun, Mark, Replaced
from stretto.strategies.unblock import Unblocked, unblock

__all__ = [
    "MOST_ADMITTED",
    "Accepted",
    "Admission",
    "Answer",
    "Batch",
    "Duplicate",
    "LatestRun",
    "Mark",
    "Refused",
    "Replaced",
    "Request",
    "Restart",
    "Start",
    "Unblocked",
    "Undo",
    "Waiting",
    "admit",
    "check_change",
    "explain",
    "explain_paused",
    "hold_of",
    "paused_needed",
    "queue_needed",
    "refuse_all",
    "unblock",
    "would_admit",
]
