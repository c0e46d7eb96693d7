"""Values of any JSON type as parameters, with placeholders `${name}` in them.

A text that is one placeholder takes the value of the parameter with its type; inside a longer text a
placeholder is interpolated.
"""

import re
from typing import Any, Final

from stretto.model.param import FORMAT, JSON, ParamType
from stretto.model.wire import to_json
from stretto.params.plain import has_type
from stretto.sel import compile_template
from stretto.sel.syntax.printer import quoted
from stretto.sel.text import TAG

# A name that an expression can read; others, such as `${a.b}`, are interpolated.
_WHOLE: Final = re.compile(r"\$\{([A-Za-z][A-Za-z0-9_]*)\}", re.ASCII)

ESCAPED_TAG: Final = f"${TAG}"  # as a text writes it, in which `$$` stands for `$`


def json_param(value: Any) -> dict[str, Any] | None:
    """The parameter for a value that no type of parameter holds: null, a mixed list, a list of objects, and
    everything with a typed placeholder or with a tag (`$$stretto`). None: the value has a type of its own.
    """
    if has_type(value) and not _is_typed(value) and not _is_tagged(value):
        return None
    kind = {"type": ParamType.STRING.value, FORMAT: JSON}
    if _has_names(value):
        return {"expression": _expression(value), **kind}
    return {"value": to_json(value).decode(), **kind}


def _is_typed(value: Any) -> bool:
    """Whether a value holds a text that is one placeholder."""
    if isinstance(value, dict):
        return any(map(_is_typed, value.values()))
    if isinstance(value, list):
        return any(map(_is_typed, value))
    return isinstance(value, str) and _WHOLE.fullmatch(value) is not None


def _is_tagged(value: Any) -> bool:
    """Whether a value holds a map that stands for something which JSON has no word for."""
    return isinstance(value, dict) and (ESCAPED_TAG in value or any(map(_is_tagged, value.values())))


def _has_names(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_names(each) for item in value.items() for each in item)
    if isinstance(value, list):
        return any(map(_has_names, value))
    return isinstance(value, str) and bool(compile_template(value).names)


def _expression(value: Any) -> str:
    """The expression for the JSON text of a value."""
    if not _has_names(value):
        return quoted(_constant(value))
    if isinstance(value, dict):
        members = (f"{_text(key)}, {_expression(each)}" for key, each in value.items())
        return f"Json.object({', '.join(members)})"
    if isinstance(value, list):
        return f"Json.array({', '.join(map(_expression, value))})"
    whole = _WHOLE.fullmatch(value)
    return f"Json.text({_text(value) if whole is None else whole[1]})"


def _text(text: str) -> str:
    """The expression for a text in which placeholders are interpolated."""
    parts = compile_template(text).parts
    pieces = [quoted(part) if at % 2 == 0 else part for at, part in enumerate(parts)]
    return " + ".join(pieces)


def _constant(value: Any) -> str:
    """The JSON text of a value without placeholders; `$$` stands for `$`."""
    return compile_template(to_json(value).decode()).render(str)
