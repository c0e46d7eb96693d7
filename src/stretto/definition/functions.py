"""The functions that the steps of a definition call by name, as far as the definition says it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from stretto.definition.forms.task_engine import ARGUMENTS, CHECKED, FUNCTION_TYPE, OWN_PARAMS
from stretto.model.param import RESULT, ParamDefinition
from stretto.model.step import AnyStep, ForeachStep, TypedStep, WhileStep
from stretto.model.suggest import did_you_mean
from stretto.params.references import references_of

FUNCTION: Final = "function"
ENTRYPOINT: Final = "entrypoint"
CALLBACKS: Final = "callbacks"
CACHED_AND_UNDONE: Final = "a result that is undone must not be handed out from the cache"
REMOVE_ONE: Final = "remove `cache`, or the compensation"
NO_ARGUMENTS: Final = frozenset({*OWN_PARAMS, ENTRYPOINT, RESULT})


def functions_in(steps: Iterable[AnyStep]) -> dict[str, str]:
    """Each function with the id of the first step that calls it: those of steps, and their handlers. A name
    that only a run can evaluate is left out.
    """
    found: dict[str, str] = {}
    for step in all_steps(steps):
        if isinstance(step, TypedStep) and step.type.casefold() == FUNCTION_TYPE.casefold():
            for name in _named(step.params or {}):
                found.setdefault(name, step.id)
    return found


def all_steps(steps: Iterable[AnyStep]) -> Iterator[AnyStep]:
    """Steps, and those inside of loops."""
    for step in steps:
        yield step
        if isinstance(step, ForeachStep | WhileStep):
            yield from all_steps(step.steps)


def steps_by_id(steps: Iterable[AnyStep]) -> dict[str, AnyStep]:
    """The same by their ids, which are unique over all levels: for whoever asks for many of them."""
    return {step.id: step for step in all_steps(steps)}


def undoing_functions(steps: Iterable[AnyStep]) -> Iterator[tuple[str, str, str]]:
    """Each step with a compensation, a function that it or its compensation calls, and which of the two."""
    for step in all_steps(steps):
        if isinstance(step, TypedStep) and step.compensation is not None:
            for role, each in (("step", step), ("compensation", step.compensation)):
                for name in functions_in([each]):
                    yield step.id, name, role


def checked_names(step: AnyStep, given: Iterable[str]) -> list[str]:
    """Those of the given parameters of a step that must be arguments of its function. A step whose function
    is not declared with `arguments: checked` may have any; handlers and other parameters may read some.
    """
    params = step.params or {}
    called = next((params[name] for name in (FUNCTION, ENTRYPOINT) if name in params), None)
    if called is None or called.meta.get(ARGUMENTS) != CHECKED or CALLBACKS in params:
        return []
    read = {each.name for name, param in params.items() for each in references_of(name, param)}
    return [name for name in given if name not in NO_ARGUMENTS and name not in read]


def unknown_argument(function: str, name: str, known: Iterable[str]) -> tuple[str, str]:
    """The error of a parameter that its function does not take: what is wrong, and a hint."""
    names = sorted(known)
    hint = did_you_mean(name, names) or f"it takes {', '.join(names) or 'nothing'}"
    return f"the function `{function}` takes no `{name}`", hint


def _named(params: Mapping[str, ParamDefinition]) -> Iterator[str]:
    function = _literal(params.get(FUNCTION))
    if isinstance(function, str):
        yield from _constant(function)
    handlers = _literal(params.get(CALLBACKS))
    for names in handlers.values() if isinstance(handlers, Mapping) else ():
        for name in _literal(names) or ():
            yield from _constant(str(name))


def _literal(param: ParamDefinition | None) -> Any:
    return None if param is None or param.expression is not None else param.value


def _constant(text: str) -> Iterator[str]:
    """A text without variables; `$$` stands for `$`."""
    plain = text.replace("$$", "")
    if "$" not in plain:
        yield text.replace("$$", "$")
