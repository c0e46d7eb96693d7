"""Why a run or a step waits, since when, and what would move it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.blocked import Blocked, blocked_by
from stretto.actions.parts.finding import LATEST, find_run
from stretto.actions.parts.living import Gone, unattended, unseen
from stretto.actions.parts.offload import offload
from stretto.actions.reading.aggregation import aggregate
from stretto.actions.reading.blockers import (
    Blocker,
    BlockerKind,
    Help,
    blockers_of,
    for_people,
    left_alone,
    with_holders,
)
from stretto.actions.reading.definitions import definition_of, instance_definition
from stretto.actions.reading.flows import flow_of
from stretto.actions.reading.waits_below import Open, with_waits_below
from stretto.engine.compensation import undo_plan
from stretto.engine.flow import UNDO, Flow, Tree
from stretto.engine.loading import load_flow
from stretto.engine.records import AttemptKey, Compensation, RunKey, RunRecord
from stretto.engine.run_text import holder_of, pause_text
from stretto.engine.settings import EngineSettings
from stretto.engine.why import Cause, Reason, Why, why
from stretto.model.errors import Forbidden, NotFound
from stretto.model.response import Hold
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus, StepStatus
from stretto.model.suggest import did_you_mean
from stretto.ports.admission import SnapshotDetail, TransactionScope, WorkflowDecision, WorkflowSnapshot
from stretto.ports.loading import FlowRows
from stretto.ports.rows import Phase, RunRow
from stretto.ports.run_snapshot import NewestAttempts, read_run
from stretto.ports.store import Store
from stretto.strategies import Waiting, explain, explain_paused

A_SLOT: Final = "a run that has one ends, or the workflow gets more"
MOVES: Final[Mapping[Hold, str]] = {
    Hold.PAUSED: "the workflow gets a concurrency above 0",
    Hold.BLOCKED: "the run that has failed is restarted or unblocked",
    Hold.BEHIND_PAUSED: "the run that is paused before it is resumed or stopped",
    Hold.REPLACING: "the run before it has ended",
    Hold.BUSY: "the run before it has ended",
    Hold.BEHIND: "the runs before it have begun",
    Hold.NOTHING: "its turn comes, which is now",
}


ACTIONS: Final[Mapping[Hold, tuple[Help, ...]]] = {  # what helps, if it is not the stop of the run alone
    Hold.BLOCKED: (Help.RESTART, Help.UNBLOCK, Help.STOP),
    Hold.BEHIND_PAUSED: (Help.RESUME, Help.STOP),
}


class WhyRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run: why it is queued, what each of its unfinished steps waits for, or how it has ended.

    blockers     What is in its way; of steps that wait for other steps, nothing is said.
    next_check   When something is looked at again by itself, in milliseconds since 1970.
    """

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int
    status: RunStatus
    since: int | None = None
    sentence: str
    blockers: tuple[Blocker, ...] = ()
    next_check: int | None = None
    steps: tuple[Why, ...] = ()


class WhyStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step of that run: what is in its way, and every reason for where it is."""

    step_id: str
    status: StepStatus
    since: int | None = None
    sentence: str
    blockers: tuple[Blocker, ...] = ()
    next_check: int | None = None
    reasons: tuple[Reason, ...] = ()

    def __str__(self) -> str:
        return self.sentence


async def why_run(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    run: str = LATEST,
    *,
    gone: Gone = unseen,
) -> WhyRun:
    """Why a run has not ended. `gone`: see `unattended`."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    row = await find_run(store, workflow_id, instance_id, run)
    steps: tuple[Why, ...] = ()
    blockers: list[Blocker] = []
    aside = await _quarantine(store, row)
    if aside is not None:
        sentence = aside.detail
        blockers.append(aside)
    elif row.phase is Phase.QUEUED and row.record.is_paused:
        sentence = await _why_paused(store, row)
        blockers.append(_pause(row))
    elif row.phase is Phase.QUEUED:
        queued = await _why_queued(store, row.key)
        sentence = queued if isinstance(queued, str) else queued.sentence
        blockers.append(_blocker_of_queued(row, queued))
    elif row.phase is Phase.ENDED:
        sentence = f"run {row.key} has ended {row.record.status}{_cause(row)}{_undone(row.record)}"
    else:
        flow = await _flow(store, row)
        undo = next(iter(flow.children.get(UNDO, {}).values()), None)
        seen = undo or flow
        steps = await offload(len(seen.plan.steps), _unfinished, seen)
        steps = await with_waits_below(seen, steps, _opening(store, caller))
        sentence = _not_ended(flow, steps) if undo is None else _being_undone(row, undo)
        flow = seen
        blockers += _blockers_of_run(await _in_the_way(store, caller, flow, steps))
        if row.record.is_paused:
            sentence = f"{pause_text(row.record)}; {sentence}"
            if all(each.kind is not BlockerKind.PAUSE for each in blockers):
                blockers.append(_pause(row))
    nobody = None if aside is not None else await _nobody(store, row, gone)
    if nobody is not None:
        blockers, sentence = [nobody, *blockers], f"{nobody.detail}; {sentence}"
        steps = tuple(msgspec.structs.replace(each, reasons=left_alone(each.reasons)) for each in steps)
    return WhyRun(
        workflow_id=workflow_id,
        workflow_instance_id=instance_id,
        workflow_run_id=row.key.run_id,
        status=row.record.status,
        since=row.record.end_time or row.record.start_time or row.record.create_time,
        sentence=sentence,
        blockers=tuple(blockers),
        next_check=_next_check(*steps),
        steps=steps,
    )


async def _quarantine(store: Store, row: RunRow) -> Blocker | None:
    """What is in the way of everything in a run that was set aside, also of the iterations inside it."""
    root = row if row.root == row.key else await read_run(store, row.root)
    if root is None or root.quarantined is None:
        return None
    detail = f"run {root.key} is quarantined: {root.quarantined}"
    return _blocker(root, BlockerKind.QUARANTINE, detail, "it is released", Help.RELEASE)


async def _nobody(store: Store, row: RunRow, gone: Gone) -> Blocker | None:
    """Whoever looks after a run may be gone: then nothing of it goes on. A pause holds it anyway."""
    if row.phase is Phase.ENDED or row.record.is_paused:
        return None
    found = await unattended(store, row, gone)
    if found is None:
        return None
    made = _blocker(row, BlockerKind.NODE, found.sentence, found.moves_when)
    return msgspec.structs.replace(made, since=found.since)


def _unfinished(flow: Flow) -> tuple[Why, ...]:
    answers = (why(flow, step.id) for step in flow.plan.steps)
    return tuple(each for each in answers if each is not None and each.status.is_wakeable)


def _not_ended(flow: Flow, steps: Sequence[Why]) -> str:
    has = "1 step of run {} has" if len(steps) == 1 else f"{len(steps)} steps of run {{}} have"
    return f"{has.format(flow.run.key)} not ended"


def _being_undone(row: RunRow, undo: Flow) -> str:
    """A run that ends badly, and undoes what it did before."""
    done = sum(record is not None and record.status.is_terminal for record in undo.attempts)
    ended = f"{done} of {len(undo.plan.steps)} undos have ended"
    return f"what run {row.key} did is being undone{_cause(row)}; {ended}"


def _undone(record: RunRecord) -> str:
    """What became of the undo of a run that has ended."""
    if record.compensation is None:
        return ""
    if record.compensation is Compensation.COMPENSATED:
        return "; what it did is undone"
    return "; not all that it did is undone: its timeline says what"


def _blocker(row: RunRow, kind: BlockerKind, detail: str, moves_when: str, *actions: Help) -> Blocker:
    return Blocker(
        kind=kind,
        ref="/".join(map(str, row.key)),
        since=row.record.create_time,
        detail=detail,
        moves_when=moves_when,
        actions=actions,
    )


def _pause(row: RunRow) -> Blocker:
    made = _blocker(row, BlockerKind.PAUSE, pause_text(row.record), "it is resumed", Help.RESUME, Help.STOP)
    return msgspec.structs.replace(made, ref="/".join(map(str, holder_of(row.record))))


def _blockers_of_run(found: Iterable[tuple[Why, tuple[Blocker, ...]]]) -> Iterator[Blocker]:
    """Where it is held up: what waits for other steps does not hold it up."""
    for step, blockers in found:
        for each in blockers:
            if each.kind is not BlockerKind.PREDECESSOR or Help.RESTART in each.actions:
                yield msgspec.structs.replace(each, step_id=step.step_id)


async def _in_the_way(
    store: Store, caller: Caller, flow: Flow, steps: Sequence[Why]
) -> list[tuple[Why, tuple[Blocker, ...]]]:
    """What is in the way of each step; of permits, with who has them."""
    keys = [_waits_for_permits(flow, step) for step in steps]
    waiting = {
        key: [reason.subject for reason in step.reasons]
        for key, step in zip(keys, steps, strict=True)
        if key is not None
    }
    held = await blocked_by(store, caller, waiting) if waiting else Blocked({}, ())
    return [
        (step, blockers_of(step) if key is None else with_holders(blockers_of(step), held.by[key], held.tags))
        for key, step in zip(keys, steps, strict=True)
    ]


def _waits_for_permits(flow: Flow, step: Why) -> AttemptKey | None:
    """The attempt of a step that does."""
    if all(reason.cause is not Cause.PERMIT for reason in step.reasons):
        return None
    attempt = flow.attempts[flow.plan.numbers[step.step_id]]
    return None if attempt is None else attempt.key


def _next_check(*steps: Why) -> int | None:
    times = (reason.until for step in steps for reason in step.reasons)
    return min((each for each in times if each is not None), default=None)


def _cause(row: RunRow) -> str:
    """What made a run end badly: the step that failed first, or whoever asked for it."""
    error, said = row.summary.first_error, row.record.ended_by
    if error is not None:
        said = ": ".join(filter(None, (f"step [{error.step_id}] is {error.status}", error.text)))
    return f": {said}" if said and row.record.status is not RunStatus.SUCCEEDED else ""


async def why_step(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    step_id: str,
    run: str = LATEST,
    *,
    gone: Gone = unseen,
) -> WhyStep:
    """Why a step of a run is where it is. `gone`: see `unattended`."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    row = await find_run(store, workflow_id, instance_id, run)
    flow = await _flow(store, row)
    found = why(flow, step_id)
    if found is None:
        hint = did_you_mean(step_id, [step.id for step in flow.plan.steps])
        raise NotFound(f"Run {row.key} has no step [{step_id}]", hint=hint)
    (found,) = await with_waits_below(flow, [found], _opening(store, caller))
    ((_step, blockers),) = await _in_the_way(store, caller, flow, [found])
    sentence = for_people(str(found), found.reasons)
    aside = None
    if not found.status.is_terminal:
        aside = await _quarantine(store, row) or await _nobody(store, row, gone)
    if aside is not None:
        if aside.kind is BlockerKind.NODE:
            found = msgspec.structs.replace(found, reasons=left_alone(found.reasons))
            sentence = for_people(str(found), found.reasons)
        blockers, sentence = (aside, *blockers), f"{aside.detail}; {sentence}"
    times = [reason.since for reason in found.reasons if reason.since is not None]
    return WhyStep(
        step_id=step_id,
        status=found.status,
        since=min(times, default=None),
        sentence=sentence,
        blockers=blockers,
        next_check=_next_check(found),
        reasons=found.reasons,
    )


def _blocker_of_queued(row: RunRow, queued: Waiting | str) -> Blocker:
    """A strategy with several slots has none free, or it says otherwise that the run must wait. What it is
    about is the run in the way, if there is one.
    """
    if isinstance(queued, str):
        return _blocker(row, BlockerKind.STRATEGY, queued, "the run strategy lets it begin", Help.STOP)
    kind = BlockerKind.SLOT if queued.has_no_slot else BlockerKind.STRATEGY
    actions = ACTIONS.get(queued.hold, (Help.STOP,))
    moves = A_SLOT if queued.has_no_slot else MOVES[queued.hold]
    found = _blocker(row, kind, queued.sentence, moves, *actions)
    if not queued.in_the_way:
        return found
    first = queued.in_the_way[0]
    return msgspec.structs.replace(found, ref=f"{row.key.workflow_id}/{first.instance_id}/{first.run_id}")


async def _why_paused(store: Store, row: RunRow) -> str:
    """What a paused run is in its queue: each run strategy says what that means for the others."""
    found = await store.look_at_queue(row.key.workflow_id)
    place = "queued" if found is None else f"queued, and {explain_paused(found[0])}"
    return f"run {row.key} is {place}: {pause_text(row.record)}"


async def _why_queued(store: Store, run: RunKey) -> Waiting | str:
    """Asked under the workflow's lock, so that queue and runs belong together; nothing is written."""
    everything = SnapshotDetail(queue=None, paused=None, running=True, failed=True)
    scope = TransactionScope(detail=lambda _strategy: everything)
    done = await store.transact(run.workflow_id, scope, lambda snapshot: _explained(snapshot, run))
    return done.answer


def _explained(snapshot: WorkflowSnapshot, run: RunKey) -> WorkflowDecision[Waiting | str]:
    if run not in snapshot.queue:
        return WorkflowDecision(answer=f"run {run} has just left the queue")
    return WorkflowDecision(
        answer=explain(
            snapshot.strategy,
            run,
            snapshot.queue,
            snapshot.running,
            snapshot.failed,
            snapshot.paused,
        )
    )


def _opening(store: Store, caller: Caller) -> Open:
    """How runs below are looked into, if the caller may see them."""

    async def open_run(run: RunKey) -> Flow | None:
        row = await read_run(store, run)
        if row is None or row.phase in {Phase.QUEUED, Phase.ENDED}:
            return None
        try:
            await check_access(store, caller, Right.VIEW, run.workflow_id)
        except Forbidden:
            return None
        return await _flow(store, row)

    return open_run


async def _flow(store: Store, row: RunRow) -> Flow:
    """The run as its owner has it, with everything that is alive in it; one that has ended alone."""
    if row.phase is Phase.ENDED:
        return await _opened(store, row, load=True)
    (rows,) = await store.load_flows([row.root])
    root = await _opened(store, rows.run)
    await offload(len(root.plan.steps) + len(rows.attempts), _load_live, root, rows)
    return root.tree.live[row.key]


def _load_live(root: Flow, rows: FlowRows) -> None:
    """Load a run that goes on, with its live iterations."""
    for loop in rows.loops:
        loop.ended = dict(rows.ended[loop.key])
    iterations = (each.record for each in rows.iterations)
    load_flow(root, iterations, (each.record for each in rows.attempts), rows.loops)


async def _opened(store: Store, row: RunRow, *, load: bool = False) -> Flow:
    if row.record.policy is RunPolicy.UNDO and row.root == row.key:
        workflow = await instance_definition(store, row)
        plan = undo_plan(workflow.steps, row.record.covers or ())
        flow = Flow(row.record, plan, Tree(workflow, EngineSettings()))
        if load:
            flow.load(each.record for each in await store.attempts(NewestAttempts((row.key,))))
        return flow
    workflow = await definition_of(store, row)
    state = await aggregate(store, workflow, row)
    return await offload(len(workflow.steps), flow_of, state, workflow, load=load)
