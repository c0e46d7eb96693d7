"""Other systems' words for our statuses, in one table. Every surface translates here, and only here."""

from enum import StrEnum
from typing import Final

import msgspec

from stretto.model.status import RunStatus, StepStatus


class System(StrEnum):
    """The systems whose users must feel at home."""

    MAESTRO = "maestro"
    TASK_ENGINE = "task-engine"
    KUBEMIN = "kubemin"
    CARP = "carp"


class Entry(msgspec.Struct, frozen=True):
    """One row: our word, and theirs. The first word of each system is written, all are read."""

    run: tuple[RunStatus, ...]
    steps: tuple[StepStatus, ...]
    words: dict[System, tuple[str, ...]]


def _row(
    run: tuple[RunStatus, ...], steps: tuple[StepStatus, ...], task: str, kubemin: str, carp: str
) -> Entry:
    words = {System.TASK_ENGINE: task, System.KUBEMIN: kubemin, System.CARP: carp}
    return Entry(run, steps, {system: tuple(text.split(" / ")) for system, text in words.items() if text})


_R, _S = RunStatus, StepStatus
_WAITING: Final = (_S.INITIALIZED, _S.WAITING_FOR_SIGNALS, _S.EVALUATING_PARAMS, _S.WAITING_FOR_PERMITS)

VOCABULARY: Final[tuple[Entry, ...]] = (
    _row((_R.CREATED,), (_S.CREATED, *_WAITING), "Pending / Ready", "waiting / queued", "PENDING"),
    _row((_R.IN_PROGRESS,), (_S.RUNNING, _S.STARTING, _S.FINISHING), "Running", "running", "RUNNING"),
    _row((_R.PAUSED,), (_S.PAUSED,), "Paused", "", "SUSPEND"),
    _row((_R.SUCCEEDED,), (_S.SUCCEEDED, _S.COMPLETED_WITH_ERROR), "Success", "completed", "SUCCESS"),
    _row(
        (_R.FAILED,),
        (_S.FATALLY_FAILED, _S.USER_FAILED, _S.PLATFORM_FAILED, _S.INTERNALLY_FAILED),
        "Failed",
        "failed",
        "FAILURE",
    ),
    _row((_R.TIMED_OUT,), (_S.TIMED_OUT, _S.TIMEOUT_FAILED), "TimeoutFailed", "timeout", "FAILURE"),
    _row((_R.STOPPED,), (_S.STOPPED,), "Terminated", "cancelled", "SHUTDOWN"),
    _row((), (_S.SKIPPED, _S.UNSATISFIED, _S.NOT_CREATED, _S.DISABLED), "", "waiting", "SKIP"),
)

# Concepts, beside statuses: our word -> theirs.
CONCEPTS: Final[dict[str, dict[System, str]]] = {
    "step": {System.TASK_ENGINE: "task", System.KUBEMIN: "component", System.CARP: "task"},
    "stage": {System.KUBEMIN: "workflow step", System.CARP: "stage"},
    "step attempt": {System.TASK_ENGINE: "task run", System.KUBEMIN: "job", System.CARP: "task instance"},
    "breakpoint": {System.MAESTRO: "breakpoint"},
    "checkpoint": {System.TASK_ENGINE: "breakpoint data"},
}


def word_for(status: RunStatus | StepStatus, system: System) -> str:
    """Their word for our status; ours where they have none."""
    if system is System.MAESTRO:
        return status.value
    entry = next(entry for entry in VOCABULARY if status in entry.run or status in entry.steps)
    words = entry.words.get(system)
    return words[0] if words else status.value


def run_statuses(word: str, system: System) -> tuple[RunStatus, ...]:
    """Our run statuses for one of their words, for filters on their surfaces; empty if unknown."""
    if system is System.MAESTRO:
        return tuple(status for status in RunStatus if status.value == word.upper())
    wanted = word.casefold()
    return tuple(
        status
        for entry in VOCABULARY
        if any(each.casefold() == wanted for each in entry.words.get(system, ()))
        for status in entry.run
    )
