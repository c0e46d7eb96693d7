"""What all restarts have in common: from the place that a user names up to the run that can be restarted.

place --up, while a step waits for the run--> an ancestor that has ended: a new run of it
                                          --> an ancestor that runs: a new attempt of its step
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.admission import Admitted, Candidate, admit_all
from stretto.actions.parts.candidate import Sender
from stretto.actions.parts.evaluation import (
    Evaluator,
    FreshRun,
    evaluate_here,
    facts_of,
    question_of,
    signals_of,
    unique_number,
)
from stretto.actions.parts.finding import find_newest_run
from stretto.actions.parts.offload import offload, size_of
from stretto.actions.parts.overrides import check_covered, check_overrides, try_overrides
from stretto.actions.parts.unread_changes import check_unread, told_changes
from stretto.actions.reading.aggregation import aggregate_runs
from stretto.actions.reading.definitions import instance_definition
from stretto.definition.functions import steps_by_id
from stretto.definition.graph import Graph
from stretto.definition.restart import waiting_roots
from stretto.engine.inline_ids import is_inline
from stretto.engine.opening import dag_of_run, restarted_step
from stretto.engine.records import RunKey, RunRecord
from stretto.engine.restart_path import climb
from stretto.model.errors import WrongState
from stretto.model.initiator import Ancestor, Initiator, ManualInitiator, UpstreamFields
from stretto.model.param import Parameter, Params, ParamSource
from stretto.model.run_config import RestartConfig, RunPolicy
from stretto.model.status import InstanceStatus, RunStatus, StepStatus
from stretto.model.timeline import LogEvent
from stretto.model.workflow import Workflow
from stretto.params import derived_params, restarted_params, retried_params
from stretto.params.literals import definition_of as bare
from stretto.params.literals import literal_of
from stretto.ports.hints import SILENT, Hints
from stretto.ports.rows import RunRow
from stretto.ports.store import Store
from stretto.strategies import Restart


class Again(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is to be restarted: how, by whom, and under which request id.

    A step that restarts its child is the `sender`, and hands parameters down to it.
    """

    row: RunRow
    policy: RunPolicy
    config: RestartConfig
    caller: Caller
    request_id: str
    request_time: int | None = None
    hints: Hints = SILENT
    sender: Sender | None = None
    initiator: Initiator | None = None  # of the new run; None: it is the caller's
    handed_down: Params = {}
    evaluate: Evaluator = evaluate_here

    @property
    def goes_on(self) -> bool:
        """It has not ended: only its step on the path can be restarted."""
        return not self.row.record.status.is_terminal

    @property
    def is_end_of_path(self) -> bool:
        """It is what the user named; parameters of the request are for it alone."""
        return len(self.config.restart_path) == 1


def waiting_parent(initiator: Initiator) -> Ancestor | None:
    """The step that waits, or waited, for a run; a run that nobody waits for is restarted by itself."""
    if not isinstance(initiator, UpstreamFields) or initiator.parent.sync is False:
        return None
    return initiator.parent


async def climb_up(store: Store, again: Again) -> Again:
    """The restart seen from the nearest run above, or this one, with which it can begin."""
    while not again.goes_on and (parent := waiting_parent(again.row.record.initiator)) is not None:
        await check_place(store, again)
        policy, config = climb(again.config, parent)
        await check_access(store, again.caller, Right.RUN, parent.workflow_id)
        row = await find_newest_run(store, parent.workflow_id, parent.instance_id)
        again = msgspec.structs.replace(again, row=row, policy=policy, config=config or again.config)
    return again


async def next_run(store: Store, again: Again) -> Admitted:
    """A new run of an instance that has ended, put to the run strategy of its workflow."""
    place = await check_place(store, again)
    workflow = place.workflow
    params = await _params(store, workflow, again)
    kept = again.row.record.step_run_params
    overrides = await offload(len(kept), _kept_overrides, workflow, again)
    told = await _told(again, place)
    sender = again.sender
    candidate = Candidate(
        request=Restart(
            again.request_id, again.row.key.instance_id, held=sender is not None and sender.holds
        ),
        record=lambda key, now: _record(again, place.status, params, overrides, told, key, now),
        parent=None if sender is None else sender.parent,
        lease=None if sender is None else sender.lease,
    )
    return await admit_all(store, workflow.id, [candidate], hints=again.hints)


class Place(NamedTuple):
    """What is restarted: the steps that the new run would cover, and how each and the instance have ended."""

    workflow: Workflow
    covered: Collection[str]
    statuses: Mapping[str, StepStatus]
    status: InstanceStatus


async def check_place(store: Store, again: Again) -> Place:
    """The definition that is restarted. Refused, if no step would be covered, or if the step on the path is
    behind one that must be restarted first.
    """
    workflow = await instance_definition(store, again.row)
    state = await aggregate_runs(store, workflow, again.row)
    covered = dag_of_run(workflow, again.policy, state.statuses, again.config)
    step = restarted_step(again.config)
    if step is not None:
        edges = {each.id: each.transition.successors for each in workflow.steps if each.id in covered}
        waiting_roots(Graph(edges), step)
    return Place(workflow, covered, state.statuses, state.info.workflow_instance_status)


async def checked(store: Store, again: Again) -> Again:
    """The restart of what a user named, whose parameters can be used; those that can not are refused here,
    and not where nobody would see it: in a step above, or in the step that reads them.
    """
    steps = {step: given for step, given in (again.config.step_restart_params or {}).items() if given}
    if steps:
        workflow = await instance_definition(store, again.row)
        await offload(len(steps), check_overrides, workflow, steps)
        if not again.goes_on:
            covered = (await check_place(store, again)).covered
            await offload(len(steps), check_covered, workflow, steps, covered)
        await try_overrides(store, workflow, steps, again.row.record.params, restarting=True)
    made = await _with_results(store, again)
    given = again.config.restart_params
    if given and again.row.record.params:
        place = await check_place(store, again)
        workflow, covered = place.workflow, place.covered
        size = size_of(workflow)
        await offload(size, check_unread, workflow, again.row.record.params, given, covered)
    return made


async def _told(again: Again, place: Place) -> tuple[str, ...]:
    """What the timeline of the new run says about the parameters that are changed."""
    given, before = again.config.restart_params, again.row.record.params
    if not (given and before and again.is_end_of_path):
        return ()
    named = (place.workflow, before, given, place.covered, place.statuses)
    return await offload(size_of(place.workflow), told_changes, *named)


async def _with_results(store: Store, again: Again) -> Again:
    """The restart of an iteration, with the results of the parameters that it changes: an iteration begins in
    a decision of the run around it, where nothing that may take long is evaluated. A run below another one is
    begun by a step; what it can not use is refused before.
    """
    given, row = again.config.restart_params, again.row
    if not given:
        return again
    if again.goes_on:
        raise WrongState(
            f"Cannot change parameters of run {row.key}: it goes on, and they are fixed",
            hint="give them to the step (step_run_params), or restart once the run has ended",
        )
    if waiting_parent(row.record.initiator) is None:
        return again
    results = await _params(store, await instance_definition(store, row), again)
    if not is_inline(row.key.workflow_id):
        return again
    literals = {
        name: msgspec.structs.replace(
            bare(literal_of(results[name])), mode=each.mode, tags=each.tags, source=None
        )
        for name, each in given.items()
    }
    return msgspec.structs.replace(
        again, config=msgspec.structs.replace(again.config, restart_params=literals)
    )


async def _params(store: Store, workflow: Workflow, again: Again) -> Mapping[str, Parameter]:
    """Every run has parameters: one without could not evaluate them, and was kept as FAILED. Its restart
    evaluates them as that run should have, by what started it.
    """
    record, number = again.row.record, unique_number(again.request_id)
    given = (again.config.restart_params or {}) if again.is_end_of_path else {}
    source = ParamSource.RESTART if again.sender is None else ParamSource.SUBWORKFLOW
    if record.params:
        derived: Params = {}
        if not workflow.follows_maestro:  # there they keep the results that they had
            changes = {**again.handed_down, **given}
            derived = derived_params(record.params, workflow.params or {}, changes)
        merged = restarted_params(record.params, again.handed_down, source, restart=given, derived=derived)
        facts = facts_of(workflow, _initiator(again), record.owner, again.policy)
        context = FreshRun(facts, number=number)
    else:
        own, started = workflow.params or {}, record.run_params
        merged = retried_params(own, started, again.handed_down, source, restart=given)
        facts = facts_of(workflow, record.initiator, record.owner, again.policy)
        context = FreshRun(facts, await signals_of(store, record.initiator), number)
    return await again.evaluate(question_of(merged, context, again.request_id, await store.now()))


def _initiator(again: Again) -> Initiator:
    return again.initiator or ManualInitiator(user=again.caller.user)


def _kept_overrides(workflow: Workflow, again: Again) -> dict[str, Params]:
    """What the start gave to single steps, except where this restart changes the parameter of the run that an
    override stands for: the newer request wins.
    """
    changed = (again.config.restart_params or {}) if again.is_end_of_path else {}
    before = again.row.record.step_run_params
    steps = steps_by_id(workflow.steps) if before else {}
    kept: dict[str, Params] = {}
    for step_id, given in before.items():
        step = steps.get(step_id)
        own = (None if step is None else step.params) or {}
        kept[step_id] = {name: each for name, each in given.items() if name in own or name not in changed}
    return kept


def _record(
    again: Again,
    instance: InstanceStatus,
    params: Mapping[str, Parameter],
    overrides: Mapping[str, Params],
    told: tuple[str, ...],
    key: RunKey,
    now: int,
) -> RunRecord:
    """What belongs to the instance stays; the run is the caller's, or the step's."""
    before, sender = again.row.record, again.sender
    who = f"User [{again.caller.name}]" if sender is None else f"Step {sender.attempt}"
    below = waiting_parent(_initiator(again)) is not None
    line = f"{who} restarted run {before.key} with policy [{again.policy}]{again.caller.because}"
    return RunRecord(
        key=key,
        uuid=again.request_id,
        version_id=before.version_id,
        policy=again.policy,
        restart=again.config,
        initiator=_initiator(again),
        correlation_id=before.correlation_id,
        tree_limit=before.tree_limit if sender is None else sender.tree_limit,
        criticality=before.criticality if sender is None else sender.criticality,
        owner=before.owner,
        params=params,
        step_run_params=overrides,
        tags=before.tags,
        runtime_tags=before.runtime_tags,
        artifacts=before.artifacts,
        properties_at=before.properties_at,
        request_time=again.request_time,
        create_time=now,
        before=RunStatus(instance) if below and again.policy is RunPolicy.RESTART_FROM_SPECIFIC else None,
        timeline=tuple(LogEvent(timestamp=now, message=each) for each in (line, *told)),
        **({} if sender is None else sender.hold),
    )
