"""The table of vocabularies: each row as the design fixes it."""

import pytest

from stretto.model.status import RunStatus, StepStatus
from stretto.model.vocabulary import CONCEPTS, VOCABULARY, System, run_statuses, word_for

R, P = RunStatus, StepStatus
TASK, KUBEMIN, CARP = System.TASK_ENGINE, System.KUBEMIN, System.CARP

STATUSES: list[tuple[RunStatus | None, StepStatus, dict[System, set[str]]]] = [
    (R.CREATED, P.CREATED, {TASK: {"Ready", "Pending"}, KUBEMIN: {"waiting", "queued"}, CARP: {"PENDING"}}),
    (R.IN_PROGRESS, P.RUNNING, {TASK: {"Running"}, KUBEMIN: {"running"}, CARP: {"RUNNING"}}),
    (R.PAUSED, P.PAUSED, {TASK: {"Paused"}, CARP: {"SUSPEND"}}),
    (R.SUCCEEDED, P.SUCCEEDED, {TASK: {"Success"}, KUBEMIN: {"completed"}, CARP: {"SUCCESS"}}),
    (R.FAILED, P.FATALLY_FAILED, {TASK: {"Failed"}, KUBEMIN: {"failed"}, CARP: {"FAILURE"}}),
    (R.FAILED, P.USER_FAILED, {TASK: {"Failed"}, KUBEMIN: {"failed"}, CARP: {"FAILURE"}}),
    (R.FAILED, P.PLATFORM_FAILED, {TASK: {"Failed"}, KUBEMIN: {"failed"}, CARP: {"FAILURE"}}),
    (R.FAILED, P.INTERNALLY_FAILED, {TASK: {"Failed"}, KUBEMIN: {"failed"}, CARP: {"FAILURE"}}),
    (R.TIMED_OUT, P.TIMED_OUT, {TASK: {"TimeoutFailed"}, KUBEMIN: {"timeout"}, CARP: {"FAILURE"}}),
    (R.STOPPED, P.STOPPED, {TASK: {"Terminated"}, KUBEMIN: {"cancelled"}, CARP: {"SHUTDOWN"}}),
    (None, P.SKIPPED, {KUBEMIN: {"waiting"}, CARP: {"SKIP"}}),
    (None, P.UNSATISFIED, {KUBEMIN: {"waiting"}, CARP: {"SKIP"}}),
    (None, P.NOT_CREATED, {KUBEMIN: {"waiting"}, CARP: {"SKIP"}}),
]


@pytest.mark.parametrize(("run", "step", "words"), STATUSES)
def test_a_row_of_the_design(run: RunStatus | None, step: StepStatus, words: dict[System, set[str]]) -> None:
    (entry,) = [each for each in VOCABULARY if step in each.steps]
    assert run is None or run in entry.run
    assert {system: set(theirs) for system, theirs in entry.words.items()} == words
    for system in (TASK, KUBEMIN, CARP):
        assert word_for(step, system) in words.get(system, {step.value})
    assert word_for(step, System.MAESTRO) == step.value


def test_each_status_is_in_exactly_one_row() -> None:
    assert sorted(status for entry in VOCABULARY for status in entry.run) == sorted(R)
    assert sorted(status for entry in VOCABULARY for status in entry.steps) == sorted(P)


@pytest.mark.parametrize(
    ("word", "system", "statuses"),
    [
        ("pending", TASK, (R.CREATED,)),
        ("READY", TASK, (R.CREATED,)),
        ("FAILURE", CARP, (R.FAILED, R.TIMED_OUT)),
        ("in_progress", System.MAESTRO, (R.IN_PROGRESS,)),
        ("waiting", KUBEMIN, (R.CREATED,)),
        ("nonsense", CARP, ()),
    ],
)
def test_their_words_as_filters(word: str, system: System, statuses: tuple[RunStatus, ...]) -> None:
    assert run_statuses(word, system) == statuses


def test_concepts() -> None:
    assert CONCEPTS == {
        "step": {TASK: "task", KUBEMIN: "component", CARP: "task"},
        "stage": {KUBEMIN: "workflow step", CARP: "stage"},
        "step attempt": {TASK: "task run", KUBEMIN: "job", CARP: "task instance"},
        "breakpoint": {System.MAESTRO: "breakpoint"},
        "checkpoint": {TASK: "breakpoint data"},
    }
