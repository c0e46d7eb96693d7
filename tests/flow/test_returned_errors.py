"""`errors="return"`: the error of an item stands where its result would be."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from stretto.definition import parse
from stretto.flow import Flow, TraceError, collect, foreach, on_failure, step, when, workflow
from stretto.flow.engine import Engine, StepError
from stretto.model.step import ForeachStep
from stretto.testing.harness import Harness


class OddError(Exception):
    """An exception of a program."""


def checked(n: int) -> int:
    if n == 3:
        message = "three"
        raise ValueError(message)
    if n == 4:
        raise OddError
    return 2 * n


@step
def double(n: int) -> int:
    return checked(n)


@step
def listed(n: int) -> list[int]:
    return [checked(n)]


@step
def done(n: int) -> None:
    checked(n)


@step
def shown(values: Sequence[int | StepError]) -> str:
    return " ".join(map(str, values))


@step
def shown_one(value: int | StepError | None) -> str:
    return str(value)


@step
def kept(values: list[int | StepError]) -> list[int | StepError]:
    return values


@step
def total(values: list[int]) -> int:
    return sum(values)


@step
def incremented(n: int) -> int:
    return n + 1


@workflow
def doubles(numbers: list[int] = [1, 2, 3, 4, 5]) -> list[int | StepError]:  # noqa: B006 - never changed
    return double.map(numbers, errors="return", concurrency=1)


@workflow
def lists() -> list[list[int] | StepError]:
    return listed.map([1, 3], errors="return")


@workflow
def no_results() -> Any:
    return done.map([1, 3], errors="return")


@workflow
def without_annotation() -> Any:
    return double.map([1, 3], errors="return")


@workflow
def handed_on() -> str:
    return shown(double.map([1, 3, 4], errors="return"))


@workflow
def handed_through() -> list[int | StepError]:
    return kept(double.map([1, 3], errors="return"))


@workflow
def mapped_again() -> list[str]:
    return shown_one.map(double.map([1, 3], errors="return"))


@workflow
def not_evaluated() -> list[int | StepError]:
    with foreach([1, 0]) as n:
        found = double(1 // n)
    return collect(found, errors="return")


@workflow
def in_a_branch() -> list[int | StepError | None]:
    with foreach([1, 2, 3]) as n, when(n > 1):
        found = double(n)
    return collect(found, errors="return")


@workflow
def handled() -> list[Any]:
    with foreach([1, 3]) as n:
        found = double(n)
        following = incremented(found)
        with on_failure(found):
            told = shown_one(n)
    return [collect(found, errors="return"), collect(following), collect(told)]


@workflow
def needed_in_the_body() -> list[Any]:
    with foreach([1, 3]) as n:
        found = double(n)
        following = incremented(found)
    return [collect(found, errors="return"), collect(following)]


@workflow
def child(n: int) -> int:
    return double(n)


@workflow
def children() -> list[int | StepError]:
    return child.map([1, 3], errors="return")


@workflow
def nested() -> list[Any]:
    with foreach([1, 3]) as n:
        inner = double.map([n, 2], errors="return")
    return collect(inner)


def plain(value: Any) -> Any:
    """A result with its errors as texts that can be compared."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    return f"{value.step} {value}" if isinstance(value, StepError) else value


ODD = f"{OddError.__module__}.OddError"
RESULTS: list[tuple[Flow[..., Any], Any]] = [
    (
        doubles,
        [
            2,
            4,
            "doubles/1:double_map[3].double ValueError: three",
            f"doubles/1:double_map[4].double {ODD}",
            10,
        ],
    ),
    (lists, [[2], "lists/1:listed_map[2].listed ValueError: three"]),
    (no_results, [None, "no_results/1:done_map[2].done ValueError: three"]),
    (without_annotation, [2, "without_annotation/1:double_map[2].double ValueError: three"]),
    (handed_on, f"2 ValueError: three {ODD}"),
    (handed_through, [2, "handed_through/1:double_map[2].double ValueError: three"]),
    (mapped_again, ["2", "ValueError: three"]),
    (in_a_branch, [None, 4, "in_a_branch/1:foreach[3].double ValueError: three"]),
    (handled, [[2, "handled/1:foreach[2].double ValueError: three"], [3, None], [None, "3"]]),
    (
        needed_in_the_body,
        [[2, "needed_in_the_body/1:foreach[2].double ValueError: three"], [3, None]],
    ),
    (nested, [[2, 4], ["nested/1:foreach[2].double_map[1].double ValueError: three", 4]]),
]


@pytest.mark.parametrize(("flow", "value"), RESULTS, ids=[each[0].id for each in RESULTS])
def test_a_failed_item_is_an_error(flow: Flow[..., Any], value: Any) -> None:
    assert parse(flow.to_yaml()) == flow.definition
    with Harness() as harness:
        run = harness.start(flow)
        assert harness.finish(run) == "SUCCEEDED", [run.step(each).reason for each in run.steps]
        assert plain(run.result) == value


def test_what_can_not_be_evaluated_is_an_error() -> None:
    with Harness() as harness:
        run = harness.start(not_evaluated)
        assert harness.finish(run) == "SUCCEEDED"
        first, second = run.result
        assert first == 2
        assert (second.type_name, second.step) == ("StepFailed", "not_evaluated/1:foreach[2].double")
        assert "zero" in second.message


def test_a_failed_subworkflow_is_an_error() -> None:
    with Harness() as harness:
        run = harness.start(children)
        assert harness.finish(run) == "SUCCEEDED"
        first, second = run.result
        assert first == 2
        assert (second.type_name, second.step) == ("StepFailed", "children/1:child_map[2].child")


@step(timeout="1 minute", retries=1)
async def slow(seconds: int) -> int:
    await asyncio.sleep(seconds)
    return seconds


@workflow
def timed_out() -> list[int | StepError]:
    return slow.map([1, 100], errors="return")


def test_a_time_out_is_an_error() -> None:
    with Harness() as harness:
        run = harness.start(timed_out)
        assert harness.finish(run) == "SUCCEEDED"
        assert plain(run.result) == [1, "timed_out/1:slow_map[2].slow TimeoutError: timed out"]


def test_an_item_that_a_user_skips_is_none() -> None:
    with Harness() as harness:
        harness.holds("listed")
        run = harness.start(lists)
        for each in run.iterations("listed_map"):
            each.step("listed").skip()
        assert harness.finish(run) == "SUCCEEDED"
        assert run.result == [None, None]


# --------------------------------------------------------------------------------------- on an engine
@pytest.mark.parametrize("through_yaml", [False, True])
def test_the_program_gets_the_errors(through_yaml: bool) -> None:
    with Engine("memory").sync() as engine:
        engine.register(doubles)
        engine.register(handed_on)
        given: Any = parse(doubles.to_yaml()) if through_yaml else doubles
        found: Any = engine.submit(given, numbers=[1, 3]).result(30)
        assert found[0] == 2
        error = found[1]
        assert isinstance(error, StepError)
        assert (error.type_name, error.message, error.traceback) == ("ValueError", "three", "")
        assert error.step == "doubles/1:double_map[2].double"
        text: Any = engine.submit(parse(handed_on.to_yaml()) if through_yaml else handed_on).result(30)
        assert text == f"2 ValueError: three {ODD}"


def test_a_plain_call_returns_the_errors() -> None:
    assert plain(double.map([1, 3, 4], errors="return")) == [2, "double ValueError: three", f"double {ODD}"]


# --------------------------------------------------------------------------------------- the definition
def test_the_definition_is_an_ordinary_one() -> None:
    loop = doubles.definition.workflow.steps[0]
    assert isinstance(loop, ForeachStep)
    item, outcome = loop.steps
    assert (item.id, item.failure_mode) == ("double", "IGNORE_FAILURE")
    assert "getFromStep('double', 'STRETTO_STEP_ERROR')" in str((outcome.params or {})["result"].expression)


@step(failure_mode="FAIL_IMMEDIATELY")
def strict(n: int) -> int:
    return n


@workflow
def takes_numbers(values: list[int]) -> int:
    return total(values)


def refused(body: Any) -> str:
    body.__name__ = "refused"
    with pytest.raises(TraceError) as found:
        workflow(body).definition  # noqa: B018 - which traces it
    return str(found.value)


def another_word() -> Any:
    return double.map([1], errors="raise")


def another_word_in_collect() -> Any:
    with foreach([1]) as n:
        found = double(n)
    return collect(found, errors="skip")  # type: ignore[call-overload]


def no_step() -> Any:
    with foreach([1]) as n:
        found = double(n) + 1
    return collect(found, errors="return")


def two_modes() -> Any:
    return strict.map([1], errors="return")


def a_step_without_a_place() -> Any:
    return total(double.map([1], errors="return"))  # type: ignore[arg-type]


def a_workflow_without_a_place() -> Any:
    return takes_numbers(double.map([1], errors="return"))  # type: ignore[arg-type]


def mapped_without_a_place() -> Any:
    return incremented.map(double.map([1], errors="return"))


def returned_without_a_place() -> list[int]:
    return double.map([1], errors="return")  # type: ignore[return-value]


MESSAGES = [
    (another_word, "`errors` is 'raise'; write `errors=\"return\"`"),
    (another_word_in_collect, "`errors` is 'skip'; write `errors=\"return\"`"),
    (no_step, "needs the result of a step, not a value computed from it"),
    (two_modes, "its failure mode can not be FAIL_IMMEDIATELY"),
    (a_step_without_a_place, "`values` of `total` has no place for errors"),
    (a_workflow_without_a_place, "`values` of `takes_numbers` has no place for errors"),
    (mapped_without_a_place, "`n` of `incremented` has no place for errors"),
    (returned_without_a_place, "what the workflow returns has no place for errors"),
]


@pytest.mark.parametrize(("body", "message"), MESSAGES, ids=[each[0].__name__ for each in MESSAGES])
def test_what_makes_no_sense_is_refused(body: Any, message: str) -> None:
    assert message in refused(body)


def test_another_word_is_refused_in_a_plain_call() -> None:
    with pytest.raises(TraceError, match="`errors` is 'raise'"):
        double.map([1], errors="raise")


@workflow
def errors_of(n: int) -> list[int | StepError]:
    return double.map([n, 3], errors="return")


@step
def counted(values: list[list[int | StepError]]) -> int:
    return sum(isinstance(each, StepError) for row in values for each in row)


@workflow
def counted_below() -> int:
    return counted(errors_of.map([1, 2]))


@workflow
def in_nested_loops() -> list[list[int | StepError]]:
    with foreach([1, 2]):
        with foreach([1, 3]) as n:
            found = double(n)
        row = collect(found, errors="return")
    return collect(row)


@workflow
def counted_in_loops() -> int:
    with foreach([1, 2]) as n:
        row = double.map([n, 3], errors="return")
    return counted(collect(row))


@pytest.mark.parametrize("flow", [counted_below, counted_in_loops])
def test_a_step_reads_errors_in_lists_of_lists(flow: Flow[..., int]) -> None:
    with Harness() as harness:
        run = harness.start(flow)
        assert harness.finish(run) == "SUCCEEDED"
        assert run.result == 2


def test_a_program_reads_errors_in_lists_of_lists() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            rows = await engine.run(in_nested_loops)
            assert [[str(each) for each in row] for row in rows] == [["2", "ValueError: three"]] * 2

    asyncio.run(work())
