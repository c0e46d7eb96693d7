"""A run that is asked for, with everything that does not need the workflow's lock: checked and evaluated."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from stretto.actions.parts.admission import Candidate
from stretto.actions.parts.evaluation import (
    Evaluator,
    FreshRun,
    evaluate_here,
    facts_of,
    question_of,
    signals_of,
    unique_number,
)
from stretto.actions.parts.offload import offload
from stretto.actions.parts.overrides import check_overrides, try_overrides
from stretto.actions.parts.trigger_rows import trigger_id
from stretto.engine.records import NO_PARAMS, AttemptKey, RunKey, RunRecord, started_by
from stretto.model.errors import Conflict, InvalidRequest, Unprocessable
from stretto.model.initiator import Initiator, SignalInitiator, TimeInitiator
from stretto.model.param import Parameter, ParamSource
from stretto.model.request import StartRequest
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus
from stretto.model.tag import Tag, merge_tags
from stretto.model.timeline import LogEvent
from stretto.model.trigger import SignalTrigger, TimeTrigger
from stretto.model.workflow import Criticality, Workflow
from stretto.params import ParamError, ParamLimits, check_request, workflow_params
from stretto.params.requests import DEFAULT_LIMITS
from stretto.ports.rows import Lease, Parent
from stretto.ports.store import Store
from stretto.ports.workflows import WorkflowRow
from stretto.strategies import Start


def check_trigger(initiator: Initiator, row: WorkflowRow, version_id: int, workflow: Workflow) -> None:
    """Refuse the start by a trigger that the active version does not have, or that is switched off."""
    triggers: Sequence[TimeTrigger | SignalTrigger]
    match initiator:
        case TimeInitiator(trigger_uuid=uuid):
            kind, triggers = "TIME", workflow.time_triggers or ()
            disabled = row.properties.time_trigger_disabled
        case SignalInitiator(trigger_uuid=uuid):
            kind, triggers = "SIGNAL", workflow.signal_triggers or ()
            disabled = row.properties.signal_trigger_disabled
        case _:
            return
    if version_id != row.active_version:
        raise InvalidRequest(
            f"Triggered workflow definition for workflow [{workflow.id}][{version_id}] is not active"
        )
    if uuid not in {trigger_id(workflow.id, each) for each in triggers}:
        raise Conflict(
            f"Invalid trigger initiator due to mismatch trigger uuid: workflow [{workflow.id}][{version_id}]"
            f" has no {kind} trigger [{uuid}]"
        )
    if disabled:
        raise Unprocessable(
            f"Trigger type [{kind}] is disabled for the workflow [{workflow.id}] in the workflow properties."
        )


SUBWORKFLOW_TAG: Final = Tag(name="maestro_subworkflow")


class Sender(msgspec.Struct, frozen=True, kw_only=True):
    """The step that starts a run, and the lease under which its owner asks for it."""

    attempt: AttemptKey
    lease: Lease
    correlation_id: str  # of its own run: a tree has one
    tree_limit: int = 0  # leaf steps of that tree at once; 0: no limit
    criticality: Criticality | None = None  # of its own run
    waits: bool = True  # for the end of the run
    held: bool = False  # its own run is paused

    @property
    def holds(self) -> bool:
        """Whether the run does not begin until the step's own run goes on."""
        return self.waits and self.held

    @property
    def hold(self) -> dict[str, Any]:
        """The fields of a run that is made while the step's own run is paused."""
        return {"held": True, "status": RunStatus.PAUSED} if self.holds else {}

    @property
    def parent(self) -> Parent | None:
        """Who is told of the end of the run."""
        return Parent(self.lease.group, self.attempt) if self.waits else None


class Target(NamedTuple):
    """The version of a workflow that is to be run."""

    row: WorkflowRow
    version_id: int
    workflow: Workflow
    required: Collection[str] = ()  # parameters without a default, which a request must bring


async def candidate_of(  # noqa: PLR0913 - what a request brings, and how it is evaluated
    store: Store,
    target: Target,
    request: StartRequest,
    now: int,
    *,
    sender: Sender | None = None,
    because: str = "",
    evaluate: Evaluator = evaluate_here,
    limits: ParamLimits = DEFAULT_LIMITS,
) -> Candidate:
    """The run, ready to be put to the run strategy. The request has an id; `because` says why somebody asks,
    as the end of a sentence.

    Parameters that can not be evaluated refuse the request; if it says so, the run is kept as FAILED instead.
    """
    check_trigger(request.initiator, target.row, target.version_id, target.workflow)
    overrides = request.step_run_params or {}
    if overrides:
        await offload(len(overrides), check_overrides, target.workflow, overrides)
    params: Mapping[str, Parameter] = NO_PARAMS
    failure: str | None = None
    try:
        params = await _evaluated(store, target, request, sender, now, evaluate, limits)
    except ParamError as error:
        if not request.persist_failed_run:
            raise
        failure = f"The parameters of the run can not be evaluated: {error.message}"
    if overrides:
        await try_overrides(store, target.workflow, overrides, params)
    return Candidate(
        request=Start(_id_of(request), failure, held=sender is not None and sender.holds),
        record=lambda key, now: _record(target, request, sender, because, params, key, now),
        parent=None if sender is None else sender.parent,
        lease=None if sender is None else sender.lease,
    )


def _id_of(request: StartRequest) -> str:
    assert request.request_id is not None  # noqa: S101 - who sends none is given one
    return request.request_id


async def _evaluated(
    store: Store,
    target: Target,
    request: StartRequest,
    sender: Sender | None,
    now: int,
    evaluate: Evaluator,
    limits: ParamLimits,
) -> Mapping[str, Parameter]:
    given = request.run_params or {}
    source = ParamSource.LAUNCH
    if sender is None:
        check_request(given, limits)
    else:
        source = ParamSource.SUBWORKFLOW
    request_id = _id_of(request)
    facts = facts_of(target.workflow, request.initiator, _owner(target.row), RunPolicy.START_FRESH_NEW_RUN)
    signals = await signals_of(store, request.initiator)
    context = FreshRun(facts, signals, unique_number(request_id))
    merged = workflow_params(target.workflow.params or {}, given, source)
    return await evaluate(question_of(merged, context, request_id, now))


def _record(
    target: Target,
    request: StartRequest,
    sender: Sender | None,
    because: str,
    params: Mapping[str, Parameter],
    key: RunKey,
    now: int,
) -> RunRecord:
    return RunRecord(
        key=key,
        uuid=_id_of(request),
        version_id=target.version_id,
        initiator=request.initiator,
        correlation_id=":".join(map(str, key)) if sender is None else sender.correlation_id,
        tree_limit=None if sender is None else sender.tree_limit,
        criticality=None if sender is None else sender.criticality,
        owner=_owner(target.row),
        params=params,
        step_run_params=request.step_run_params or {},
        tags=_tags(target, request, sender),
        run_params={} if sender is not None else request.run_params or {},
        runtime_tags=request.runtime_tags or (),
        artifacts=request.artifacts or {},
        properties_at=target.row.properties.create_time,
        request_time=request.request_time,
        create_time=now,
        timeline=(LogEvent(timestamp=now, message=started_by(request.initiator) + because),),
        **({} if sender is None else sender.hold),
    )


def _owner(row: WorkflowRow) -> str | None:
    return None if row.properties.owner is None else row.properties.owner.name


def _tags(target: Target, request: StartRequest, sender: Sender | None) -> tuple[Tag, ...]:
    """Those of the workflow, its properties and the request; of two with one name the later counts."""
    groups = (target.workflow.tags, target.row.properties.tags, request.runtime_tags)
    return merge_tags(*groups, None if sender is None else (SUBWORKFLOW_TAG,))
