"""How fast parameters are merged, interpolated and evaluated, beside plain Python in the same run.

`python -m benchmarks params` prints the rows.
"""

from datetime import UTC, datetime, timedelta
from string import Template
from typing import Any
from zoneinfo import ZoneInfo

from benchmarks.row import Row, rate
from stretto.model.param import ParamDefinition, Parameter, Params, ParamSource, ParamType
from stretto.params import (
    STEP_DEFAULTS,
    Alone,
    Evaluated,
    Moment,
    RunFacts,
    Scope,
    Stage,
    StepFacts,
    StepLayers,
    evaluate,
    merge,
    step_params,
    workflow_params,
)
from stretto.params.compute import interpolate
from stretto.params.defaults import NATIVE_DEFAULTS
from stretto.params.functions import Functions
from stretto.sel import Environment, evaluate_maestro

NOW = 1_569_018_000_123
ZONE = "America/Los_Angeles"
RUN = RunFacts(workflow_id="daily", instance_id=1, owner="ann", initiator="TIME", initiator_timezone=ZONE)


def run() -> list[Row]:
    """All measurements."""
    return [_no_default(), _every_default(), _interpolation(), _merge(), _step()]


def _text(value: str) -> ParamDefinition:
    return ParamDefinition(type=ParamType.STRING, value=value)


def _evaluated(params: Params) -> Evaluated:
    found = evaluate(params, Scope(context=Alone(RUN), moment=Moment(NOW)))
    assert isinstance(found, Evaluated)
    return found


# ------------------------------------------------------------------------------------------------- defaults
def _dates_in_python() -> dict[str, str]:
    """The dates of a run as one would write them by hand, all of them."""
    utc = datetime.fromtimestamp(NOW / 1_000, UTC)
    local, hour, day = utc.astimezone(ZoneInfo(ZONE)), timedelta(hours=1), timedelta(days=1)
    derived = local.replace(minute=0, second=0, microsecond=0).astimezone(UTC)
    pacific = derived.astimezone(ZoneInfo(ZONE))
    dates = [local, derived, derived - day, derived + day, derived - hour, derived + hour, pacific]
    dates += [pacific - day, local, utc, utc - day, utc - 7 * day]
    hours = (local, derived, derived - hour, derived + hour, pacific)
    texts = [f"{each:%Y%m%d}" for each in dates] + [f"{each:%H}" for each in hours]
    return dict(zip(map(str, range(len(texts))), texts, strict=True))


def _no_default() -> Row:
    definition = {"source": _text("events"), "target": _text("daily_events")}
    found = _evaluated(workflow_params(definition))
    assert len(found.waiting) == len(NATIVE_DEFAULTS)
    value = rate(lambda: _evaluated(workflow_params(definition)))
    beside = rate(_dates_in_python)
    name = "a run's parameters, no default named"
    return Row(name, value, "runs/s", 20_000, value / beside, "its dates by hand in Python")


def _every_default() -> Row:
    def by_expression() -> dict[str, Any]:
        said: dict[str, Any] = {}
        environment = Environment(now_millis=NOW, host=Functions(Alone(RUN)))
        for row in NATIVE_DEFAULTS:
            said[row.name] = evaluate_maestro(row.expression, said, environment)
        return said

    value = rate(lambda: dict(_evaluated(workflow_params({}))))
    return Row(
        "a run's parameters, every default read",
        value,
        "runs/s",
        None,
        value / rate(by_expression),
        "the expressions",
    )


# --------------------------------------------------------------------------------------- interpolation, merge
def _interpolation() -> Row:
    param = _text("s3://${bucket}/${table}/dt=${day}/part")
    bindings = {"bucket": "lake", "table": "events", "day": 20_190_920}
    plain = Template("s3://${bucket}/${table}/dt=${day}/part")
    assert interpolate(param, bindings) == plain.substitute(bindings)
    value = rate(lambda: interpolate(param, bindings))
    beside = rate(lambda: plain.substitute(bindings))
    return Row("interpolation of 3 names", value, "texts/s", 150_000, value / beside, "string.Template")


def _merge() -> Row:
    stage = Stage(ParamSource.LAUNCH)
    base = merge({}, {f"p{i}": _text("old") for i in range(20)}, Stage(ParamSource.DEFINITION))
    layer = {f"p{i}": _text("new") for i in range(10, 30)}
    value = rate(lambda: merge(base, layer, stage))
    beside = rate(lambda: {**base, **layer})
    return Row(
        "merge of 20 into 20 parameters", value, "merges/s", None, value / beside, "dicts without rules"
    )


def _step() -> Row:
    workflow = {"day": Parameter(type=ParamType.LONG, value=1, evaluated_result=1)}
    facts = StepFacts(step_id="load", type="NoOp", uuid="u", step_attempt_id=1)
    scope = Scope(context=Alone(RUN), moment=Moment(NOW), workflow=workflow, step=facts)
    definition = {
        "table": _text("events_$day"),
        "days": ParamDefinition(type=ParamType.LONG, expression="day + 7"),
    }
    layers = StepLayers(defaults=STEP_DEFAULTS, definition=definition)
    value = rate(lambda: evaluate(step_params(layers), scope))
    beside = rate(lambda: {**STEP_DEFAULTS, "table": f"events_{1}", "days": 1 + 7})
    return Row(
        "a step's parameters: 4 defaults, 2 own", value, "steps/s", None, value / beside, "a dict by hand"
    )
