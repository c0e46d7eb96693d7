"""What steps of all workflows ask people, and what was answered."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.reading.lines import AttemptRef, attempt_ref
from stretto.actions.reading.listing import Listing, Number, page_of_list, shown_as
from stretto.definition.schema.answers import answer_schema
from stretto.engine.records import AttemptKey, AttemptRecord, RunKey
from stretto.engine.timeouts import TIMED_OUT
from stretto.model.approval import ApprovalState, Asked
from stretto.model.page import Page
from stretto.model.param import Parameter, ParamSource
from stretto.model.request import PageRequest
from stretto.model.status import StepStatus
from stretto.ports.approvals import ApprovalFilter, ApprovalRow
from stretto.ports.paging import Cut, Slice
from stretto.ports.store import Store

Place = tuple[Number, str, Number, Number, str, Number]  # when it was asked, and the attempt
LATE: Final = frozenset({StepStatus.TIMED_OUT, StepStatus.TIMEOUT_FAILED})


class AnswerLine(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody said, and what they brought along."""

    user: str | None = None
    time: int
    note: str | None = None
    values: Mapping[str, Parameter] = {}


class ApprovalLine(msgspec.Struct, frozen=True, kw_only=True):
    """Something that somebody is asked, or was.

    ref           The attempt that asks: `callback` of it takes the answer.
    workflow_id   Whose it is, also if the step is inside a loop.
    form          JSON Schema of `outputs` of an answer; None: it can bring nothing along.
    assignees     Who is to answer; nobody: whoever may run the workflow.
    due           When it is too late.
    """

    ref: AttemptRef
    workflow_id: str
    state: ApprovalState
    prompt: str | None = None
    form: dict[str, Any] | None = None
    assignees: tuple[str, ...] = ()
    create_time: int
    due: int | None = None
    answer: AnswerLine | None = None


async def list_approvals(
    store: Store, caller: Caller, wanted: ApprovalFilter, request: PageRequest
) -> Page[ApprovalLine]:
    """Those that are wanted, of workflows that the caller may see, the newest first."""

    async def fetch(cut: Cut) -> Slice[ApprovalRow]:
        return await store.approvals(
            wanted, Cut(most=cut.most, below=_nested(cut.below), above=_nested(cut.above))
        )

    listing = Listing(
        fetch=fetch, key=_place, key_type=Place, newest_first=True, workflow=lambda each: each.home
    )
    page = await page_of_list(store, caller, request, listing)
    return shown_as(page, map(approval_line, page.elements))


def _place(row: ApprovalRow) -> Place:
    key = row.attempt.key
    return (row.asked_at, *key.run, key.step_id, key.number)


def _nested(place: Place | None) -> tuple[int, AttemptKey] | None:
    if place is None:
        return None
    asked_at, workflow_id, instance_id, run_id, step_id, number = place
    return asked_at, AttemptKey(RunKey(workflow_id, instance_id, run_id), step_id, number)


def approval_line(row: ApprovalRow) -> ApprovalLine:
    """A row, as readers see it."""
    record = row.attempt.record
    asks, said, params = record.asks or Asked(), record.answer, record.params or {}
    values = {name: params[name] for name in asks.values if _was_brought(params[name])}
    return ApprovalLine(
        ref=attempt_ref(record.key),
        workflow_id=row.home,
        state=state_of(record),
        prompt=asks.prompt,
        form=answer_schema(params, asks.values) if asks.values and record.is_asking else None,
        assignees=asks.assignees,
        create_time=row.asked_at,
        due=record.timeout_at,
        answer=None
        if said is None
        else AnswerLine(user=said.user, time=said.time, note=said.note, values=values),
    )


def _was_brought(param: Parameter) -> bool:
    return param.source is ParamSource.OUTPUT_PARAMETER


def state_of(record: AttemptRecord) -> ApprovalState:
    """Where the question of an attempt stands."""
    if record.answer is not None:
        return ApprovalState.APPROVED if record.answer.approved else ApprovalState.REJECTED
    if record.is_asking:
        return ApprovalState.OPEN
    ends = record.decided or record.status
    ignored = ends is StepStatus.COMPLETED_WITH_ERROR and record.reason == TIMED_OUT
    return ApprovalState.EXPIRED if ends in LATE or ignored else ApprovalState.WITHDRAWN
