"""The annotations of a function as they are meant at run time."""

import inspect
from collections.abc import Mapping
from typing import Any, get_args, get_type_hints


def annotations_of(call: Any) -> dict[str, Any]:
    """What each argument, and `return`, is annotated with; a text that means nothing stays a text."""
    if inspect.isclass(call):
        return {**annotations_of(call.__init__), "return": call}
    try:
        return get_type_hints(call, include_extras=True)
    except (NameError, AttributeError, TypeError, SyntaxError):
        return _one_by_one(call)


def _one_by_one(call: Any) -> dict[str, Any]:
    """Those that can be resolved, among them names of the function around this one."""
    call = getattr(call, "__func__", call)
    if not inspect.isfunction(call):
        return {}
    known = {**call.__globals__, **inspect.getclosurevars(call).nonlocals}
    return {key: _resolved(hint, known) for key, hint in call.__annotations__.items()}


def _resolved(hint: Any, known: Mapping[str, Any]) -> Any:
    if not isinstance(hint, str):
        return hint
    try:
        return eval(hint, dict(known))  # noqa: S307 - the author's own annotation, as typing does it
    except Exception:  # noqa: BLE001 - whatever it says
        return hint


def shown(annotation: Any) -> str:
    """An annotation as its author would write it."""
    if annotation is Any:
        return "Any"
    if isinstance(annotation, type) and not get_args(annotation):
        return annotation.__qualname__
    return str(annotation).replace("typing.", "")
