"""The arguments that a function is called with: parameters of the step, services, the context."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from stretto.definition.functions import checked_names, unknown_argument
from stretto.model.errors import StrettoError
from stretto.model.param import ParamDefinition, Parameter, ParamSource
from stretto.ports.runtime import StepContext as Told
from stretto.runtimes.python.context import StepContext
from stretto.runtimes.python.errors import Refused
from stretto.runtimes.python.function import Argument, Function
from stretto.runtimes.python.kinds import kind_of_param
from stretto.runtimes.python.own_params import OWN, REQUIRED, value_of
from stretto.runtimes.python.roles import Role
from stretto.runtimes.python.services import Services
from stretto.runtimes.python.values import decode

REQUESTED: Final = frozenset({ParamSource.LAUNCH, ParamSource.RESTART})
NO_DEFINITIONS: dict[str, ParamDefinition] = {}


def values_of(function: Function, told: Told, mapped: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a function takes from its step, checked. Raises Refused."""
    if function.options.required or REQUIRED in told.params:
        _check_required(function, told.params, mapped)
    values: dict[str, Any] = {}
    lost: list[str] = []
    for each in function.values:
        if each.name in mapped:
            values[each.name] = _converted(each, mapped[each.name], function)
        elif each.name in told.params:
            values[each.name] = _read(each.name, each.annotation, told, function)
        elif not each.has_default:
            lost.append(f"`{each.name}`")
    if lost:
        raise Refused(f"`{function.name}` needs {', '.join(lost)}: the step has no such parameter")
    if not function.takes_any:
        check_known(function, checked_names(told.step, given_names(told)))
    if function.takes_all:
        values |= {name: value for name, value in mapped.items() if name not in values}
        for name in given_names(told):
            if name not in OWN and name not in values and name in told.params:
                values[name] = _read(name, Any, told, function)
    return values


def check_known(function: Function, names: Iterable[str]) -> None:
    """Refuse parameters that a function does not take. Raises Refused."""
    known = {each.name for each in function.values}
    lost = [unknown_argument(function.name, name, known) for name in names if name not in known]
    if lost and not function.takes_any:
        raise Refused("; ".join(f"{message}: {hint}" for message, hint in lost))


def given_names(told: Told) -> Iterable[str]:
    """The parameters that a step defines, and those that a request gives to it."""
    requested = (name for name in told.params if told.params[name].source in REQUESTED)
    return dict.fromkeys((*(told.step.params or ()), *requested))


def all_params(function: Function, told: Told, mapped: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter of a step as its function sees it."""
    annotations = {each.name: each.annotation for each in function.values}
    found = {
        name: _read(name, annotations.get(name, Any), told, function)
        for name in told.params
        if name not in OWN and name not in mapped
    }
    return {**found, **mapped}


def injected(function: Function, context: StepContext | None, services: Services) -> dict[str, Any]:
    """The arguments that are no values. Raises Refused."""
    found: dict[str, Any] = {}
    for each in function.args:
        if each.role is Role.CONTEXT:
            found[each.name] = context
        elif each.role is Role.SERVICE:
            try:
                found[each.name] = services.get(each.service)
            except StrettoError as error:
                if not each.has_default:
                    raise Refused(f"`{each.name}` of `{function.name}`: {error}") from None
    return found


def _check_required(function: Function, params: Mapping[str, Parameter], mapped: Mapping[str, Any]) -> None:
    names = [*(value_of(params, REQUIRED) or ()), *function.options.required]
    missing = [name for name in dict.fromkeys(names) if not _is_given(name, params, mapped)]
    if missing:
        known = ", ".join(f"`{name}`" for name in missing)
        raise Refused(f"required parameters of `{function.name}` have no value: {known}")


def _is_given(name: str, params: Mapping[str, Parameter], mapped: Mapping[str, Any]) -> bool:
    return (mapped[name] if name in mapped else value_of(params, name)) is not None


def _read(name: str, annotation: Any, told: Told, function: Function) -> Any:
    definition = (told.step.params or NO_DEFINITIONS).get(name)
    param = told.params[name]
    kind = kind_of_param(param if definition is None else definition)
    try:
        return decode(param.evaluated_result, kind._replace(type=param.type), annotation, name)
    except StrettoError as error:
        raise Refused(f"an argument of `{function.name}`: {error}") from None


def _converted(argument: Argument, value: Any, function: Function) -> Any:
    """A value that comes from another function, as this one wants it."""
    if argument.annotation is Any:
        return value
    try:
        return msgspec.convert(value, argument.annotation, strict=False, from_attributes=True)
    except (msgspec.ValidationError, TypeError) as error:
        raise Refused(f"`{argument.name}` of `{function.name}`, from result_mapping: {error}") from None
