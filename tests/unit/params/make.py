"""Short words for parameters and scopes, so that a test shows what it is about."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.params import Collected, Evaluated, Moment, RunFacts, Scope, StepFacts, Undelivered, evaluate
from stretto.sel import Missing

NOW = 1_569_018_000_123  # 2019-09-20T22:20:00.123Z


def text(value: str | None, **fields: Any) -> ParamDefinition:
    return ParamDefinition(type=ParamType.STRING, value=value, **fields)


def number(value: int | None, **fields: Any) -> ParamDefinition:
    return ParamDefinition(type=ParamType.LONG, value=value, **fields)


def flag(value: bool, **fields: Any) -> ParamDefinition:
    return ParamDefinition(type=ParamType.BOOLEAN, value=value, **fields)


def decimal(value: str, **fields: Any) -> ParamDefinition:
    return ParamDefinition(type=ParamType.DOUBLE, value=Decimal(value), **fields)


def strings(*values: str, **fields: Any) -> ParamDefinition:
    return ParamDefinition(type=ParamType.STRING_ARRAY, value=values, **fields)


def longs(*values: int, **fields: Any) -> ParamDefinition:
    return ParamDefinition(type=ParamType.LONG_ARRAY, value=values, **fields)


def string_map(value: dict[str, str], **fields: Any) -> ParamDefinition:
    return ParamDefinition(type=ParamType.STRING_MAP, value=value, **fields)


def map_of(members: dict[str, ParamDefinition] | None, **fields: Any) -> ParamDefinition:
    return ParamDefinition(type=ParamType.MAP, value=members, **fields)


def expression(kind: str, script: str, **fields: Any) -> ParamDefinition:
    return ParamDefinition(type=ParamType(kind), expression=script, **fields)


def done(kind: str, result: Any, **fields: Any) -> Parameter:
    """A parameter with its result."""
    literal = {} if kind == "MAP" else {"value": result}
    return Parameter(type=ParamType(kind), evaluated_result=result, **{**literal, **fields})


@dataclass
class World:
    """A context that answers what a test put into it."""

    run: RunFacts = field(default_factory=lambda: RunFacts(workflow_id="wf", owner="ann"))
    steps: dict[str, StepFacts | Missing] = field(default_factory=dict)
    loops: dict[str, Collected | Missing] = field(default_factory=dict)
    children: dict[str, Parameter | Undelivered | Missing] = field(default_factory=dict)
    signals: dict[tuple[str, str], str | int | Missing] = field(default_factory=dict)
    dependencies: dict[tuple[int, str], str | int | Missing] = field(default_factory=dict)

    def step(self, step_id: str) -> StepFacts | Missing | None:
        return self.steps.get(step_id)

    def foreach(self, foreach_step: str, step_id: str, param: str) -> Collected | Missing | None:
        return self.loops.get(f"{foreach_step}/{step_id}/{param}")

    def subworkflow(
        self, subworkflow_step: str, step_id: str, param: str
    ) -> Parameter | Undelivered | Missing | None:
        return self.children.get(f"{subworkflow_step}/{step_id}/{param}")

    def signal(self, name: str, param: str) -> str | int | Missing | None:
        return self.signals.get((name, param))

    def signal_dependency(self, index: int, param: str) -> str | int | Missing | None:
        return self.dependencies.get((index, param))

    def next_unique_id(self) -> int | Missing:
        return 42


def in_run(world: World | None = None, **fields: Any) -> Scope:
    """The scope of a run's own parameters."""
    return Scope(context=world or World(), moment=Moment(NOW), **fields)


def in_step(world: World | None = None, step: str = "here", **fields: Any) -> Scope:
    """The scope of a step's parameters."""
    facts = StepFacts(step_id=step, type="NoOp", uuid="uuid-1", step_attempt_id=1)
    return Scope(context=world or World(), moment=Moment(NOW), step=facts, **fields)


def results(params: dict[str, ParamDefinition], scope: Scope | None = None) -> dict[str, Any]:
    """The results of a set that can be evaluated."""
    found = evaluate(params, scope or in_run())
    assert isinstance(found, Evaluated), found
    return {name: param.evaluated_result for name, param in found.items()}
