"""Batches: repeated requests, ids, restarts, refusals, and the size of a pass."""

import pytest
from tests.unit.strategies.table import Given, batch, outcome, run, run_key, runs, strategy, written

from stretto.model.errors import InvalidRequest, NotFound, WrongState
from stretto.model.properties import RunStrategyRule
from stretto.model.response import StartStatus
from stretto.strategies import (
    MOST_ADMITTED,
    Accepted,
    Admission,
    Answer,
    Batch,
    Duplicate,
    LatestRun,
    Refused,
    Restart,
    Start,
    Undo,
    admit,
    queue_needed,
    refuse_all,
)

SEQUENTIAL = strategy(RunStrategyRule.SEQUENTIAL)
FIRST_ONLY = strategy(RunStrategyRule.FIRST_ONLY)
LAST_ONLY = strategy(RunStrategyRule.LAST_ONLY)


def refusal(answer: Answer) -> tuple[type[Exception], str]:
    assert isinstance(answer, Refused)
    return type(answer.error()), str(answer.error())


def test_a_dequeue_has_no_requests() -> None:
    assert admit(SEQUENTIAL, runs("4 5"), 0, 0) == Admission(admitted=(run("4"),))


def test_a_known_request_gets_the_first_ones_ids() -> None:
    asked = Batch("etl", (Start("a"),), 10, known={"a": run("7")})
    answer = Duplicate("a", run("7"))
    assert admit(SEQUENTIAL, [], 1, 0, asked) == Admission(answers=(answer,))
    assert answer.start_status is StartStatus.DUPLICATED


def test_a_request_that_is_twice_in_a_batch_makes_one_run() -> None:
    asked = Batch("etl", (Start("a"), Start("a"), Start("b")), 10)
    admission = admit(SEQUENTIAL, [], 1, 0, asked)
    assert admission.answers == (
        Accepted("a", run("10")),
        Duplicate("a", run("10")),
        Accepted("b", run("11")),
    )
    assert (admission.spent, admission.queue_change) == (2, 2)


def test_a_repeated_restart_is_a_duplicate_even_while_its_run_is_open() -> None:
    latest = {3: LatestRun(1, ended=True)}
    asked = Batch("etl", (Restart("a", 3), Restart("a", 3)), 10, latest=latest)
    assert admit(SEQUENTIAL, [], 0, 0, asked).answers == (
        Accepted("a", run("3.2")),
        Duplicate("a", run("3.2")),
    )


@pytest.mark.parametrize("rule", list(RunStrategyRule))
def test_an_undo_is_admitted_whatever_the_strategy_says(rule: RunStrategyRule) -> None:
    latest = {3: LatestRun(1, ended=True), 4: LatestRun(2, ended=True, failed=True)}
    asked = Batch("etl", (Undo("a", 3), Undo("b", 4)), 10, latest=latest)
    admission = admit(strategy(rule), runs("5"), 1, 1, asked)
    assert admission.answers == (Accepted("a", run("3.2")), Accepted("b", run("4.3")))
    assert admission.admitted[:2] == (run("3.2"), run("4.3"))
    assert (admission.replaced, admission.stop_running, admission.spent) == ((), None, 0)


def test_an_undo_takes_a_slot_and_needs_an_instance_that_has_ended() -> None:
    latest = {3: LatestRun(1, ended=True), 4: LatestRun(1, ended=False)}
    asked = Batch("etl", (Undo("a", 3), Undo("b", 4), Undo("c", 9)), 10, latest=latest)
    admission = admit(SEQUENTIAL, runs("5"), 0, 0, asked)
    assert admission.admitted == (run("3.2"),)
    assert [refusal(answer)[0] for answer in admission.answers[1:]] == [WrongState, NotFound]


def test_the_answer_to_a_run_that_is_replaced_in_its_batch() -> None:
    first, second = admit(LAST_ONLY, [], 0, 0, batch("start start")).answers
    assert isinstance(first, Accepted)
    assert isinstance(second, Accepted)
    assert (first.start_status, second.start_status) == (StartStatus.STOPPED, StartStatus.CREATED)


def test_a_run_that_is_kept_as_failed_counts_as_created() -> None:
    [answer] = admit(SEQUENTIAL, [], 0, 0, batch("broken")).answers
    assert isinstance(answer, Accepted)
    assert (answer.start_status, answer.note) == (StartStatus.CREATED, "no such param")


def test_a_run_that_is_kept_as_failed_says_why() -> None:
    with pytest.raises(InvalidRequest, match="timeline cannot be null"):
        Start("a", failure="")


def test_replaced_and_admitted_runs_leave_the_queue() -> None:
    assert admit(LAST_ONLY, [run("4")], 1, 0, batch("start start")).queue_change == 0
    assert admit(LAST_ONLY, [run("4")], 0, 0, batch("start")).queue_change == -1


def test_only_starts_spend_instance_ids() -> None:
    admission = admit(SEQUENTIAL, [], 1, 0, batch("start restart:3 broken start"))
    assert written(admission).answers == "10=CREATED 3.2=CREATED 11=FAILED 12=CREATED"
    assert (admission.spent, admission.queue_change) == (3, 3)


def test_a_refused_request_spends_nothing_and_harms_no_other() -> None:
    asked = Batch("etl", (Restart("a", 3), Start("b"), Restart("a", 3)), 10)
    admission = admit(SEQUENTIAL, [], 1, 0, asked)
    missing = NotFound, "Cannot find workflow instance [etl][3]"
    assert [refusal(admission.answers[place]) for place in (0, 2)] == [missing, missing]
    assert admission.answers[1] == Accepted("b", run("10"))
    assert admission.spent == 1


def test_a_refused_start_that_is_repeated_is_no_duplicate() -> None:
    asked = Batch("etl", (Start("a"), Start("a"), Start("b")), 10, known={"b": run("7")})
    admission = admit(FIRST_ONLY, [], 2, 0, asked)
    assert refusal(admission.answers[0]) == refusal(admission.answers[1])
    assert admission.answers[2] == Duplicate("b", run("7"))
    assert admission.spent == 0


def test_an_open_run_can_not_be_restarted() -> None:
    asked = Batch("etl", (Restart("a", 3),), 10, latest={3: LatestRun(2, ended=False)})
    [answer] = admit(SEQUENTIAL, [], 1, 0, asked).answers
    message = "There is already a workflow instance run [etl][3][2] and cannot restart another run"
    assert refusal(answer) == (WrongState, message)


def test_of_two_restarts_at_once_the_second_is_refused() -> None:
    latest = {3: LatestRun(1, ended=True, failed=True)}
    asked = Batch("etl", (Restart("a", 3), Restart("b", 3)), 10, latest=latest)
    admission = admit(LAST_ONLY, [], 0, 1, asked)
    assert written(admission) == ("3.2=CREATED refused", "3=FAILED_2", "3.2")
    assert "[etl][3][2]" in refusal(admission.answers[1])[1]


def test_a_restart_that_was_dropped_can_be_tried_again() -> None:
    latest = {3: LatestRun(1, ended=True, failed=True)}
    asked = Batch("etl", (Restart("a", 3), Restart("b", 3)), 10, latest=latest)
    assert written(admit(FIRST_ONLY, [], 1, 1, asked)) == ("3.2=STOPPED 3.3=STOPPED", "3=FAILED_2", "")


def test_an_instance_whose_queued_run_was_just_replaced_can_be_restarted() -> None:
    asked = Batch("etl", (Start("a"), Restart("b", 4)), 10, latest={4: LatestRun(1, ended=False)})
    then = written(admit(LAST_ONLY, [run("4")], 0, 0, asked))
    assert then == ("10=STOPPED 4.2=CREATED", "4=STOPPED", "4.2")


def test_a_pass_admits_fifty_and_says_that_there_is_more() -> None:
    wide = strategy(RunStrategyRule.PARALLEL, 1_000)
    queue = [run_key(number, 1) for number in range(1, 120)]
    for passes, more in ((1, True), (2, True), (3, False)):
        admission = admit(wide, queue, 50 * (passes - 1), 0)
        assert admission.admitted == tuple(queue[:MOST_ADMITTED])
        assert admission.more is more
        assert admission.queue_change == -len(admission.admitted)
        del queue[:MOST_ADMITTED]
    assert queue == []


@pytest.mark.parametrize("slots", [49, 50, 51])
def test_more_needs_both_a_slot_and_a_run(slots: int) -> None:
    wide = strategy(RunStrategyRule.PARALLEL, slots)
    queue = [run_key(number, 1) for number in range(1, 52)]
    assert admit(wide, queue, 0, 0).more is (slots > 50)
    assert admit(wide, queue[:50], 0, 0).more is False


@pytest.mark.parametrize("requests", ["", "start", "restart:3", "start restart:3 start"])
@pytest.mark.parametrize("slots", [1, 50, 1_000])
def test_the_front_of_a_long_queue_suffices(requests: str, slots: int) -> None:
    wide = strategy(RunStrategyRule.PARALLEL, slots)
    queue = [run_key(number, 2) for number in range(1, 400)]
    asked = Batch("etl", batch(requests).requests, 1_000, latest={3: LatestRun(2, ended=True)})
    assert admit(wide, queue[: queue_needed(wide)], 0, 0, asked) == admit(wide, queue, 0, 0, asked)


def test_the_fires_of_a_long_outage_are_one_batch() -> None:
    latest = outcome(strategy(RunStrategyRule.SERIAL_LATEST_ONLY), Given(requests="start " * 1_000))
    assert latest.admitted == "1009"
    assert latest.answers.count("STOPPED") == 999


def test_without_a_workflow_everybody_is_refused() -> None:
    admission = refuse_all(batch("start start"))
    assert [refusal(answer) for answer in admission.answers] == [(NotFound, "Cannot find workflow [etl]")] * 2
    assert (admission.spent, admission.admitted) == (0, ())
