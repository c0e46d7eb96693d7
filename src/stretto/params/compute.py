"""The value of one parameter, once everything it refers to is known."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from stretto.model.param import FORMAT, JSON, RESULT, ParamDefinition, Parameter, ParamType
from stretto.params.convert import Converted, convert
from stretto.params.errors import too_expensive
from stretto.params.references import expression_failed
from stretto.params.scope import Bindings, Scope
from stretto.params.values import is_evaluated, to_sel
from stretto.sel import Budget, Missing, SelError, compile_template, evaluate_maestro
from stretto.sel.runtime.frame import CHARACTER_SIZE

P = ParamType
_PLAIN: Final = (int, bool, float)


def compute(name: str, param: ParamDefinition, bindings: Bindings, scope: Scope) -> Converted | Missing:
    """The result of a parameter in its declared type."""
    if param.expression is not None:
        null = _null(name, param, scope)
        value = _run(name, param.expression, bindings, scope, nullable=null is not None)
        if isinstance(value, Missing):
            return value
        if value is None and null is not None:
            return null
        return convert(name, param.type, value, exact_numbers=not scope.context.run.follows_maestro)
    if param.type is P.MAP:
        members = _members(name, param.value, bindings, scope)
        return members if isinstance(members, Missing) else Converted(members)
    return Converted(interpolate(param, bindings, name, scope.moment.budget))


def _null(name: str, param: ParamDefinition, scope: Scope) -> Converted | None:
    """What a parameter of a step is whose expression returns null. None: that is an error."""
    if scope.step is None or scope.context.run.follows_maestro:
        return None
    declared = scope.step.declared.get(name, param)
    if declared.type is P.STRING and declared.meta.get(FORMAT) == JSON:
        return Converted("null")
    return Converted(None) if name == RESULT else None


def interpolate(
    param: ParamDefinition, bindings: Mapping[str, Any], name: str = "", budget: Budget | None = None
) -> Any:
    """A literal with its variables replaced; the types that hold no text stay as they are. Texts count as
    those that an expression makes: a chain of variables may double its text with each of them.
    """
    replace = INTERPOLATED.get(param.type)
    if replace is None:
        return param.value

    def look_up(variable: str) -> Any:
        value = bindings[variable]
        if budget is not None and type(value) is str:
            budget.memory -= CHARACTER_SIZE * len(value)
            if budget.memory < 0:
                raise too_expensive(name)
        return value

    return replace(param.value, look_up)


def _run(name: str, expression: str, bindings: Bindings, scope: Scope, *, nullable: bool = False) -> Any:
    known = bindings.get(expression)
    if type(known) in _PLAIN:
        return known  # the whole expression is a name: there is nothing to evaluate
    try:
        return evaluate_maestro(expression, bindings, scope.environment(name), nullable=nullable)
    except SelError as error:
        missing = (
            [] if scope.context.run.follows_maestro else sorted(k for k, v in bindings.items() if v is None)
        )
        raise expression_failed(name, expression, error, missing) from error


def _members(
    name: str, members: Mapping[str, ParamDefinition], bindings: Bindings, scope: Scope
) -> dict[str, Any] | Missing:
    """Members are not converted to their declared types: what an expression returned is what a map holds."""
    results: dict[str, Any] = {}
    for key, member in members.items():
        value = _member(f"{name}.{key}", member, bindings, scope)
        if isinstance(value, Missing):
            return value
        results[key] = value
    return results


def _member(path: str, member: ParamDefinition, bindings: Bindings, scope: Scope) -> Any:
    if isinstance(member, Parameter) and is_evaluated(member):
        return member.evaluated_result
    if member.expression is not None:
        return _run(path, member.expression, bindings, scope)
    if member.type is P.MAP:
        return _members(path, member.value, bindings, scope)
    value = interpolate(member, bindings, path, scope.moment.budget)
    return to_sel(member.type, value) if member.type.is_array else value


# ---------------------------------------------------------------------------------------------- templates
Lookup = Callable[[str], Any]


def _text(text: str, lookup: Lookup) -> str:
    return compile_template(text).render(lookup) if "$" in text else text


def _texts(texts: tuple[str, ...], lookup: Lookup) -> tuple[str, ...]:
    return tuple(_text(text, lookup) for text in texts)


def _text_map(texts: Mapping[str, str], lookup: Lookup) -> dict[str, str]:
    return {_text(key, lookup): _text(text, lookup) for key, text in texts.items()}


INTERPOLATED: Final[Mapping[ParamType, Callable[[Any, Lookup], Any]]] = {
    P.STRING: _text,
    P.STRING_ARRAY: _texts,
    P.STRING_MAP: _text_map,
}
