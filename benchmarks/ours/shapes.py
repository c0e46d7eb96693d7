"""The workloads as definitions of NoOp steps."""

from enum import StrEnum
from typing import Final

import msgspec

from benchmarks.core import chain, fan_out
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.properties import Properties, RunStrategy, RunStrategyRule
from stretto.model.step import AnyStep, ForeachStep, TypedStep
from stretto.model.tag import Tag
from stretto.model.user import User
from stretto.model.workflow import Definition, Workflow

AT_ONCE: Final = 1_000  # runs of one workflow
ITERATIONS_AT_ONCE: Final = 500
SHORT: Final = 5  # steps of a run of W3
OWNER: Final = User(name="ann")
LIMITED_TAG: Final = "limited"
FREE_TAG: Final = "free"
STEPS_AT_ONCE: Final = 1_000  # of a workflow, where that is limited
TREE_AT_ONCE: Final = 999  # of a run


class Limit(StrEnum):
    """A limit that never binds."""

    NONE = "none"
    WORKFLOW = "workflow"
    INSTANCE = "instance"
    FREE_TAG = "free_tag"
    TAG = "tag"


TAGS: Final = {Limit.FREE_TAG: FREE_TAG, Limit.TAG: LIMITED_TAG}


def definition(workflow_id: str, steps: list[AnyStep], limit: Limit = Limit.NONE) -> Definition:
    """With as many runs at once as a definition may ask for."""
    strategy = RunStrategy(rule=RunStrategyRule.PARALLEL, workflow_concurrency=AT_ONCE)
    tag = TAGS.get(limit)
    return Definition(
        properties=Properties(
            owner=OWNER,
            run_strategy=strategy,
            step_concurrency=STEPS_AT_ONCE if limit is Limit.WORKFLOW else None,
        ),
        workflow=Workflow(
            id=workflow_id,
            steps=tuple(steps if tag is None else [tagged(step, tag) for step in steps]),
            instance_step_concurrency=TREE_AT_ONCE if limit is Limit.INSTANCE else None,
        ),
    )


def tagged(step: AnyStep, tag: str) -> AnyStep:
    """The step, or those of the loop, with a tag."""
    if isinstance(step, ForeachStep):
        return msgspec.structs.replace(step, steps=tuple(tagged(each, tag) for each in step.steps))
    return msgspec.structs.replace(step, tags=(Tag(name=tag),))


def items(count: int, kind: str = "NoOp") -> list[AnyStep]:
    """A loop over numbers, with one step in it."""
    values = ParamDefinition(type=ParamType.LONG_ARRAY, expression=f"return Util.intsBetween(0, {count}, 1);")
    params = {"loop_params": ParamDefinition(type=ParamType.MAP, value={"i": values})}
    body = TypedStep(id="body", type=kind)
    return [ForeachStep(id="loop", params=params, concurrency=ITERATIONS_AT_ONCE, steps=(body,))]


def steps_of(workload: str, size: int) -> list[AnyStep]:
    """What one run of a workload is made of."""
    match workload:
        case "W1":
            return chain(size)
        case "W2":
            return fan_out(size)
        case "W3":
            return chain(SHORT)
        case "W4":
            return items(size)
        case _:
            return chain(1)


def dealt(runs: int) -> list[int]:
    """How many runs each of some workflows gets, so that none of them has to wait for its turn."""
    full, rest = divmod(runs, AT_ONCE)
    return [AT_ONCE] * full + [rest] * (rest > 0)
