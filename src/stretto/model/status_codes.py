"""A letter for each status, where many of them are told at once: upper case means that it ended badly."""

from collections.abc import Mapping
from typing import Final

from stretto.model.status import RunStatus, StepStatus

ABSENT: Final = "-"  # the step is not part of the run

S = StepStatus
R = RunStatus

STEP_CODES: Final[Mapping[StepStatus, str]] = {
    S.NOT_CREATED: ".",
    S.CREATED: "c",
    S.INITIALIZED: "i",
    S.PAUSED: "p",
    S.WAITING_FOR_SIGNALS: "w",
    S.EVALUATING_PARAMS: "e",
    S.WAITING_FOR_PERMITS: "q",
    S.STARTING: "b",
    S.RUNNING: "r",
    S.FINISHING: "f",
    S.DISABLED: "d",
    S.UNSATISFIED: "u",
    S.SKIPPED: "k",
    S.SUCCEEDED: "s",
    S.COMPLETED_WITH_ERROR: "x",
    S.USER_FAILED: "U",
    S.PLATFORM_FAILED: "P",
    S.TIMEOUT_FAILED: "T",
    S.FATALLY_FAILED: "F",
    S.INTERNALLY_FAILED: "I",
    S.STOPPED: "S",
    S.TIMED_OUT: "O",
}
RUN_CODES: Final[Mapping[RunStatus, str]] = {
    R.CREATED: "c",
    R.IN_PROGRESS: "r",
    R.PAUSED: "p",
    R.SUCCEEDED: "s",
    R.FAILED: "F",
    R.STOPPED: "S",
    R.TIMED_OUT: "O",
}


def step_counts(counts: Mapping[StepStatus, int]) -> dict[str, int]:
    """How many steps, by the letter of their status."""
    return {STEP_CODES[status]: number for status, number in counts.items()}


def run_counts(counts: Mapping[RunStatus, int]) -> dict[str, int]:
    """How many runs, by the letter of their status."""
    return {RUN_CODES[status]: number for status, number in counts.items()}
