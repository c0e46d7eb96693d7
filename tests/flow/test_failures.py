"""Failures: handled, ignored, retried, undone."""

from typing import Any

import pytest
from tests.flow.playing import conditions, play

from stretto.definition import parse
from stretto.flow import Flow, collect, either, foreach, on_failure, step, when, workflow
from stretto.model.retry import ExponentialBackoff, FixedBackoff, RetryPolicy
from stretto.model.step import TypedStep


@step
def risky(n: int) -> int:
    if n < 0:
        message = "negative"
        raise ValueError(message)
    return n


@step
def add(a: int, b: int = 1) -> int:
    return a + b


@step
def note(text: str) -> str:
    return text


@workflow
def handled(n: int) -> int:
    x = risky(n)
    with on_failure(x):
        y = add(-1, 0)
    return either(x, y)


@pytest.mark.parametrize(("n", "value"), [(5, 5), (-5, -1)])
def test_a_failure_is_handled(n: int, value: int) -> None:
    played = play(handled, n=n)
    assert played.value == value
    assert played.ran("add") is (n < 0)


@workflow
def what_needs_it(n: int) -> list[Any]:
    x = risky(n)
    other = note("other")
    with on_failure(x):
        bad = note("bad")
    y = add(x)  # needs x alone
    z = add(y, x)  # needs both
    w = note(other)  # needs neither
    u = add.after(w)(x)  # needs x, and something else
    v = note.after(bad)("after the handler")
    return [either(y, default=0), either(z, default=0), w, either(u, default=0), v]


@pytest.mark.parametrize(("n", "value"), [(5, [6, 11, "other", 6, "after the handler"])])
def test_what_follows_runs_if_it_did_not_fail(n: int, value: Any) -> None:
    played = play(what_needs_it, n=n)
    assert played.value == value
    assert not played.ran("note_2")


def test_what_needs_the_result_does_not_run_if_it_failed() -> None:
    played = play(what_needs_it, n=-5)
    assert played.value == [0, 0, "other", 0, "after the handler"]
    assert played.ran("note_2")
    assert not any(played.ran(each) for each in ("add", "add_2", "add_3"))


@workflow
def two_risks(a: int, b: int) -> str:
    x, y = risky(a), risky(b)
    with on_failure(x):
        p = note("x failed")
    with on_failure(y):
        q = note("y failed " + note("really"))
    z = add(x, y)
    return note(either(note.after(z)("both well"), p, q))


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [(1, 1, "both well"), (-1, 1, "x failed"), (1, -1, "y failed really"), (-1, -1, "x failed")],
)
def test_several_failures_can_be_handled(a: int, b: int, value: str) -> None:
    assert play(two_risks, a=a, b=b).value == value


@workflow
def branch_on_it(n: int) -> str:
    x = risky(n)
    with on_failure(x):
        note("failed")
    with when(x > 3):
        a = note("large")
    with when((x > 3) & (add(1) > 0)):
        add(x)
    return either(a, note("last"))


@pytest.mark.parametrize(("n", "large"), [(5, True), (1, False), (-1, False)])
def test_a_branch_on_what_failed_does_not_run(n: int, large: bool) -> None:
    played = play(branch_on_it, n=n)
    assert played.ran("note_2") is large
    assert played.ran("add_2") is large
    assert played.value == ("large" if large else "last")


@workflow
def failing_loop(n: int) -> Any:
    found = risky.map([1, n, 3], concurrency=1)
    with on_failure(found):
        a = note("loop failed")
    return either(a, default="fine")


@pytest.mark.parametrize(("n", "value"), [(2, "fine"), (-2, "loop failed")])
def test_the_failure_of_a_loop_can_be_handled(n: int, value: str) -> None:
    assert play(failing_loop, n=n).value == value


@workflow
def handled_in_loop() -> list[int]:
    with foreach([1, -1, 2]) as item:
        x = risky(item)
        with on_failure(x):
            y = add(item, 100)
        z = add(either(x, y), 0)
    return collect(z)


def test_failures_inside_of_a_loop() -> None:
    assert play(handled_in_loop).value == [1, 99, 2]


@workflow
def unhandled(n: int) -> int:
    return add(risky(n))


def test_a_failure_that_nobody_handles_fails_the_run() -> None:
    played = play(unhandled, n=-1, fails=True)
    assert (played.status, played.value) == ("FAILED", None)
    assert "add" not in played.steps


@workflow
def ignored(n: int) -> int:
    return add(risky.with_options(failure_mode="ignore_failure")(n))


def test_a_step_that_needs_the_result_of_an_ignored_failure_fails() -> None:
    assert play(ignored, n=1).value == 2
    played = play(ignored, n=-1, fails=True)
    assert (played.status, played.steps["risky"]) == ("FAILED", "COMPLETED_WITH_ERROR")
    assert "a value that it reads is missing" in str(played.run.step("add").reason)


# --------------------------------------------------------------------------------------------------- retries
TRIES: list[int] = []


@step(retries=2, retry_delay="5 s", backoff="exponential", retry_limit=60, retry_if="n > 0")
def flaky(n: int) -> int:
    TRIES.append(n)
    if len(TRIES) < 3:
        message = "not yet"
        raise ValueError(message)
    return n


@workflow
def retried(n: int) -> int:
    return flaky(n)


def test_a_step_is_tried_again() -> None:
    TRIES.clear()
    assert play(retried, n=1).value == 1
    TRIES.clear()
    assert play(retried, n=0, fails=True).status == "FAILED"
    assert TRIES == [0]  # the expression says that it is of no use


def test_how_a_step_is_tried_again() -> None:
    def policy(**options: Any) -> RetryPolicy | None:
        return step(risky.fn, **options).options.retry_policy()

    assert policy() == RetryPolicy(error_retry_limit=0)
    assert policy(retries=1, retry_delay=3) == RetryPolicy(
        error_retry_limit=1, backoff=FixedBackoff(error_retry_backoff_in_secs=3)
    )
    assert policy(retries=1, backoff="fixed") == RetryPolicy(error_retry_limit=1, backoff=FixedBackoff())
    assert policy(retries=1, backoff=3, timeout_retries=1) == RetryPolicy(
        error_retry_limit=1, timeout_retry_limit=1, backoff=ExponentialBackoff(error_retry_exponent=3)
    )
    assert flaky.options.retry_policy() == RetryPolicy(
        error_retry_limit=2,
        backoff=ExponentialBackoff(error_retry_backoff_in_secs="5 s", error_retry_limit_in_secs=60),
        retry_if="n > 0",
    )


# ---------------------------------------------------------------------------------------------- compensation
UNDONE: list[Any] = []


@step
def cancel(booking: dict[str, Any], hotel: str) -> None:
    UNDONE.append(("hotel", booking, hotel))


def refund(amount: int) -> str:
    UNDONE.append(("money", amount))
    return "refunded"


@step(compensate=cancel)
def book(hotel: str, nights: int = 1) -> dict[str, Any]:
    return {"hotel": hotel, "nights": nights}


@step(compensate=refund)
def pay(amount: int) -> None:
    assert amount


@workflow
def journey(n: int) -> int:
    a = book("Ritz", 3)
    b = pay.after(a)(120)
    return risky.after(b)(n)


def test_a_failed_run_is_undone_in_reverse() -> None:
    UNDONE.clear()
    assert play(journey, n=1).value == 1
    assert not UNDONE
    assert play(journey, n=-1, fails=True).status == "FAILED"
    assert UNDONE == [("money", 120), ("hotel", {"hotel": "Ritz", "nights": 3}, "Ritz")]


def test_what_undoes_a_step_is_part_of_the_workflow() -> None:
    assert {each.qualname for each in journey.functions} == {"book", "cancel", "pay", "refund", "risky"}
    first = journey.definition.workflow.steps[0]
    assert isinstance(first, TypedStep)
    assert first.compensation is not None
    assert first.compensation.id == "undo_book"


@workflow
def journeys() -> None:
    with foreach(["Ritz", "Plaza"]) as hotel:
        a = book(hotel)
        risky.after(a)(-1)


def test_each_iteration_is_undone() -> None:
    UNDONE.clear()
    play(journeys, fails=True)
    assert ("hotel", {"hotel": "Ritz", "nights": 1}, "Ritz") in UNDONE


ALL: list[Flow[..., Any]] = [
    handled,
    what_needs_it,
    two_risks,
    branch_on_it,
    failing_loop,
    handled_in_loop,
    unhandled,
    ignored,
    retried,
    journey,
    journeys,
]


@pytest.mark.parametrize("flow", ALL, ids=lambda flow: flow.id)
def test_the_printed_definition_is_the_same(flow: Any) -> None:
    assert parse(flow.to_yaml()) == flow.definition


def test_the_edges_of_a_handled_failure() -> None:
    failed = "params.getFromStep('risky', 'MAESTRO_STEP_STATUS') == 'COMPLETED_WITH_ERROR'"
    edges = conditions(what_needs_it)
    assert edges["risky"]["add"] == f"!({failed})"
    assert edges["risky"]["note_2"] == failed
    assert edges["risky"]["add_2_ready"] == "true"
