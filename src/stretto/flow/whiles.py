"""Loops with a condition: `with loop_while(lambda v: v.i < 10, i=0) as v:`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from stretto.flow.convert import setting, value_in
from stretto.flow.errors import TraceError
from stretto.flow.leaves import LoopValue, Output
from stretto.flow.loops import refuse_empty
from stretto.flow.nodes import LoopNode, idle
from stretto.flow.operators import condition
from stretto.flow.places import here
from stretto.flow.refs import Ref
from stretto.flow.trace import Trace, Value, required
from stretto.model.step import WhileStep
from stretto.runtimes.python.values import JSON_TEXT, kind_of


@dataclass
class _State:
    """The variables of a while: as each pass begins, and as this one has set them."""

    loop: LoopNode
    first: dict[str, Value] = field(default_factory=dict)
    set: dict[str, Any] = field(default_factory=dict)
    is_open: bool = True

    def known(self, name: str) -> Value:
        if name in self.first:
            return self.first[name]
        known = ", ".join(f"`{each}`" for each in self.first) or "none"
        raise TraceError(
            f"the loop has no variable `{name}`, only {known}", f"begin with `loop_while(..., {name}=...)`"
        )

    def last(self, name: str) -> Value:
        """A variable as the loop leaves it."""
        value = self.first[name]
        assert isinstance(value.expression, LoopValue)  # noqa: S101 - that is how each pass reads it
        leaf = Output(self.loop, value.expression.name, value.kind.type)
        return Value(value.trace, leaf, value.kind, value.annotation, value.label)


class Variables:
    """`v.i` is what the last pass left in `i`, or what this one has set already; behind the loop, its end."""

    __slots__ = ("_state",)
    _state: _State

    def __init__(self, state: _State) -> None:
        object.__setattr__(self, "_state", state)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        state = self._state
        value = state.known(name)
        if not state.is_open:
            return Ref(state.last(name))
        return state.set.get(name) if name in state.set else Ref(value)

    def __setattr__(self, name: str, given: Any) -> None:
        state = self._state
        value = state.known(name)
        if not state.is_open:
            raise TraceError(f"{value.label} is set after the loop", "set it in the body")
        state.set[name] = given


@contextmanager
def loop_while(
    condition_of: Callable[[Any], Any],
    *,
    id: str | None = None,  # noqa: A002 - the name that steps have it under
    max_iterations: int | None = None,
    **variables: Any,
) -> Iterator[Any]:
    """Let what is called inside run again and again.

    The condition is a function of the variables, looked at before each pass: `lambda v: v.i < 10`. A variable
    that is set in the body has that value in the next pass.
    """
    trace, place = required("loop_while"), here()
    loop = LoopNode(trace.step_id(id or "loop", place, exact=id is not None), trace.region, WhileStep, place)
    if max_iterations is not None:
        loop.fields["max_iterations"] = max_iterations
    state = _State(loop)
    for name, first in variables.items():
        _declare(trace, state, name, first)
    trace.add(loop)
    v = Variables(state)
    with trace.inside(loop.body.root):
        asked = value_in(condition_of(v))
        if loop.body.nodes:
            raise TraceError(
                f"the condition of the loop calls the step `{loop.body.nodes[0].id}`",
                "call it in the body, and carry what it returns in a variable",
            )
        if asked is None:
            raise TraceError(
                "the condition of the loop does not depend on anything that changes",
                "write a function of the variables: `lambda v: v.i < 10`",
            )
        loop.condition = condition(trace.check(asked), "the condition of the loop")
        yield v
        refuse_empty(loop)
        _carry(trace, state)
    state.is_open = False


def _declare(trace: Trace, state: _State, name: str, first: Any) -> None:
    """A variable with its first value. A while carries single values: lists and objects travel as JSON."""
    value, loop = value_in(first), state.loop
    kind, annotation = (value.kind, value.annotation) if value else (kind_of(type(first)), type(first))
    if kind.type.is_array or kind.json:
        kind, annotation = JSON_TEXT, annotation if value else Any
    real = trace.name(name)
    loop.values[real] = setting(trace, first, kind, name)
    leaf = LoopValue(loop, real, kind.type)
    state.first[name] = Value(trace, leaf, kind, annotation, f"`{name}` of `{loop.id}`")


def _carry(trace: Trace, state: _State) -> None:
    """The last step of a body holds what the next pass begins with.

    The engine takes the parameter of that name from the step that began last, and arguments of other steps
    may have the same names.
    """
    loop = state.loop
    if not state.first:
        return
    node = idle(trace.step_id(f"{loop.id}_next", loop.place), trace.region, loop.place)
    for (name, value), real in zip(state.first.items(), loop.values, strict=True):
        given = state.set[name] if name in state.set else Ref(value)
        node.params[real] = setting(trace, given, value.kind, name)
    node.after += [(each, False) for each in loop.body.nodes]
    trace.add(node)
