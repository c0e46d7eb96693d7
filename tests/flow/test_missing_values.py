"""A value that is missing is None, never a default that somebody made up."""

from collections.abc import Sequence
from typing import Any

import pytest

from stretto.definition import parse
from stretto.flow import (
    Flow,
    collect,
    either,
    foreach,
    on_failure,
    otherwise,
    sleep,
    step,
    switch,
    text,
    wait,
    when,
    workflow,
)
from stretto.testing.harness import Harness


@step(failure_mode="IGNORE_FAILURE", retries=0)
def optional(n: int) -> int:
    return doubled(n)


@step(retries=0)
def needed(n: int) -> int:
    return doubled(n)


@step(failure_mode="IGNORE_FAILURE", retries=0)
def flagged(n: int) -> bool:
    return doubled(n) > 0


@step(failure_mode="IGNORE_FAILURE", retries=0)
def halved(n: int) -> float:
    return doubled(n) / 4


@step(failure_mode="IGNORE_FAILURE", retries=0)
def named(n: int) -> str:
    return str(doubled(n))


@step(failure_mode="IGNORE_FAILURE", retries=0)
def described(n: int) -> dict[str, int]:
    return {"n": doubled(n)}


def doubled(n: int) -> int:
    if n == 3:
        message = "three"
        raise ValueError(message)
    return 2 * n


@step
def shown(value: int | None) -> str:
    return repr(value)


@step
def all_shown(values: Sequence[int | None]) -> str:
    return repr(values)


@step
def total(values: list[int]) -> int:
    return sum(values)


@workflow
def ignored_items() -> list[int]:
    return optional.map([1, 2, 3, 4])


@workflow
def handled_items() -> list[int]:
    with foreach([1, 2, 3, 4]) as n:
        found = needed(n)
        with on_failure(found):
            sleep(0)
    return collect(found)


@workflow
def flags() -> list[bool]:
    return flagged.map([1, 3])


@workflow
def halves() -> list[float]:
    return halved.map([1, 3])


@workflow
def names() -> list[str]:
    return named.map([1, 3])


@workflow
def objects() -> list[dict[str, int]]:
    return described.map([1, 3])


@workflow
def all_fail() -> list[int]:
    return optional.map([3, 3])


@workflow
def none_is_evaluated() -> list[int]:
    with foreach([1, 2]) as n:
        found = optional(n // (n - n))
    return collect(found)


@workflow
def handed_on() -> str:
    return all_shown(optional.map([1, 2, 3, 4]))


@workflow
def mapped_again() -> list[int]:
    return optional.map(optional.map([1, 3, 4]))


@workflow
def one() -> int:
    return optional(3)


@workflow
def one_handed_on() -> str:
    return shown(optional(3))


@workflow
def in_an_object() -> dict[str, int]:
    return {"a": optional(3), "b": optional(4)}


@workflow
def not_evaluated(n: int) -> str:
    return shown(optional(1 // n))


@workflow
def listed() -> list[int]:
    return [optional(1), optional(3)]


@workflow
def listed_texts() -> list[str]:
    return [named(1), named(3)]


@workflow
def listed_flags() -> list[bool]:
    return [flagged(1), flagged(3)]


@workflow
def listed_failures() -> list[int]:
    return [optional(3), optional(3)]


@workflow
def only_some() -> list[int]:
    with foreach([1, 2]) as n, when(n > 1):
        found = needed(n)
    return collect(found)


@workflow
def only_some_texts() -> list[str]:
    with foreach([1, 2]) as n, when(n > 1):
        found = named(n)
    return collect(found)


@workflow
def some_handed_on() -> str:
    with foreach([1, 2]) as n, when(n > 1):
        found = needed(n)
    return all_shown(collect(found))


RESULTS: list[tuple[Flow[..., Any], dict[str, Any], Any]] = [
    (ignored_items, {}, [2, 4, None, 8]),
    (handled_items, {}, [2, 4, None, 8]),
    (flags, {}, [True, None]),
    (halves, {}, [0.5, None]),
    (names, {}, ["2", None]),
    (objects, {}, [{"n": 2}, None]),
    (all_fail, {}, [None, None]),
    (none_is_evaluated, {}, [None, None]),
    (handed_on, {}, "[2, 4, None, 8]"),
    (mapped_again, {}, [4, None, 16]),
    (one, {}, None),
    (one_handed_on, {}, "None"),
    (in_an_object, {}, {"a": None, "b": 8}),
    (not_evaluated, {"n": 0}, "None"),
    (listed, {}, [2, None]),
    (listed_texts, {}, ["2", None]),
    (listed_flags, {}, [True, None]),
    (listed_failures, {}, [None, None]),
    (only_some, {}, [None, 4]),
    (only_some_texts, {}, [None, "4"]),
    (some_handed_on, {}, "[None, 4]"),
]


@pytest.mark.parametrize(("flow", "params", "value"), RESULTS, ids=[each[0].id for each in RESULTS])
def test_what_failed_is_none(flow: Flow[..., Any], params: dict[str, Any], value: Any) -> None:
    assert parse(flow.to_yaml()) == flow.definition
    with Harness() as harness:
        run = harness.start(flow, **params)
        assert harness.finish(run) == "SUCCEEDED", [run.step(each).reason for each in run.steps]
        assert run.result == value


@workflow
def too_strict() -> int:
    return total(optional.map([1, 3]))


def test_a_step_that_does_not_expect_none_fails_and_says_so() -> None:
    with Harness() as harness:
        run = harness.start(too_strict)
        assert harness.finish(run) == "FAILED"
        assert "no value" in str(run.step("total").reason)
        assert "Sequence[int | None]" in str(run.step("total").reason)


@step
def texts_shown(values: list[str]) -> str:
    return repr(values)


@workflow
def no_texts() -> str:
    return texts_shown([named(1), needed(1)])  # type: ignore[list-item]  # which not everybody checks


@workflow
def returned_no_texts() -> list[str]:
    return [named(1), needed(1)]  # type: ignore[list-item]


@pytest.mark.parametrize(("flow", "where"), [(no_texts, "texts_shown"), (returned_no_texts, "return")])
def test_a_list_of_texts_with_a_number_in_it_is_refused(flow: Flow[..., Any], where: str) -> None:
    """Not handed on as a list of JSON texts, with quotes around what was a text."""
    with Harness() as harness:
        run = harness.start(flow)
        assert harness.finish(run) == "FAILED"
        assert "a text was expected at position 1" in str(run.step(where).reason)


@workflow
def skipped() -> str:
    gate = sleep(60)
    return shown(needed.after(gate)(1))


def test_the_result_of_a_step_that_a_user_skips_is_none() -> None:
    with Harness() as harness:
        harness.holds("needed")
        run = harness.start(skipped)
        harness.advance(seconds=61)
        run.step("needed").skip()
        assert harness.finish(run) == "SUCCEEDED"
        assert run.result == "None"


@workflow
def skipped_choice() -> int:
    return either(needed(1), default=-1)


def test_a_step_that_is_skipped_is_not_chosen() -> None:
    with Harness() as harness:
        harness.holds("needed")
        run = harness.start(skipped_choice)
        run.step("needed").skip()
        assert harness.finish(run) == "SUCCEEDED"
        assert run.result == -1


@workflow
def not_taken(n: int) -> list[Any]:
    with when(n > 5):
        found = needed(n)
    with foreach([1, 2]) as m, when(m > 1):
        inner = needed(m)
    return [either(found, default=0), collect(inner)]


def test_a_branch_that_is_not_taken_leaves_none() -> None:
    with Harness() as harness:
        run = harness.start(not_taken, n=1)
        assert harness.finish(run) == "SUCCEEDED"
        assert run.result == [0, [None, 4]]


@workflow
def answered() -> str:
    return shown(wait(id="question", returns=int))


@pytest.mark.parametrize(("outputs", "value"), [({"result": 7}, "7"), ({}, "None")])
def test_an_answer_that_brings_nothing_is_none(outputs: dict[str, Any], value: str) -> None:
    with Harness() as harness:
        run = harness.start(answered)
        run.step("question").answer(**outputs)
        assert harness.finish(run) == "SUCCEEDED"
        assert run.result == value


# ------------------------------------------------------------------------------ conditions and computations
@step
def said(text: str) -> str:
    return text


@step
def kept(value: Any) -> Any:
    return value


@workflow
def equal_to_zero() -> str:
    found = optional(3)
    with when(found == 0):
        zero = said("zero")
    with otherwise():
        other = said("other")
    return either(zero, other)


@workflow
def equal_to_none() -> str:
    found = optional(3)
    with when(found == None):  # noqa: E711 - it is traced
        none = said("none")
    with otherwise():
        other = said("other")
    return either(none, other)


@workflow
def switched() -> str:
    found = named(3)
    with switch(found) as case:
        with case(""):
            empty = said("empty")
        with case.default():
            other = said("other")
    return either(empty, other)


@workflow
def each_compared() -> list[str]:
    with foreach([1, 3]) as n:
        found = flagged(n)
        with when(found == False):  # noqa: E712 - it is traced
            no = said("no")
        with otherwise():
            other = said("other")
        one = either(no, other)
    return collect(one)


@pytest.mark.parametrize(
    ("flow", "value"),
    [
        (equal_to_zero, "other"),
        (equal_to_none, "none"),
        (switched, "other"),
        (each_compared, ["other", "other"]),
    ],
)
def test_conditions_on_a_missing_value_read_none(flow: Flow[..., Any], value: Any) -> None:
    with Harness() as harness:
        run = harness.start(flow)
        assert (harness.finish(run), run.result) == ("SUCCEEDED", value)


@workflow
def plus() -> Any:
    return kept(optional(3) + 1)


@workflow
def both_missing() -> Any:
    return kept(optional(3) + optional(3))


@workflow
def joined() -> Any:
    return kept("x" + named(3))


@workflow
def plus_fraction() -> Any:
    return kept(halved(3) + 1.5)


@workflow
def greater() -> Any:
    return kept(optional(3) > 0)


@workflow
def less_than_it() -> Any:
    return kept(2 < halved(3))  # noqa: SIM300 - it is traced


@pytest.mark.parametrize("flow", [plus, both_missing, joined, plus_fraction, greater, less_than_it])
def test_nothing_is_computed_with_a_missing_value(flow: Flow[..., Any]) -> None:
    with Harness() as harness:
        run = harness.start(flow)
        assert harness.finish(run) == "FAILED"
        reason = str(run.step("kept").reason)
        assert "a value is missing in `" in reason
        assert "__result]" in reason


@workflow
def in_a_text() -> str:
    return said(text("n: ", optional(3), ", ", optional(4), ", ", named(3)))


def test_a_missing_value_in_a_text_is_shown_as_python_shows_it() -> None:
    with Harness() as harness:
        run = harness.start(in_a_text)
        assert harness.finish(run) == "SUCCEEDED"
        assert run.result == "n: None, 8, None"
