"""The names that a parameter refers to, and how `step__param` is taken apart."""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from stretto.model.param import ParamDefinition, ParamType
from stretto.model.suggest import did_you_mean
from stretto.params.errors import Fault, ParamError
from stretto.params.values import is_evaluated
from stretto.sel import SelError, compile_expression, compile_template, sanitize

P = ParamType


class Reference(NamedTuple):
    """A name, and whether the parameter can do without it."""

    name: str
    optional: bool = False


ALL_PARAMS: Final = Reference("params", optional=True)
"""The name `params` in an expression: every parameter of the run, for a step."""


def is_text(param: ParamDefinition) -> bool:
    """Whether names in a parameter are written `$name`."""
    return param.expression is None and param.type is not P.MAP


def unknown_hint(name: str, *, in_text: bool, step_type: str | None = None) -> str:
    """What to do about a name that nobody declares: before a run, and after it has failed for that reason."""
    if in_text and (step_type or "").casefold() == "shell":
        return f"for a shell variable write `$${name}`"
    if in_text:
        return f"declare `{name}` as a parameter; for the text itself write `$${name}`"
    return f"declare `{name}` as a parameter, or bring it with each start"


def step_hint(step_id: str, known: Collection[str]) -> str | None:
    """What to do about a step that is read and not found: before a run, and after it has failed for that
    reason. A step that is there has not ended yet.
    """
    return None if step_id in known else did_you_mean(step_id, known)


def said(hint: str | None) -> str:
    """A hint at the end of a message."""
    return "" if hint is None else f"; {hint}"


class StepReference(NamedTuple):
    """`extract__rows`: a parameter of a step, or of a signal of that name."""

    step_id: str
    param: str


def references_of(name: str, param: ParamDefinition) -> tuple[Reference, ...]:
    """What a parameter refers to, in the order of its text, each once."""
    if is_evaluated(param):
        return ()
    if param.expression is not None:
        return _in_expression(name, param.expression)
    if param.value is None:
        message = f"Param [{name}] has neither a value nor an expression, so it is not evaluated yet"
        raise ParamError(Fault.NOT_EVALUATED, name, message)
    match param.type:
        case P.STRING:
            return _in_texts((param.value,))
        case P.STRING_ARRAY:
            return _in_texts(param.value)
        case P.STRING_MAP:
            return _in_texts(chain.from_iterable(param.value.items()))
        case P.MAP:
            members = (references_of(f"{name}.{key}", member) for key, member in param.value.items())
            return tuple(dict.fromkeys(chain.from_iterable(members)))
        case _:
            return ()  # numbers and flags hold no text


def _in_texts(texts: Iterable[str]) -> tuple[Reference, ...]:
    found: dict[str, None] = {}
    for text in texts:
        if "$" in text:
            found.update(dict.fromkeys(compile_template(text).names))
    return tuple(map(Reference, found)) if found else ()


def _in_expression(name: str, expression: str) -> tuple[Reference, ...]:
    try:
        names = compile_expression(sanitize(expression)).names
    except SelError as error:
        raise expression_failed(name, expression, error) from error
    return tuple(
        Reference(found, optional=found not in names.required or found == ALL_PARAMS.name)
        for found in names.symbols
        if found in names.required or found in names.optional
    )


def expression_failed(name: str, expression: str, error: SelError, missing: Sequence[str] = ()) -> ParamError:
    """The error of a parameter whose expression can not be read or evaluated. `missing`: has no value."""
    message = f"Failed to evaluate param [{name}]: {error}"
    if missing:
        message += f"; without a value: {', '.join(f'[{each}]' for each in missing)}"
    details = [f"expression: {expression}"]
    return ParamError(Fault.EXPRESSION, name, message, details=details, limit=error.limit)


@lru_cache(maxsize=16_384)
def split_reference(reference: str, separator: str) -> tuple[StepReference, ...]:
    """The ways to read `step__param`: one, or two where underscores run together as in `a___b`."""
    first = reference.index(separator)
    places = (first,) if first == reference.rindex(separator) else (first, first + 1)
    return tuple(StepReference(reference[:at], reference[at + len(separator) :]) for at in places)
