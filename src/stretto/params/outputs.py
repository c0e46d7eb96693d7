"""What the work of a step brings back: output parameters, merged into the step's own and checked."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from stretto.model.param import ParamDefinition, Parameter, ParamMode, Params, ParamSource, ParamType
from stretto.params.errors import Fault, ParamError, out_of_range
from stretto.params.evaluated import Evaluated
from stretto.params.literals import bare_value, literal_of, results_of
from stretto.params.merge import merge
from stretto.params.modes import Stage
from stretto.params.requests import DEFAULT_LIMITS, ParamLimits, check_size
from stretto.params.validators import check_value
from stretto.params.values import beyond_maestro, is_evaluated
from stretto.sel import Environment

OUTPUT: Final = Stage(ParamSource.OUTPUT_PARAMETER)
_IN_PARTS: Final = (ParamType.MAP, ParamType.STRING_MAP)  # they are merged part by part
RETRY_ARTIFACT: Final = "maestro_retry"


def merge_outputs(
    params: Mapping[str, Parameter],
    outputs: Mapping[str, ParamDefinition] | None,
    now_millis: int,
    limits: ParamLimits = DEFAULT_LIMITS,
    *,
    follows_maestro: bool = False,
) -> Mapping[str, Parameter]:
    """A step's parameters with what its work brought back.

    Each output must be declared and MUTABLE, and is cast into the declared type; maps are merged, others
    replaced. Outputs are data: nothing in them is interpolated or evaluated.
    """
    outputs = outputs or {}
    undeclared = [f"[{name}]" for name in outputs if name not in params]
    if undeclared:
        message = f"Invalid output parameter {', '.join(undeclared)}: the step does not declare it"
        raise ParamError(Fault.UNDECLARED_OUTPUT, undeclared[0][1:-1], message)
    changed: dict[str, Parameter] = {}
    for name, output in outputs.items():
        declared = params[name]
        simple = _replaced(declared, output, now_millis)
        changed[name] = simple or _merged(name, declared, output, now_millis, exact=not follows_maestro)
        if follows_maestro and (why := beyond_maestro(changed[name].evaluated_result)) is not None:
            raise out_of_range(name, why)
    if isinstance(params, Evaluated):
        result = params.changed(changed)
        result.check_size(limits.size)
        return result
    merged = {**params, **changed}
    check_size(merged, limits.size)
    return merged


def _replaced(declared: Parameter, output: ParamDefinition, now_millis: int) -> Parameter | None:
    """The merge of most outputs, in one go: a value takes the place of one of the same type."""
    value, time = output.value, now_millis
    if isinstance(output, Parameter):
        value, time = output.evaluated_result, output.evaluated_time or now_millis
    if (
        value is None
        or output.type is not declared.type
        or output.tags
        or declared.mode is not ParamMode.MUTABLE
        or declared.type in _IN_PARTS
        or declared.validator is not None
        or declared.internal_mode is not None
    ):
        return None
    return Parameter(
        type=declared.type,
        value=value,
        tags=declared.tags or (),
        mode=ParamMode.MUTABLE,
        source=ParamSource.OUTPUT_PARAMETER,
        evaluated_result=value,
        evaluated_time=time,
    )


def _merged(
    name: str, declared: Parameter, output: ParamDefinition, now_millis: int, *, exact: bool
) -> Parameter:
    base: Params = {name: literal_of(declared)}
    layer: Params = {name: _data(name, output, now_millis)}
    return _checked(name, merge(base, layer, OUTPUT)[name], now_millis, exact=exact)


def is_retryable(artifacts: Mapping[str, Any]) -> bool:
    """Whether a failed step may be tried again, as far as its own work knows."""
    verdict = artifacts.get(RETRY_ARTIFACT) or {}
    return verdict.get("retryable") is not False


def _data(name: str, output: ParamDefinition, now_millis: int) -> ParamDefinition:
    """An output as a literal with its result, stripped of everything that only the step may say."""
    if isinstance(output, Parameter) and is_evaluated(output):
        literal = literal_of(output)
    elif output.value is not None:
        result = results_of(output.value) if output.type is ParamType.MAP else output.value
        literal = literal_of(Parameter(type=output.type, evaluated_result=result, evaluated_time=now_millis))
    else:
        raise ParamError(Fault.NOT_EVALUATED, name, f"Output parameter [{name}] has no value")
    return msgspec.structs.replace(literal, validator=None, mode=None, internal_mode=None, source=None)


def _checked(name: str, param: ParamDefinition, now_millis: int, *, exact: bool) -> Parameter:
    """A merged output with its result, which obeys the rule that the step declared for it."""
    made = param if isinstance(param, Parameter) else _made_of_members(param, now_millis)
    environment = Environment(now_millis=now_millis, exact=exact)
    notes = check_value(name, made, made.evaluated_result, lambda _name: environment)
    return msgspec.structs.replace(made, value=bare_value(made), meta=notes)


def _made_of_members(param: ParamDefinition, now_millis: int) -> Parameter:
    fields = {name: getattr(param, name) for name in ParamDefinition.__struct_fields__}
    return Parameter(**fields, evaluated_result=results_of(param.value), evaluated_time=now_millis)
