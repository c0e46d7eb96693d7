"""Statuses, ids, times and durations as the task engine writes them."""

import datetime as dt
import re
from typing import Final

from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.status import RunStatus, StepStatus
from stretto.model.vocabulary import System, run_statuses, word_for

READY: Final = "Ready"  # of an instance; a task that waits is Pending
PENDING: Final = "Pending"
RUNNING: Final = word_for(StepStatus.RUNNING, System.TASK_ENGINE)
PAUSED: Final = word_for(StepStatus.PAUSED, System.TASK_ENGINE)
FAILED: Final = frozenset(
    word_for(status, System.TASK_ENGINE)
    for status in (StepStatus.FATALLY_FAILED, StepStatus.TIMED_OUT, StepStatus.STOPPED)
)
RETRY: Final = "Retry"
SKIPPED: Final = "Skipped"  # it has no word for it: there each task runs, or fails with the one before it
NEVER: Final = frozenset({StepStatus.SKIPPED, StepStatus.UNSATISFIED, StepStatus.DISABLED})
STATUSES: Final = "Ready, Running, Paused, Terminated, Success, Failed or TimeoutFailed"
_INSTANCE: Final = re.compile(r"(?P<workflow>[^:]+):(?P<number>[0-9]{1,18})")


def instance_word(status: RunStatus) -> str:
    return READY if status is RunStatus.CREATED else word_for(status, System.TASK_ENGINE)


def task_word(status: StepStatus, *, is_over: bool) -> str:
    """`is_over`: of an instance that has ended; there nothing is pending any more."""
    if status is StepStatus.NOT_CREATED:
        return SKIPPED if is_over else PENDING
    if status in NEVER:
        return SKIPPED
    if status.is_retryable and not is_over:
        return RETRY
    return word_for(status, System.TASK_ENGINE)


def statuses_in(word: str | None) -> tuple[RunStatus, ...]:
    """The statuses that a filter means; nothing is all of them."""
    if not word:
        return ()
    found = run_statuses(word, System.TASK_ENGINE)
    if not found:
        raise InvalidRequest(f"Invalid status [{word[:80]}]", hint=STATUSES)
    return found


def instance_id(workflow_id: str, number: int) -> str:
    """`etl:12`; no id of a workflow has a colon."""
    return f"{workflow_id}:{number}"


def instance_in(text: str) -> tuple[str, int]:
    """The workflow and the number of an instance; `NotFound` if the text names none."""
    found = _INSTANCE.fullmatch(text)
    if found is None:
        raise NotFound(f"Cannot find instance [{text[:80]}]", hint="an id is such as etl:12")
    return found["workflow"], int(found["number"])


def moment(millis: int | None) -> str | None:
    if millis is None:
        return None
    return dt.datetime.fromtimestamp(millis / 1_000, dt.UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def duration(began: int | None, ended: int | None) -> str | None:
    """`1.2s`, `3m4s`, `1h2m`; nothing of what has not begun or not ended."""
    if began is None or ended is None:
        return None
    millis = max(0, ended - began)
    if millis < 60_000:
        return f"{millis / 1_000:.1f}s"
    seconds = millis // 1_000
    if seconds < 3_600:
        return f"{seconds // 60}m{seconds % 60}s"
    return f"{seconds // 3_600}h{seconds % 3_600 // 60}m"
