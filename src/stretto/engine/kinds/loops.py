"""What foreach and while have in common: iterations are flows inside the flow, and end in its decisions."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from stretto.engine.events import ResultState, RunAction
from stretto.engine.flow import EarlierLoop, Flow
from stretto.engine.inline_ids import Loop, inline_workflow_id, is_inline, iteration_uuid, nearest_workflow
from stretto.engine.plan import Plan, StepPlan
from stretto.engine.records import AttemptRecord, LoopRecord, RunKey, RunRecord
from stretto.engine.turn import Task, Turn
from stretto.model.initiator import (
    Ancestor,
    ForeachInitiator,
    Initiator,
    UpstreamFields,
    WhileInitiator,
)
from stretto.model.param import Parameter, ParamType
from stretto.model.status import RunStatus
from stretto.model.step import ForeachStep, WhileStep
from stretto.params import MissingKeys

RESULTS: Final = (
    (RunStatus.FAILED, ResultState.FATAL_ERROR),
    (RunStatus.TIMED_OUT, ResultState.TIMED_OUT),
    (RunStatus.STOPPED, ResultState.STOPPED),
)


class IterationParams(Mapping[str, Parameter]):
    """The parameters of an iteration: its own over those of the run around it, which are not copied."""

    __slots__ = ("_base", "_own")

    def __init__(self, own: Mapping[str, Parameter], base: Mapping[str, Parameter]) -> None:
        self._own = own
        self._base = base

    def __getitem__(self, name: str) -> Parameter:
        found = self._own.get(name)
        return self._base[name] if found is None else found

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._base

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from (name for name in self._base if name not in self._own)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def ancestors_of(flow: Flow, attempt: AttemptRecord) -> tuple[Ancestor, ...]:
    """The attempt and everything above it, from the root down."""
    run = flow.run
    above = run.initiator.ancestors if isinstance(run.initiator, UpstreamFields) else ()
    own = Ancestor(
        workflow_id=run.key.workflow_id,
        instance_id=run.key.instance_id,
        run_id=run.key.run_id,
        step_id=attempt.key.step_id,
        step_attempt_id=attempt.key.number,
    )
    return (*above, own)


def too_deep(flow: Flow, plan: StepPlan) -> str | None:
    limit = flow.tree.settings.depth
    if flow.depth + 1 >= limit:
        return f"the depth {flow.depth + 1} of step {plan.id} is not less than the depth limit: {limit}"
    return None


def inline_id(flow: Flow, attempt: AttemptRecord, kind: Loop) -> str:
    """The workflow id under which the iterations of a loop are kept."""
    run = flow.run
    if is_inline(run.key.workflow_id) and isinstance(run.initiator, UpstreamFields):
        root = nearest_workflow(run.initiator.ancestors).instance_id
    else:
        root = run.key.instance_id
    key = run.key
    return inline_workflow_id(
        kind, flow.tree.internal_id, key.workflow_id, key.instance_id, attempt.key.step_id, root
    )


def earlier_loop(flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> EarlierLoop | MissingKeys | None:
    """What a restarted loop takes over: from an earlier run, or, restarted by hand, from this one."""
    if attempt.loop_run is None:
        return flow.earlier_loops.get(plan.id)
    if not attempt.manual:
        return None  # a redirect: everything once more
    key = ("iterations", plan.id, attempt.key.number)
    found: EarlierLoop | None = flow.fetched.get(key)
    return found if key in flow.fetched else MissingKeys((key,))


def next_loop_run(flow: Flow, attempt: AttemptRecord, earlier: EarlierLoop | None = None) -> int:
    """The run id of the iterations to come: above every one that an iteration of this step has had."""
    used = [earlier.run_id] if earlier is not None else []
    if attempt.loop_run is not None:
        used.append(attempt.loop_run)
    return max(used) + 1 if used else flow.run.key.run_id


def launch_iteration(
    turn: Turn,
    flow: Flow,
    plan: StepPlan,
    attempt: AttemptRecord,
    loop: LoopRecord,
    values: Mapping[str, Parameter],
) -> None:
    """Begin the next iteration of a loop."""
    step = plan.step
    assert isinstance(step, ForeachStep | WhileStep)  # noqa: S101 - the kind says so
    index = loop.next_index
    turn.touch(loop, flow)
    loop.next_index = index + 1
    sibling = next(iter(flow.children.get(plan.index, {}).values()), None)
    make = ForeachInitiator if isinstance(step, ForeachStep) else WhileInitiator
    # All iterations of an attempt stand under the same step: one record says so for all that are alive.
    initiator = make(ancestors=ancestors_of(flow, attempt)) if sibling is None else sibling.run.initiator
    own = _own_params(step, attempt, values, index, turn.now)
    open_iteration(turn, flow, plan.index, loop, index, Body(plan.body, initiator, own))


class Body(NamedTuple):
    """What an iteration is made of: its steps, who it stands under, and the parameters of its own."""

    plan: Plan
    initiator: Initiator
    params: Mapping[str, Parameter]


def open_iteration(
    turn: Turn,
    flow: Flow,
    parent: int,
    loop: LoopRecord,
    index: int,
    body: Body,
) -> Flow:
    """A run inside this run. It needs no strategy and no message: it lives in this decision."""
    paused = flow.run.paused
    run = RunRecord(
        key=RunKey(loop.inline_id, index + 1, loop.run_id),
        uuid=iteration_uuid(loop.inline_id, loop.run_id, index),
        version_id=flow.run.version_id,
        status=RunStatus.PAUSED if paused else RunStatus.IN_PROGRESS,
        paused=paused,
        initiator=body.initiator,
        correlation_id=flow.run.correlation_id,
        owner=flow.run.owner,
        params=IterationParams(body.params, flow.run.params),
        create_time=turn.now,
        start_time=turn.now,
    )
    child = Flow(run, body.plan, flow.tree, parent=(flow, parent))
    turn.add_run(run, child)
    for source in body.plan.sources:
        turn.schedule(child, source)
    if not body.plan.sources:
        turn.later(Task.LOOK, child)  # nothing begins in it that would look when it ends
    return child


def _own_params(
    step: ForeachStep | WhileStep, attempt: AttemptRecord, values: Mapping[str, Any], index: int, now: int
) -> dict[str, Parameter]:
    """The loop step's own parameters, the index, and one value for each loop parameter."""
    evaluated = attempt.params or {}
    own = {name: evaluated[name] for name in step.params or () if name != "loop_params" and name in evaluated}
    own["loop_index"] = Parameter(
        type=ParamType.LONG, value=index, evaluated_result=index, evaluated_time=now
    )
    if isinstance(step, WhileStep):
        own["condition"] = Parameter(
            type=ParamType.BOOLEAN, value=True, evaluated_result=True, evaluated_time=now
        )
    own.update(values)
    return own


def count_iteration(turn: Turn, flow: Flow, loop: LoopRecord, child: Flow) -> None:
    """An iteration has ended: count it and its leaves, and let go of it."""
    turn.touch(loop, flow)
    loop.ended = {**loop.ended, child.run.status: loop.ended.get(child.run.status, 0) + 1}
    leaves = dict(loop.leaves)
    for status, count in child.counts.items():
        leaves[status] = leaves.get(status, 0) + count
    loop.leaves = leaves
    child.drop()
    limit = flow.tree.settings.leaves
    if limit is not None and sum(leaves.values()) > limit:
        reason = f"more than {limit:,} steps ran in the loop {loop.key.step_id}"
        turn.later(Task.END_RUN, turn.root, RunAction.STOP, reason)


def loop_result(loop: LoopRecord) -> ResultState:
    """How a loop ended whose iterations have all ended: the worst of them."""
    return next((state for status, state in RESULTS if loop.ended.get(status)), ResultState.DONE)
