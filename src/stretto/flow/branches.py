"""Branches: `when`, `otherwise`, `switch` and `on_failure`."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, TypeVar

from stretto.definition.forms.outcomes import failed_condition
from stretto.flow.convert import value_in
from stretto.flow.errors import TraceError
from stretto.flow.expressions import Expression, Joined, all_of, negated
from stretto.flow.nodes import Fork
from stretto.flow.operators import compare, condition
from stretto.flow.order import ignore_failure, node_of
from stretto.flow.places import here
from stretto.flow.trace import Trace, Value, required

T = TypeVar("T")
MISSING: Final[Any] = object()


def _condition(trace: Trace, given: Any, what: str) -> Expression:
    value = value_in(given)
    if value is None:
        raise TraceError(
            f"the condition of `{what}` is {given!r}, which is known already",
            "write a plain `if`, or compare with what a step returned",
        )
    return condition(trace.check(value), value.label)


def _fork(trace: Trace, name: str) -> Fork:
    fork = Fork(trace.region, name, here())
    trace.region.level.forks.append(fork)
    return fork


@contextmanager
def when(asked: bool) -> Iterator[None]:
    """Let what is called inside run only if the condition holds."""
    trace = required("when")
    made = _condition(trace, asked, "when")
    fork = _fork(trace, "when")
    around = trace.region
    with trace.inside(fork.add(made)):
        yield
    around.recent = fork


@contextmanager
def otherwise(asked: bool | None = None) -> Iterator[None]:
    """Let what is called inside run only if the `when` before it did not, and this condition holds."""
    trace = required("otherwise")
    fork = trace.region.recent
    if fork is None:
        raise TraceError("`otherwise` does not follow a `when`", "write it right behind `with when(...):`")
    others: list[Expression] = [negated(each) for each in fork.conditions]
    if asked is not None:
        others.append(_condition(trace, asked, "otherwise"))
    around = trace.region
    with trace.inside(fork.add(all_of(others))):
        yield
    around.recent = fork if asked is not None else None


class Switch:
    """The cases of a `switch`."""

    def __init__(self, trace: Trace, fork: Fork, value: Value) -> None:
        self._trace = trace
        self._fork = fork
        self._value = value
        self._taken: list[Expression] = []
        self._ended = False

    def __call__(self, *values: Any) -> AbstractContextManager[None]:
        """What is called inside runs only if the value is one of these."""
        if not values:
            raise TraceError("a case needs a value", "write `case(value)`, or `case.default()`")
        self._refuse_more()
        tests = [compare(self._value, "==", each).expression for each in values]
        wanted = negated(all_of([negated(each) for each in tests])) if len(tests) > 1 else tests[0]
        before = [negated(each) for each in self._taken]
        self._taken.append(wanted)
        return self._case(all_of([*before, wanted]))

    def default(self) -> AbstractContextManager[None]:
        """What is called inside runs only if no case did."""
        self._refuse_more()
        if not self._taken:
            raise TraceError("`default` is the only case", "write a `case(value)` before it")
        self._ended = True
        return self._case(all_of([negated(each) for each in self._taken]))

    def _refuse_more(self) -> None:
        if self._ended:
            raise TraceError("a case follows `default`, where it never runs", "write `default` last")

    @contextmanager
    def _case(self, made: Expression) -> Iterator[None]:
        if self._trace.region is not self._fork.region:
            raise TraceError("a case stands inside of another case", "end the other one first")
        with self._trace.inside(self._fork.add(made)):
            yield


@contextmanager
def switch(value: object) -> Iterator[Switch]:
    """Branch by value: inside come `with case("a"):`, `with case("b", "c"):` and `with case.default():`."""
    trace = required("switch")
    found = value_in(value)
    if found is None:
        raise TraceError(
            f"`switch` is given {value!r}, which is known already",
            "write a plain `if`, or give what a step returned",
        )
    yield Switch(trace, _fork(trace, "switch"), trace.check(found))


@contextmanager
def on_failure(step: object) -> Iterator[None]:
    """Let what is called inside run only if the step fails for good. The run does not fail because of it."""
    trace = required("on_failure")
    node = node_of(step, "`on_failure(...)`")
    if node.region is not trace.region:
        raise TraceError(
            f"`{node.id}` is in another branch or loop than its `on_failure`",
            "write `on_failure` beside the step",
        )
    ignore_failure(node)
    fork = _fork(trace, "on_failure")
    fork.failed = node
    with trace.inside(fork.add(Joined((failed_condition(node.id),)))):
        yield
