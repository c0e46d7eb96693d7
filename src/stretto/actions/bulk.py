"""One action on many runs or steps: asked for at once, carried out one by one, and stopped if need be.

    await start_bulk(store, caller, request)       -> BulkView     stored; somebody carries it out
    await carry_out_next(store, evaluate, hints)   -> bool         takes a job, and does what is left of it

A job that nobody holds any more, because a process was killed, is taken by the next who looks. An item may
then be done twice: each has a request id of its own, so that the second time does nothing.
"""

import logging
import re
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from typing import Final
from uuid import uuid4

import msgspec

from stretto.actions.caller import Caller, Role
from stretto.actions.parts.access import check_role
from stretto.actions.parts.bulk_item import BulkAction, act_on_item
from stretto.actions.parts.dry_store import DryStore
from stretto.actions.parts.evaluation import Evaluator, evaluate_here
from stretto.actions.reading.listing import Listing, page_of_list
from stretto.model.durations import DAY, SECOND
from stretto.model.errors import Conflict, InvalidRequest, NotFound, StrettoError
from stretto.model.page import Page
from stretto.model.request import PageRequest
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus
from stretto.ports.bulk import BulkChange, BulkItem, BulkJob, BulkState, BulkTarget, ItemState
from stretto.ports.hints import SILENT, Hints
from stretto.ports.history import FilteredRuns, RunFilter
from stretto.ports.paging import Cut
from stretto.ports.retention import Aged
from stretto.ports.store import Store

MOST_ITEMS: Final = 10_000
PAGE: Final = 200
MOST_TRIED: Final = 100  # items that a dry run looks at
HOLD: Final = 10 * SECOND  # that a job is held from item to item
FIRST_RUN: Final = 1_577_836_800_000  # 2020: every run was created later
KEPT_FOR: Final = 30 * DAY
OLD_AT_ONCE: Final = 10  # jobs that go when another one was carried out
OUR_FAULT: Final = 500
JOB_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,199}")

logger = logging.getLogger("stretto.bulk")


class BulkFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs, as the list of all runs has it; at the moment of the request. `roots` narrows nothing by
    itself, nor does a time that all runs are on the right side of, nor all statuses.
    """

    status: tuple[RunStatus, ...] = ()
    workflow: str | None = None
    owner: str | None = None
    tag: str | None = None
    correlation_id: str | None = None
    since: int | None = None
    until: int | None = None
    roots: bool = False

    def narrows(self, now: int) -> bool:
        """Whether it is meant to leave runs out. That may be a name of one thing, some statuses, or a time;
        one in seconds where milliseconds are meant is none.
        """
        named = (self.workflow, self.owner, self.tag, self.correlation_id)
        return (
            any(each is not None for each in named)
            or bool(self.status and set(RunStatus) - set(self.status))
            or (self.since is not None and self.since >= FIRST_RUN)
            or (self.until is not None and self.until <= now)
        )


class BulkRequest(msgspec.Struct, frozen=True, kw_only=True):
    """An action, and its targets: by name, or by a filter of runs. The same `request_id` makes one job."""

    action: BulkAction
    ids: tuple[BulkTarget, ...] | None = None
    filter: BulkFilter | None = None
    restart_policy: RunPolicy | None = None
    reason: str = ""
    request_id: str | None = None
    dry_run: bool = False
    all: bool = False  # that a filter that leaves no run out means every run


class BulkView(msgspec.Struct, frozen=True, kw_only=True):
    """A job and how far it is. Of a dry run: what would become of the first items."""

    job: BulkJob
    counts: Mapping[ItemState, int] = {}
    dry_run: bool = False
    items: tuple[BulkItem, ...] | None = None


async def start_bulk(
    store: Store, caller: Caller, request: BulkRequest, *, evaluate: Evaluator = evaluate_here
) -> BulkView:
    """Store a job with all its items; a filter is looked up now. Whoever holds the job carries it out."""
    check_role(caller, Role.RUNNER, "act on many runs")
    _check(request)
    await _check_filter(store, request)
    targets = (
        request.ids if request.ids is not None else tuple([each async for each in _found(store, request)])
    )
    if len(targets) > MOST_ITEMS:
        hint = "choose fewer, or narrow the filter"
        raise InvalidRequest(f"A bulk job has at most {MOST_ITEMS:,} items, these are more", hint=hint)
    job = BulkJob(
        job_id=request.request_id or uuid4().hex,
        action=request.action.value,
        by=caller.user,
        roles=tuple(sorted(caller.roles)),
        reason=request.reason or caller.reason,
        restart_policy=request.restart_policy,
        create_time=await store.now(),
        total=len(targets),
    )
    items = [BulkItem(number=number, target=target) for number, target in enumerate(targets)]
    if request.dry_run:
        tried = [await _tried(store, caller, job, item, evaluate) for item in items[:MOST_TRIED]]
        counts = Counter(item.state for item in tried)
        return BulkView(job=job, counts=counts, dry_run=True, items=tuple(tried))
    is_new = await store.put_bulk(job, items)
    made = await get_bulk(store, caller, job.job_id)
    if not is_new and (made.job.action, made.job.by) != (job.action, job.by):
        raise Conflict(
            f"The request_id [{job.job_id}] is that of another bulk job: {made.job.action} by user"
            f" [{made.job.by.name}]",
            hint="choose another one",
        )
    return made


def _check(request: BulkRequest) -> None:
    if (request.ids is None) is (request.filter is None):
        raise InvalidRequest("Say what to act on: either `ids` or a `filter`")
    if request.request_id is not None and not JOB_ID.fullmatch(request.request_id):
        hint = "letters, digits and ._:-, at most 200"
        raise InvalidRequest(f"Invalid request_id [{request.request_id[:80]}]", hint=hint)
    if request.restart_policy is not None and request.action is not BulkAction.RESTART:
        raise InvalidRequest("A restart_policy is for restarts only")
    for target in request.ids or ():
        if request.action is BulkAction.SKIP and target.step_id is None:
            raise InvalidRequest("Only steps can be skipped: name a step_id in each of the ids")
        if request.action is BulkAction.UNBLOCK and target.step_id is not None:
            raise InvalidRequest("Only runs can be unblocked: name no step_id")
    if request.action is BulkAction.SKIP and request.filter is not None:
        raise InvalidRequest("A filter finds runs, and only steps can be skipped", hint="name them in `ids`")


async def _check_filter(store: Store, request: BulkRequest) -> None:
    """Nobody acts on all runs by mistake: not by a filter without conditions, and not by one whose conditions
    hold for all of them, or were left empty.
    """
    wanted = request.filter
    if wanted is None:
        return
    for name in ("workflow", "owner", "tag", "correlation_id"):
        given = getattr(wanted, name)
        if given is not None and not given.strip():
            raise InvalidRequest(f"`{name}` of the filter is empty", hint="leave it out, or name one")
    if not request.all and not wanted.narrows(await store.now()):
        raise InvalidRequest(
            "The filter leaves no run out, so that every run would be acted on",
            hint="name a condition, such as `status` or `workflow`, or a time in milliseconds (`since` from"
            " 2020 on, `until` in the past); `all: true` means every run",
        )


async def _found(store: Store, request: BulkRequest) -> AsyncIterator[BulkTarget]:
    """The runs that fit the filter, newest first; one more than allowed, at the most."""
    asked = request.filter or BulkFilter()
    wanted = RunFilter(
        statuses=asked.status,
        workflow_id=asked.workflow,
        owner=asked.owner,
        tag=asked.tag,
        correlation_id=asked.correlation_id,
        since=asked.since,
        until=asked.until,
        roots=asked.roots,
    )
    count, more, cut = 0, True, Cut(most=PAGE)
    while more and count <= MOST_ITEMS:
        page = await store.runs(FilteredRuns(wanted, cut))
        for row in page.elements:
            key = row.key
            yield BulkTarget(
                workflow_id=key.workflow_id,
                workflow_instance_id=key.instance_id,
                workflow_run_id=key.run_id,
            )
            cut = Cut(most=PAGE, below=(row.record.create_time, key))
        count += len(page.elements)
        more = page.after


async def _tried(store: Store, caller: Caller, job: BulkJob, item: BulkItem, evaluate: Evaluator) -> BulkItem:
    """What would become of an item."""
    return await _done(DryStore(store).store, caller, job, item, evaluate, SILENT)


# ------------------------------------------------------------------------------------------------ carry out
async def carry_out_next(
    store: Store, *, evaluate: Evaluator = evaluate_here, hints: Hints = SILENT, hold: int = HOLD
) -> bool:
    """Take a job that nobody holds, and carry out what is left of it; False: there is none."""
    job = await store.take_bulk(hold)
    if job is None:
        return False
    caller = Caller(user=job.by, roles=frozenset(Role(each) for each in job.roles), reason=job.reason)
    is_running = True
    while is_running:
        page = await store.bulk_items(job.job_id, Cut(most=PAGE), ItemState.WAITING)
        if not page.elements:
            await store.change_bulk(job.job_id, BulkChange(ends=BulkState.DONE))
            break
        for item in page.elements:
            done = await _done(store, caller, job, item, evaluate, hints)
            changed = await store.change_bulk(job.job_id, BulkChange(items=(done,), hold=hold))
            is_running = changed is not None and changed.state is BulkState.RUNNING
            if not is_running:
                break
    await store.prune(Aged.BULKS, await store.now() - KEPT_FOR, most=OLD_AT_ONCE)
    return True


async def _done(
    store: Store, caller: Caller, job: BulkJob, item: BulkItem, evaluate: Evaluator, hints: Hints
) -> BulkItem:
    """An item, and what became of it. A database that is away is no answer: the item is tried again."""
    state = ItemState.DONE
    try:
        message = await act_on_item(store, caller, job, item, evaluate=evaluate, hints=hints)
    except StrettoError as error:
        if error.status >= OUR_FAULT:
            raise
        state, message = ItemState.REFUSED, error.message
    except Exception:  # of ours: it must not keep the job from its other items
        logger.exception("item %s of bulk job %s failed", item.number, job.job_id)
        state, message = ItemState.REFUSED, "internal error; the log of the server has more"
    return msgspec.structs.replace(item, state=state, message=message, at=await store.now())


# ------------------------------------------------------------------------------------------------- reading
async def get_bulk(store: Store, caller: Caller, job_id: str) -> BulkView:
    """A job, and how many of its items are in which state."""
    check_role(caller, Role.VIEWER, "see bulk jobs")
    found = await store.bulk_progress(job_id)
    if found is None:
        raise NotFound(f"Cannot find bulk job [{job_id}]")
    return BulkView(job=found.job, counts=found.counts)


async def list_bulk_items(
    store: Store, caller: Caller, job_id: str, request: PageRequest, state: ItemState | None = None
) -> Page[BulkItem]:
    """The items of a job in their order, or those in one state."""
    await get_bulk(store, caller, job_id)
    listing = Listing(
        fetch=lambda cut: store.bulk_items(job_id, cut, state), key=lambda item: item.number, key_type=int
    )
    return await page_of_list(store, caller, request, listing)


async def list_bulks(store: Store, caller: Caller, request: PageRequest) -> Page[BulkJob]:
    """All jobs, newest first."""
    listing = Listing(
        fetch=store.bulk_jobs,
        key=lambda job: (job.create_time, job.job_id),
        key_type=tuple[int, str],
        newest_first=True,
    )
    return await page_of_list(store, caller, request, listing)


async def cancel_bulk(store: Store, caller: Caller, job_id: str) -> BulkView:
    """What has not been done is left undone; what has been stays. One that has ended stays as it ended."""
    check_role(caller, Role.RUNNER, "cancel bulk jobs")
    await store.change_bulk(job_id, BulkChange(ends=BulkState.CANCELLED))
    return await get_bulk(store, caller, job_id)
