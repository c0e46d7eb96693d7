"""A run that is asked for, with everything that does not need the workflow's lock: checked and evaluated."""

from collections.abc import Mapping
from typing import Any, Final

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
from stretto.engine.records import NO_PARAMS, AttemptKey, RunKey, RunRecord
from stretto.engine.timeline import started_by
from stretto.model.initiator import Initiator
from stretto.model.param import Parameter, ParamSource
from stretto.model.request import StartRequest
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus
from stretto.model.tag import Tag, merge_tags
from stretto.model.timeline import LogEvent
from stretto.model.workflow import Criticality, Workflow
from stretto.params import ParamError, ParamLimits, check_request, workflow_params
from stretto.params.requests import DEFAULT_LIMITS
from stretto.ports.rows import Lease, Parent
from stretto.ports.store import Store
from stretto.ports.workflows import WorkflowRow
from stretto.strategies import Start

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


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a fresh run is made of."""

    row: WorkflowRow
    version_id: int
    workflow: Workflow
    initiator: Initiator
    request: StartRequest
    request_id: str
    sender: Sender | None = None
    because: str = ""  # why somebody asks for it, as the end of a sentence
    evaluate: Evaluator = evaluate_here
    limits: ParamLimits = DEFAULT_LIMITS


async def candidate_of(store: Store, wanted: Wanted, now: int | None = None) -> Candidate:
    """The run, ready to be put to the run strategy; `now`, if the store was asked for it.

    Parameters that can not be evaluated refuse the request; if it says so, the run is kept as FAILED instead.
    """
    overrides = wanted.request.step_run_params or {}
    await offload(len(overrides), check_overrides, wanted.workflow, overrides)
    params: Mapping[str, Parameter] = NO_PARAMS
    failure: str | None = None
    try:
        params = await _evaluated(store, wanted, await store.now() if now is None else now)
    except ParamError as error:
        if not wanted.request.persist_failed_run:
            raise
        failure = f"The parameters of the run can not be evaluated: {error.message}"
    await try_overrides(store, wanted.workflow, overrides, params)
    sender = wanted.sender
    return Candidate(
        request=Start(wanted.request_id, failure, held=sender is not None and sender.holds),
        record=lambda key, now: _record(wanted, params, key, now),
        parent=None if sender is None else sender.parent,
        lease=None if sender is None else sender.lease,
    )


async def _evaluated(store: Store, wanted: Wanted, now: int) -> Mapping[str, Parameter]:
    given = wanted.request.run_params or {}
    source = ParamSource.LAUNCH
    if wanted.sender is None:
        check_request(given, wanted.limits)
    else:
        source = ParamSource.SUBWORKFLOW
    facts = facts_of(wanted.workflow, wanted.initiator, _owner(wanted.row), RunPolicy.START_FRESH_NEW_RUN)
    number = unique_number(wanted.request_id)
    context = FreshRun(facts, await signals_of(store, wanted.initiator), number)
    merged = workflow_params(wanted.workflow.params or {}, given, source)
    return await wanted.evaluate(question_of(merged, context, wanted.request_id, now))


def _record(wanted: Wanted, params: Mapping[str, Parameter], key: RunKey, now: int) -> RunRecord:
    sender, request = wanted.sender, wanted.request
    return RunRecord(
        key=key,
        uuid=wanted.request_id,
        version_id=wanted.version_id,
        initiator=wanted.initiator,
        correlation_id=":".join(map(str, key)) if sender is None else sender.correlation_id,
        tree_limit=None if sender is None else sender.tree_limit,
        criticality=None if sender is None else sender.criticality,
        owner=_owner(wanted.row),
        params=params,
        step_run_params=request.step_run_params or {},
        tags=_tags(wanted),
        run_params={} if sender is not None else request.run_params or {},
        runtime_tags=request.runtime_tags or (),
        artifacts=request.artifacts or {},
        properties_at=wanted.row.properties.create_time,
        request_time=request.request_time,
        create_time=now,
        timeline=(LogEvent(timestamp=now, message=started_by(wanted.initiator) + wanted.because),),
        **({} if sender is None else sender.hold),
    )


def _owner(row: WorkflowRow) -> str | None:
    return None if row.properties.owner is None else row.properties.owner.name


def _tags(wanted: Wanted) -> tuple[Tag, ...]:
    """Those of the workflow, its properties and the request; of two with one name the later counts."""
    groups = (wanted.workflow.tags, wanted.row.properties.tags, wanted.request.runtime_tags)
    return merge_tags(*groups, None if wanted.sender is None else (SUBWORKFLOW_TAG,))
