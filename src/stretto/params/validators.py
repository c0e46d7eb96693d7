"""Rules that a parameter brings along for its own value. Maestro stores them; here they are checked.

    param != null && param.size() > 2      an expression: `param` (or the parameter's own name) is the value
    @NotEmpty   @Min(1)   @Size(min=1)     named checks, as Java's annotations
    Maestro.enumCheck("test", "prod")      one of these texts

A rule that can not be read is an error of the definition. One that is false fails the evaluation, except
inside a MAP: there it leaves a `warn` note on the map, as Maestro's own samples break such rules.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

from stretto.model.param import ParamDefinition, ParamType
from stretto.params.checks import NamedCheck, named_checks
from stretto.params.errors import Fault, ParamError
from stretto.params.values import member_to_sel, to_sel
from stretto.sel import Environment, SelError, compile_expression, evaluate_maestro, sanitize

Surroundings = Callable[[str], Environment]
"""Makes the environment in which the rule of a parameter is evaluated."""

VALUE: Final = "param"
IS_NAMED: Final = re.compile(r"\s*(?:@|Maestro\s*\.)")


class Validator:
    """A rule, read. It holds no value."""

    __slots__ = ("_checks", "_expression", "_name", "text")

    def __init__(self, name: str, kind: ParamType, text: str) -> None:
        self.text = text
        self._name = name
        self._checks: tuple[NamedCheck, ...] = ()
        self._expression = ""
        if IS_NAMED.match(text):
            self._checks = named_checks(text, kind)
        else:
            self._expression = _readable(name, kind, text)

    def holds(self, value: Any, environment: Environment) -> bool:
        """Whether a value (as expressions see it) obeys the rule."""
        if self._checks:
            return all(check.holds(value) for check in self._checks)
        result = evaluate_maestro(self._expression, {VALUE: value, self._name: value}, environment)
        if not isinstance(result, bool):
            raise ValueError("it must be true or false")
        return result


@lru_cache(maxsize=4096)
def _compiled(name: str, kind: ParamType, text: str) -> Validator:
    return Validator(name, kind, text)


def _readable(name: str, kind: ParamType, text: str) -> str:
    """The expression, checked. An array may be asked for its `size()`, as lists in Java are."""
    if kind.is_array:
        sized = re.compile(
            rf"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\b({VALUE}|{re.escape(name)})\s*\.\s*size\s*\(\s*\)"""
        )
        text = sized.sub(lambda match: f"{match[1]}.length" if match[1] else match[0], text)
    others = compile_expression(sanitize(text)).names.required - {VALUE, name}
    if others:
        raise ValueError(f"it may read only `{VALUE}`, not {', '.join(sorted(others))}")
    return text


def check_validator(name: str, param: ParamDefinition) -> None:
    """Refuse a rule that can not be read; for the time when a definition is published."""
    if param.validator is None:
        return
    try:
        _compiled(name, param.type, param.validator)
    except (SelError, ValueError) as error:
        raise _unreadable(name, param.validator, error) from error


def check_value(name: str, param: ParamDefinition, value: Any, around: Surroundings) -> dict[str, str]:
    """Refuse a result that breaks its parameter's rule; notes about members that break theirs."""
    if (
        value is not None
        and param.validator is not None
        and not _holds(name, param, to_sel(param.type, value), around)
    ):
        message = f"Param [{name}] breaks its own rule `{param.validator}`"
        raise ParamError(Fault.VALIDATOR, name, message)
    if param.type is not ParamType.MAP or not param.is_literal:
        return {}
    broken = list(_broken_members(name, param, value, around))
    return {"warn": "; ".join(broken)} if broken else {}


def _broken_members(
    name: str, param: ParamDefinition, values: dict[str, Any], around: Surroundings
) -> Iterator[str]:
    for key, member in param.value.items():
        if member.validator is not None and not _holds(key, member, member_to_sel(values[key]), around):
            yield f"Member [{key}] of [{name}] breaks its own rule `{member.validator}`"
        if member.type is ParamType.MAP and member.is_literal:
            yield from _broken_members(f"{name}.{key}", member, values[key], around)


def _holds(name: str, param: ParamDefinition, value: Any, around: Surroundings) -> bool:
    rule = str(param.validator)
    try:
        return _compiled(name, param.type, rule).holds(value, around(name))
    except (SelError, ValueError) as error:
        raise _unreadable(name, rule, error) from error


def _unreadable(name: str, rule: str, error: Exception) -> ParamError:
    message = f"The validator `{rule}` of param [{name}] makes no sense: {error}"
    limit = error.limit if isinstance(error, SelError) else None
    return ParamError(Fault.VALIDATOR, name, message, limit=limit)
