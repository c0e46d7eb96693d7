"""The parameters of a workflow, read from the function that describes it."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from stretto.flow.errors import TraceError
from stretto.flow.places import Place
from stretto.model.suggest import did_you_mean
from stretto.params import RESERVED_NAMES, WORKFLOW_DEFAULTS
from stretto.runtimes.python.annotations import annotations_of
from stretto.runtimes.python.function import Argument
from stretto.runtimes.python.kinds import kind_of

TAKEN: Final = RESERVED_NAMES | set(WORKFLOW_DEFAULTS)


def arguments_of(function: Callable[..., Any], workflow_id: str, place: Place) -> dict[str, Argument]:
    """The parameters by name. An annotation that is left out is that of the default, or anything."""
    hints = annotations_of(function)
    found: dict[str, Argument] = {}
    for name, each in inspect.signature(function).parameters.items():
        if each.kind in {each.VAR_POSITIONAL, each.VAR_KEYWORD}:
            raise TraceError(
                f"the workflow `{workflow_id}` takes `{each}`, and its parameters have names",
                "write one argument for each parameter",
                place=place,
            )
        if name in TAKEN:
            raise TraceError(
                f"every run has a parameter `{name}` of its own", "choose another name", place=place
            )
        annotation = hints.get(name, Any)
        if annotation is Any and type(each.default) in {int, float, str, bool}:
            annotation = type(each.default)
        if isinstance(annotation, str):
            raise TraceError(
                f"the annotation `{annotation}` of `{name}` means nothing at run time",
                "import it outside of `if TYPE_CHECKING`, or define it before",
                place=place,
            )
        found[name] = Argument(name, annotation, kind_of(annotation), each.default)
    return found


def bind_arguments(
    workflow_id: str, params: Mapping[str, Argument], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """What is given for which parameter."""
    names = list(params)
    if len(args) > len(names):
        raise TraceError(
            f"the workflow `{workflow_id}` has {len(names)} parameters, and {len(args)} values were given",
            f"its parameters are {', '.join(names) or 'none'}",
        )
    given = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name in given:
            raise TraceError(f"`{name}` of the workflow `{workflow_id}` is given twice", "give it once")
        if name not in params:
            hint = did_you_mean(name, names) or f"its parameters are {', '.join(names) or 'none'}"
            raise TraceError(f"the workflow `{workflow_id}` has no parameter `{name}`", hint)
        given[name] = value
    missing = [each.name for each in params.values() if not each.has_default and each.name not in given]
    if missing:
        raise TraceError(
            f"the workflow `{workflow_id}` needs {' and '.join(f'`{name}`' for name in missing)}",
            "give a value",
        )
    return given
