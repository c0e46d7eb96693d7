"""What foreach and while have in common: iterations are flows inside the flow, and end in its decisions."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from stretto.engine.attempt_params import own_names
from stretto.engine.earlier import NO_EARLIER
from stretto.engine.events import ResultState, RunAction
from stretto.engine.flow import Flow
from stretto.engine.inline_ids import Loop, inline_workflow_id, is_inline, iteration_uuid, nearest_workflow
from stretto.engine.kinds.reruns import FRESH, Rerun, first_run_below, plan_of_rerun
from stretto.engine.live_rollup import add_leaves, kept_leaves, take_leaves
from stretto.engine.plan import Plan, StepPlan
from stretto.engine.records import AttemptRecord, LoopRecord, RunKey, RunRecord, failure_event
from stretto.engine.restart_path import Restart
from stretto.engine.turn import Task, Turn
from stretto.model.initiator import (
    Ancestor,
    ForeachInitiator,
    Initiator,
    UpstreamFields,
    WhileInitiator,
)
from stretto.model.param import ParamDefinition, Parameter, ParamSource, ParamType
from stretto.model.run_config import RestartConfig, RunPolicy
from stretto.model.status import RunStatus
from stretto.model.step import ForeachStep, WhileStep

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


def refuse(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, reason: str) -> None:
    """The work of a step can not begin or go on: the step fails, and its timeline has the error."""
    event = failure_event(turn.now, f"Step [{plan.id}] can not be carried out", (reason,))
    turn.add_events(flow, attempt, (event,))
    turn.later(Task.CONCLUDE, flow, plan.index, ResultState.FATAL_ERROR, reason)


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


class Iteration(NamedTuple):
    """Which iteration, counted from 0, with which values; `rerun`: it has run before."""

    at: int
    values: Mapping[str, Parameter]
    rerun: Rerun | None = None


def launch_iteration(
    turn: Turn,
    flow: Flow,
    plan: StepPlan,
    attempt: AttemptRecord,
    loop: LoopRecord,
    which: Iteration,
) -> None:
    """Begin an iteration of a loop."""
    step = plan.step
    assert isinstance(step, ForeachStep | WhileStep)  # noqa: S101 - the kind says so
    sibling = next(iter(flow.children.get(plan.index, {}).values()), None)
    make = ForeachInitiator if isinstance(step, ForeachStep) else WhileInitiator
    # All iterations of an attempt stand under the same step: one record says so for all that are alive.
    initiator = make(ancestors=ancestors_of(flow, attempt)) if sibling is None else sibling.run.initiator
    own = _own_params(flow, step, attempt, which, turn.now)
    body = Body(plan.body, initiator, own, which.rerun, first_run_below(flow, attempt))
    if which.rerun is not None:
        raise_loop_run(turn, flow, attempt, which.rerun.run_id)
    open_iteration(turn, flow, plan.index, loop, which.at, body)


def is_held(flow: Flow, attempt: AttemptRecord) -> bool:
    """Whether no iteration of a loop may begin: its run is paused, or something around it is being ended."""
    run = flow.run
    return (
        run.is_paused or run.ending is not None or attempt.ending is not None or flow.end_to_come is not None
    )


def may_begin(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> bool:
    """Whether an iteration may begin in this decision. If not, the loop is looked at again: after the commit,
    if this decision has done enough, or when there is room in memory. A loop without iterations has room
    for one, so that loops inside each other do not wait for each other.
    """
    if turn.is_full:
        turn.resume_later(attempt)
        return False
    tree = flow.tree
    leaves = plan.body.leaves
    if flow.children.get(plan.index) and not tree.has_room(leaves):
        tree.waiting_loops[attempt.key] = leaves
        return False
    return True


def look_at_waiting(turn: Turn) -> None:
    """There may be room for an iteration again: look at the loop that has waited longest."""
    tree = turn.root.tree
    while tree.waiting_loops:
        key, leaves = next(iter(tree.waiting_loops.items()))
        if not tree.has_room(leaves):
            return
        turn.stop_waiting(key)
        flow = tree.live.get(key.run)
        if flow is not None and flow.attempt(key) is not None:
            turn.look_at_loop(flow, flow.plan.numbers[key.step_id])
            return


class Body(NamedTuple):
    """What an iteration is made of: its steps, who it stands under, and the parameters of its own.

    `rerun`: it is not the first run of the iteration, or not with all of its steps. `first`: how its first
    run runs.
    """

    plan: Plan
    initiator: Initiator
    params: Mapping[str, Parameter]
    rerun: Rerun | None = None
    first: Restart = FRESH


def open_iteration(
    turn: Turn,
    flow: Flow,
    parent: int,
    loop: LoopRecord,
    index: int,
    body: Body,
) -> Flow:
    """A run inside this run. It needs no strategy and no message: it lives in this decision."""
    held, rerun, run_id, plan = flow.run.is_paused, body.rerun, loop.run_id, body.plan
    if rerun is not None:
        run_id, plan = rerun.run_id, plan_of_rerun(plan, rerun.policy, rerun.covers)
    run = RunRecord(
        key=RunKey(loop.inline_id, index + 1, run_id),
        uuid=iteration_uuid(loop.inline_id, run_id, index),
        version_id=flow.run.version_id,
        status=RunStatus.PAUSED if held else RunStatus.IN_PROGRESS,
        policy=body.first.policy,
        restart=body.first.config,
        held=held,
        initiator=body.initiator,
        correlation_id=flow.run.correlation_id,
        tree_limit=flow.run.tree_limit,
        criticality=flow.run.criticality,
        owner=flow.run.owner,
        params=IterationParams(body.params, flow.run.params),
        create_time=turn.now,
        start_time=turn.now,
    )
    earlier = NO_EARLIER
    if rerun is not None:
        earlier = rerun.earlier
        run.policy, run.restart, run.covers = rerun.policy, rerun.config, rerun.covers
        if rerun.covers is not None and rerun.policy is not RunPolicy.UNDO:
            run.base = kept_leaves(earlier, rerun.covers).record()
        if rerun.policy is RunPolicy.RESTART_FROM_SPECIFIC:
            run.before = earlier.end(timeouts_fail=not flow.tree.workflow.follows_maestro)
        run.params = IterationParams({**body.params, **_changed(rerun.config, turn.now)}, flow.run.params)
    child = Flow(run, plan, flow.tree, (flow, parent), earlier)
    turn.add_run(run, child)
    for source in plan.sources:
        if rerun is None or child.begins_itself(plan.steps[source]):
            turn.schedule(child, source)
    if not plan.sources:
        turn.later(Task.LOOK, child)  # nothing begins in it that would look when it ends
    return child


def _changed(config: RestartConfig | None, now: int) -> dict[str, Parameter]:
    """Parameters that the request to restart an iteration changes: they were evaluated when it was made."""
    if config is None or len(config.restart_path) > 1:
        return {}
    return {
        name: Parameter(
            type=each.type,
            value=each.value,
            evaluated_result=_plain(each),
            evaluated_time=now,
            source=ParamSource.RESTART,
        )
        for name, each in (config.restart_params or {}).items()
    }


def _plain(param: ParamDefinition) -> Any:
    """The result of a literal."""
    if param.type is not ParamType.MAP:
        return param.value
    return {name: _plain(each) for name, each in (param.value or {}).items()}


def _own_params(
    flow: Flow, step: ForeachStep | WhileStep, attempt: AttemptRecord, which: Iteration, now: int
) -> dict[str, Parameter]:
    """The loop step's own parameters, also those that a request gives to it; the index, and one value for
    each loop parameter.
    """
    evaluated = attempt.params or {}
    names = own_names(flow, step, attempt)
    own = {name: evaluated[name] for name in names if name != "loop_params" and name in evaluated}
    own["loop_index"] = Parameter(
        type=ParamType.LONG, value=which.at, evaluated_result=which.at, evaluated_time=now
    )
    if isinstance(step, WhileStep):
        own["condition"] = Parameter(
            type=ParamType.BOOLEAN, value=True, evaluated_result=True, evaluated_time=now
        )
    own.update(which.values)
    return own


def count_iteration(turn: Turn, flow: Flow, loop: LoopRecord, child: Flow) -> None:
    """An iteration has ended: count it and its leaves, and let go of it."""
    turn.touch(loop, flow)
    end = child.run.status
    if child.run.key.run_id == loop.run_id:
        loop.ended = {**loop.ended, end: loop.ended.get(end, 0) + 1}
    else:
        loop.apart = {**loop.apart, end: loop.apart.get(end, 0) + 1}
    add_leaves(loop, child)
    child.drop()
    look_at_waiting(turn)
    limit = flow.tree.settings.leaves
    if limit is not None and sum(loop.leaves.values()) > limit:
        reason = f"more than {limit:,} steps ran in the loop {loop.key.step_id}"
        turn.later(Task.END_RUN, turn.root, RunAction.STOP, reason)


def uncount_rerun(loop: LoopRecord, iteration: int, rerun: Rerun | None) -> None:
    """An iteration of a restarted loop runs again: what it came to before counts no more."""
    if rerun is not None and loop.keeps_leaves:
        take_leaves(loop, iteration, rerun.earlier)


def note_loop_runs(turn: Turn, flow: Flow, attempt: AttemptRecord, child: Flow) -> None:
    """Let the highest run id below an iteration be known above it, also that of what has undone it."""
    runs = (record.loop_run or 0 for record in child.attempts if record is not None)
    raise_loop_run(turn, flow, attempt, max((*runs, *child.run.undone.values()), default=0))


def raise_loop_run(turn: Turn, flow: Flow, attempt: AttemptRecord, run_id: int) -> None:
    """Record the highest run id that an iteration of an attempt, or a run below one, has had."""
    if run_id > (attempt.loop_run or 0):
        turn.touch(attempt, flow)
        attempt.loop_run = run_id


def ended_so(loop: LoopRecord, status: RunStatus) -> int:
    """How many iterations of a loop have ended in a status, kept ones and restarted ones included."""
    return loop.ended.get(status, 0) + loop.apart.get(status, 0)


def loop_result(loop: LoopRecord) -> ResultState:
    """How a loop ended whose iterations have all ended: the worst of them."""
    return next((state for status, state in RESULTS if ended_so(loop, status)), ResultState.DONE)
