# ruff: noqa: ARG001
"""`try`, `finally` and `suppress` around calls of steps are refused; around anything else they are not."""
# mypy: disable-error-code="attr-defined"

import contextlib
import functools
import linecache
from collections.abc import Callable
from contextlib import ExitStack, nullcontext, suppress
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
        (caught, f"test_try_blocks.py:34: `work` {EXCEPT}"),
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


# ------------------------------------------------------------------------------------------- without a source
CHANGED = """
def caught(n):
    try:
        return work(n)
    except ValueError:
        pass

def caught_deeper(n):
    try:
        with nullcontext(), nullcontext():
            for each in (1, 2):
                work(each)
    finally:
        n = 0

def beside(n):
    try:
        n = 1
    except ValueError as error:
        n = 2
    else:
        with nullcontext():
            work(n)
    return [work(each) for each in (1, 2)]

def handling(n):
    try:
        raise ValueError
    except ValueError as error:
        work(n)
"""


@pytest.mark.parametrize(
    "lines", [[], ["try: (\n"], ["def other(): ...\n"]], ids=["none", "no-python", "other"]
)
@pytest.mark.parametrize(
    ("name", "refused"), [("caught", True), ("caught_deeper", True), ("beside", False), ("handling", False)]
)
def test_without_its_source_the_compiled_code_says_where_a_try_is(
    name: str, refused: bool, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = "<changed source>"
    variables: dict[str, Any] = {"work": work, "nullcontext": nullcontext, "__name__": "changed"}
    exec(compile(CHANGED, file, "exec"), variables)  # noqa: S102 - a file that changes after its import
    monkeypatch.setitem(linecache.cache, file, (1, None, lines, file))
    made = workflow(variables[name])
    if refused:
        with pytest.raises(
            TraceError, match="`work` is called in a `try`, which is over before the step runs"
        ):
            _ = made.definition
    else:
        assert made.definition.workflow.steps


# ----------------------------------------------------------------------- handlers that swallow what is said
def forgiving(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(n: int) -> Any:
        for _ in range(3):
            try:
                return function(n)
            except Exception:  # noqa: BLE001, S112
                continue
        return None

    return called


class Swallowing:
    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> bool:
        return True


@workflow
def swallowed(n: int) -> int:
    try:
        return work(n)
    except Exception:  # noqa: BLE001
        return work(n + 1)


@workflow
def swallowed_with_all_others(n: int) -> int:
    try:
        return work(n)
    except BaseException:  # noqa: BLE001
        return 0


@workflow
def returned_over(n: int) -> int:
    try:
        work(n)
    finally:
        return 5  # noqa: B012


@workflow
@forgiving
def tried_again(n: int) -> int:
    return work(n)


@workflow
def tried_again_by_a_helper(n: int) -> int:
    made: int = forgiving(work)(n)
    return made


@workflow
def swallowed_by_suppress(n: int) -> None:
    with suppress(Exception):
        work(n)


@workflow
def swallowed_by_a_suppress_made_before(n: int) -> None:
    manager = suppress(ValueError)
    with manager:
        work(n)


@workflow
def swallowed_and_then_another_error(n: int) -> int:
    try:
        found = work(n)
    except Exception:  # noqa: BLE001
        clean()
    return found  # type: ignore[possibly-undefined]


@workflow
def cleaned_after_another_branch(n: int) -> None:
    try:
        n = 1
    except ValueError:
        pass
    else:
        work(n)
    finally:
        n = 2


@workflow
def cleaned_after_a_handler(n: int) -> None:
    try:
        raise ValueError
    except ValueError:
        work(n)
    finally:
        n = 2


@workflow
def branching_in_a_swallowing_manager(n: int) -> None:
    with Swallowing():
        if work(n) > 3:
            clean()


@workflow
def branching_in_a_stack(n: int) -> None:
    with ExitStack() as stack:
        stack.enter_context(suppress(Exception))
        for _ in work(n):
            clean()


@workflow
def formatted(n: int) -> str:
    found = work(n)
    try:
        return f"{found}"
    except Exception:  # noqa: BLE001
        return "?"


@workflow
def misspelt(n: int) -> str:
    with ExitStack() as stack:
        stack.push(Swallowing())
        work(m=n)  # type: ignore[call-arg]
    return "?"


@workflow
def wrong_inside(n: int) -> None:
    for _ in work(n):
        clean()


@workflow
def around_a_wrong_workflow(n: int) -> None:
    with Swallowing():
        wrong_inside(n)


@pytest.mark.parametrize(
    ("flow", "said"),
    [
        (swallowed, EXCEPT),
        (swallowed_with_all_others, EXCEPT),
        (returned_over, FINALLY),
        (tried_again, EXCEPT),
        (tried_again_by_a_helper, EXCEPT),
        (swallowed_by_suppress, SUPPRESS),
        (swallowed_by_a_suppress_made_before, SUPPRESS),
        (swallowed_and_then_another_error, EXCEPT),
        (cleaned_after_another_branch, FINALLY),
        (cleaned_after_a_handler, FINALLY),
        (branching_in_a_swallowing_manager, "Python can not branch on it"),
        (branching_in_a_stack, "its elements can not be gone through"),
        (formatted, "is not known while the workflow is traced"),
        (misspelt, "`work` has no argument `m`"),
        (around_a_wrong_workflow, "its elements can not be gone through"),
    ],
    ids=lambda each: each.id if isinstance(each, Flow) else "",
)
def test_what_is_wrong_is_said_whoever_swallows_it(flow: Flow[..., Any], said: str) -> None:
    for _ in range(2):
        with pytest.raises(TraceError, match=said):
            _ = flow.definition


def test_a_mistake_in_one_workflow_is_not_held_against_another() -> None:
    with pytest.raises(TraceError):
        _ = swallowed.definition
    with suppress(TraceError):
        _ = Flow(misspelt.fn, {"id": "again"}).definition
    assert made_in_a_try.definition.workflow.steps[0].id == "work"
