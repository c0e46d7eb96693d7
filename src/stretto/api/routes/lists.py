"""Workflows and runs, over all of them."""

from typing import Annotated, Final

from litestar.params import QueryParameter

from stretto.actions.reading.all_runs import RunExtra, get_run_histogram, list_all_runs
from stretto.actions.reading.all_workflows import Extra, hour_of, list_workflows, words_of
from stretto.actions.reading.histogram import Histogram
from stretto.actions.reading.lines import RunLine, WorkflowLine
from stretto.actions.reading.run_filters import above_in, initiator_in, sort_in
from stretto.api.routing import (
    Calling,
    Flag,
    OptionalFlag,
    OptionalNumber,
    OptionalText,
    Paging,
    Text,
    gets,
    word_in,
    words_in,
)
from stretto.model.page import Page
from stretto.model.status import RunStatus
from stretto.ports.history import RunFilter
from stretto.ports.workflows import WorkflowFilter

BUCKETS: Final = 48
WINDOW: Final = 24 * 3_600 * 1_000  # milliseconds in which outcomes count, where nobody says since when


@gets("/workflows")
async def read_workflows(  # noqa: PLR0913, PLR0917 - one for each filter
    call: Calling,
    part: Paging,
    prefix: Text = "",
    q: OptionalText = None,
    owner: OptionalText = None,
    tag: OptionalText = None,
    active: OptionalFlag = None,
    has: OptionalText = None,
    include: OptionalText = None,
    since: OptionalNumber = None,
) -> Page[WorkflowLine]:
    """All workflows by id. `q`: words that are all in the id; `tag`: of the properties, or of the definition
    of the default version; `has`: a status that some run is in, of those that ended since then. `include`,
    with commas: `recent` runs as instance, run, status, start and duration, `counts` by status and `outcomes`
    by hour since then, `p50` of recent runs, the `next` fire. Where nobody says since when, it is the last 24
    hours.
    """
    begin = hour_of(call.desk.clock.now() - WINDOW if since is None else since)
    wanted = WorkflowFilter(
        prefix=prefix,
        words=words_of(q),
        owner=owner,
        tag=tag,
        active=active,
        has=None if has is None else word_in(RunStatus, has, "has"),
        since=begin,
    )
    extras = words_in(Extra, include, "include")
    return await list_workflows(call.store, call.reader, wanted, part, include=extras, since=begin)


@gets("/instances")
async def read_instances(  # noqa: PLR0913, PLR0917 - one for each filter
    call: Calling,
    part: Paging,
    status: OptionalText = None,
    workflow_id: Annotated[str | None, QueryParameter(name="workflow")] = None,
    owner: OptionalText = None,
    tag: OptionalText = None,
    correlation_id: OptionalText = None,
    uuid: OptionalText = None,
    initiator: OptionalText = None,
    version: OptionalNumber = None,
    parent: OptionalText = None,
    since: OptionalNumber = None,
    until: OptionalNumber = None,
    roots: Flag = False,
    sort: OptionalText = None,
    include: OptionalText = None,
) -> Page[RunLine]:
    """Runs of all workflows, newest first, or with `sort=create_time` oldest first. `status` with commas;
    `uuid` is the request id; `since` and `until` are of creation, in milliseconds; `parent`: what the run,
    step or attempt with this address waits for; `roots`: none that a step has started; `include=count`: how
    many there are, as far as 10,000 entries of an index tell, or 1,500 where several filters meet. `version`
    goes with `workflow`; `initiator` with `since` or another filter that has an index.
    """
    wanted = RunFilter(
        statuses=words_in(RunStatus, status, "status"),
        since=since,
        until=until,
        workflow_id=workflow_id,
        owner=owner,
        tag=tag,
        correlation_id=correlation_id,
        uuid=uuid,
        initiator=initiator_in(initiator),
        version_id=version,
        parent=await above_in(call.store, call.reader, parent),
        roots=roots,
    )
    extras = words_in(RunExtra, include, "include")
    return await list_all_runs(call.store, call.reader, wanted, part, sort=sort_in(sort), include=extras)


@gets("/instances/histogram")
async def read_histogram(  # noqa: PLR0913, PLR0917 - one for each filter
    call: Calling,
    buckets: OptionalNumber = None,
    status: OptionalText = None,
    workflow_id: Annotated[str | None, QueryParameter(name="workflow")] = None,
    owner: OptionalText = None,
    tag: OptionalText = None,
    initiator: OptionalText = None,
    version: OptionalNumber = None,
    since: OptionalNumber = None,
    until: OptionalNumber = None,
    roots: Flag = False,
) -> Histogram:
    """When runs were created, by status, in 48 or so many `buckets`, in the last 24 hours or from `since` to
    `until`. The filters are those of the list. Of each value that is asked for the newest 10,000 runs are
    looked at: `complete_since` says how far back that was, where there are more.
    """
    wanted = RunFilter(
        statuses=words_in(RunStatus, status, "status"),
        workflow_id=workflow_id,
        owner=owner,
        tag=tag,
        initiator=initiator_in(initiator),
        version_id=version,
        roots=roots,
    )
    end = call.desk.clock.now() + 1 if until is None else until
    begin = max(0, end - WINDOW) if since is None else since
    count = BUCKETS if buckets is None else buckets
    return await get_run_histogram(call.store, call.reader, wanted, (begin, end), count)


ROUTES: Final = (read_workflows, read_instances, read_histogram)
