"""Steps that a function adds while it runs."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Protocol, runtime_checkable

import msgspec

from stretto.model.condition import Condition
from stretto.model.errors import InvalidRequest
from stretto.model.param import RESULT, ParamDefinition, Params
from stretto.model.step import AnyStep, StepFields, Transition, TypedStep
from stretto.model.suggest import did_you_mean
from stretto.runtimes.python.function import Function
from stretto.runtimes.python.own_params import FUNCTION, TYPE, named, taken_names
from stretto.runtimes.python.registry import as_function
from stretto.runtimes.python.storable import check_storable
from stretto.runtimes.python.values import empty, literal


@runtime_checkable
class Addable(Protocol):
    """What knows better than we do how it becomes a step: retries, timeout, tags."""

    def as_step(self, step_id: str, params: Mapping[str, Any]) -> AnyStep:
        """The step with these arguments."""
        ...


def step_of(function: Function, step_id: str, values: Mapping[str, Any]) -> TypedStep:
    """A step whose work is a function, all of whose arguments are known."""
    return TypedStep(id=step_id, type=TYPE, params=params_of(function, values))


def params_of(function: Function, values: Mapping[str, Any]) -> Params:
    """The parameters of a step that calls a function with these arguments. Raises InvalidRequest."""
    check_storable(function, function.name)
    known = {each.name: each for each in function.values}
    for name in values:
        if name not in known:
            hint = did_you_mean(name, known) or f"it takes: {', '.join(known) or 'nothing'}"
            raise InvalidRequest(f"`{function.name}` has no argument `{name}`: {hint}")
    missing = [f"`{each.name}`" for each in known.values() if not (each.name in values or each.has_default)]
    if missing:
        raise InvalidRequest(f"`{function.name}` needs {', '.join(missing)}")
    taken = taken_names(function)
    if taken:
        raise InvalidRequest(
            f"`{taken[0]}` of `{function.name}` has a meaning of its own: choose another name"
        )
    params: Params = {FUNCTION: named(function.name)}
    for name, value in values.items():
        params[name] = literal(value, known[name].kind, name)
    if function.kind is not None:
        kind = function.kind
        params[RESULT] = ParamDefinition(type=kind.type, value=empty(kind), meta=kind.meta)
    return params


class SubSteps:
    """What a function has added so far. They run once it has ended, and its step ends after them."""

    def __init__(self, parent: str) -> None:
        self._parent = parent
        self._steps: dict[str, AnyStep] = {}

    def add(self, step: Any, params: Mapping[str, Any], step_id: str | None, after: Sequence[str]) -> str:
        """Add one; its id. Raises InvalidRequest."""
        made = self._made(step, params, step_id)
        if made.id in self._steps:
            raise InvalidRequest(f"a sub-step `{made.id}` is added already: give this one another id")
        unknown = [each for each in after if each not in self._steps]
        if unknown:
            raise InvalidRequest(f"`{made.id}` can not run after `{unknown[0]}`: no such sub-step was added")
        for each in after:
            before = self._steps[each]
            edges = {**before.transition.successors, made.id: Condition("true")}
            self._steps[each] = msgspec.structs.replace(before, transition=Transition(successors=edges))
        self._steps[made.id] = made
        return made.id

    def all(self) -> tuple[AnyStep, ...]:
        return tuple(self._steps.values())

    def _made(self, step: Any, params: Mapping[str, Any], step_id: str | None) -> AnyStep:
        if isinstance(step, StepFields):
            return msgspec.structs.replace(step, id=step_id or step.id)  # type: ignore[return-value]
        if isinstance(step, Addable):
            return step.as_step(step_id or self._free(getattr(step, "function", step)), params)
        function = as_function(step)
        return step_of(function, step_id or self._free(function), params)

    def _free(self, named: Any) -> str:
        """An id that nothing has that was added here: of the parent, of the function, and a number."""
        name = str(getattr(named, "qualname", type(named).__name__)).rpartition(".")[2]
        base = f"{self._parent}_{name}"
        return next(each for n in count(1) if (each := base if n == 1 else f"{base}_{n}") not in self._steps)
