# ruff: noqa: ARG001
"""`try`, `finally` and `suppress` around calls of steps are refused; around anything else they are not."""
# mypy: disable-error-code="attr-defined"

import contextlib
import linecache
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from stretto.flow import Flow, TraceError, foreach, on_failure, sleep, step, wait, when, workflow

EXCEPT = "is called in a `try`, and `except` never sees what the step raises"
FINALLY = "is called in a `try` with `finally`, which is over before the step runs"
SUPPRESS = r"is called in `with suppress\(...\)`, which is over before the step runs"


@step
def work(n: int) -> int:
    return n


@step
def clean() -> None: ...


@workflow
def caught(n: int) -> None:
    try:
        work(n)
    except ValueError:
        clean()


@workflow
def caught_in_a_comprehension(n: int) -> list[int]:
    try:
        return [work(each) for each in (n, n + 1)]
    except ValueError:
        return []


@workflow
def caught_in_a_loop(n: int) -> None:
    for each in range(2):
        if each:
            try:
                work.map([each, n])
            except ValueError:
                clean()


@workflow
def caught_deeper(n: int) -> None:
    try:
        with when(n > 1):
            wait(id="ask")
    except ValueError:
        clean()


@workflow
def caught_in_a_match(n: int) -> None:
    match [1]:
        case [_]:
            try:
                sleep(1)
            except* ValueError:
                clean()
        case _:
            pass


@workflow
def caught_in_a_handler(n: int) -> None:
    try:
        raise ValueError
    except ValueError:
        try:
            work(n)
        except KeyError:
            clean()


def helper(n: int) -> int:
    try:
        return work(n)
    except ValueError:
        return 0


@workflow
def caught_by_a_helper(n: int) -> int:
    return helper(n)


@workflow
def child(n: int) -> int:
    return work(n)


@workflow
def caught_around_a_workflow(n: int) -> int:
    try:
        return child(n)
    except ValueError:
        return 0


@workflow
def cleaned(n: int) -> None:
    try:
        work(n)
    finally:
        clean()


@workflow
def suppressed(n: int) -> None:
    with suppress(ValueError):
        work(n)


@workflow
def suppressed_by_another_name(n: int) -> None:
    with nullcontext(), contextlib.suppress(ValueError):
        work(n)


@pytest.mark.parametrize(
    ("flow", "said"),
    [
        (caught, f"test_try_blocks.py:32: `work` {EXCEPT}"),
        (caught_in_a_comprehension, f"`work` {EXCEPT}"),
        (caught_in_a_loop, f"`work_map` {EXCEPT}"),
        (caught_deeper, f"`ask` {EXCEPT}"),
        (caught_in_a_match, f"`sleep` {EXCEPT}"),
        (caught_in_a_handler, f"`work` {EXCEPT}"),
        (caught_by_a_helper, f"`work` {EXCEPT}"),
        (caught_around_a_workflow, f"`child` {EXCEPT}"),
        (cleaned, f"`work` {FINALLY}"),
        (suppressed, f"`work` {SUPPRESS}"),
        (suppressed_by_another_name, f"`work` {SUPPRESS}"),
    ],
    ids=lambda each: each.id if isinstance(each, Flow) else "",
)
def test_a_step_in_a_try_is_refused(flow: Flow[..., Any], said: str) -> None:
    with pytest.raises(TraceError, match=said):
        _ = flow.definition


try:
    import no_such_module  # type: ignore[import-not-found]
except ImportError:
    no_such_module = None

try:

    @workflow
    def made_in_a_try(n: int) -> int:
        return work(n)

finally:
    NUMBERS = (1, 2)


@workflow
def around_other_things(n: int) -> int:
    try:
        first = int("no number")
    except ValueError:
        first = work(n)
    else:
        clean()
    with nullcontext(), Path(__file__).open():
        second = work(n)

    def inner() -> int:
        try:
            return 0
        finally:
            NUMBERS.count(1)

    inner()
    with foreach(NUMBERS) as number:
        work(number)
    with on_failure(second):
        clean()
    return first


def test_a_try_around_anything_else_is_fine() -> None:
    assert made_in_a_try.definition.workflow.steps[0].id == "work"
    assert len(around_other_things.definition.workflow.steps) == 4


def test_whoever_traces_may_catch_what_is_wrong() -> None:
    try:
        _ = made_in_a_try.definition
    except TraceError:
        pytest.fail("it is not in the workflow")


def test_a_source_that_is_not_python_any_more_says_nothing() -> None:
    name = "<changed source>"
    text = "def changed(n):\n    try:\n        work(n)\n    except ValueError: pass\n"
    variables: dict[str, Any] = {"work": work, "__name__": "changed"}
    exec(compile(text, name, "exec"), variables)  # noqa: S102 - a file that changes after its import
    linecache.cache[name] = (1, None, ["try: (\n"], name)
    assert workflow(variables["changed"]).definition.workflow.steps[0].id == "work"
