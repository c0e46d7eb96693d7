"""A letter for each status."""

from stretto.model.status import RunStatus, StepStatus
from stretto.model.status_codes import ABSENT, RUN_CODES, STEP_CODES, run_counts, step_counts


def test_every_status_has_a_letter_of_its_own() -> None:
    for codes, statuses in ((STEP_CODES, StepStatus), (RUN_CODES, RunStatus)):
        assert set(codes) == set(statuses)
        letters = [*codes.values(), ABSENT]
        assert len(set(letters)) == len(letters)
        assert {len(each) for each in letters} == {1}


def test_upper_case_has_ended_badly() -> None:
    for status, letter in STEP_CODES.items():
        assert letter.isupper() == (status.is_terminal and not status.is_complete), status
    for end, letter in RUN_CODES.items():
        assert letter.isupper() == (end.is_terminal and end is not RunStatus.SUCCEEDED), end


def test_what_means_the_same_for_runs_and_steps_has_the_same_letter() -> None:
    shared = {each.value for each in StepStatus} & {each.value for each in RunStatus}
    for name in shared:
        assert STEP_CODES[StepStatus(name)] == RUN_CODES[RunStatus(name)]


def test_counts_by_letter() -> None:
    assert step_counts({StepStatus.SUCCEEDED: 3, StepStatus.FATALLY_FAILED: 1}) == {"s": 3, "F": 1}
    assert run_counts({RunStatus.IN_PROGRESS: 2}) == {"r": 2}
