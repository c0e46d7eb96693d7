"""What live views of workflows and runs read: columns, small enough for ten thousand steps."""

from typing import Annotated, Final

from litestar.params import QueryParameter

from stretto.actions.reading.graph_view import GraphView
from stretto.actions.reading.grids import GridView, get_grid
from stretto.actions.reading.states import Scope, StateView, get_state
from stretto.actions.reading.stats import WorkflowStats, get_stats
from stretto.actions.reading.workflows import get_graph
from stretto.api.cursors import cursor_in
from stretto.api.desk import Call
from stretto.api.routing import Calling, Name, Number, OptionalText, Text, gets, word_in
from stretto.api.tagged import KnownTags, Tagged, tagged
from stretto.definition.durations import duration_millis
from stretto.model.errors import InvalidRequest

ScopeName = Annotated[str, QueryParameter(name="scope")]  # the framework has a use of its own for the word

MOST_RUNS: Final = 100
INSTANCE: Final = "/workflows/{workflow_id}/instances/{instance_id}"


@gets("/workflows/{workflow_id}/versions/{version}/graph")
async def read_graph(
    call: Calling, workflow_id: Name, version: Name, known: KnownTags = None
) -> Tagged[GraphView]:
    """The steps of a version and the edges between them, in columns."""
    found = await get_graph(call.store, call.reader, workflow_id, version)
    return await tagged(found, GraphView, known)


@gets(f"{INSTANCE}/runs/{{run}}/state")
async def read_state(
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    run: Name,
    since: OptionalText = None,
    over: ScopeName = "run",
) -> StateView:
    """Where the steps of a run stand, in columns by their places in its version's graph. `since`, a
    `Stretto-Cursor`: only what has changed behind it; `scope`: `run`, or `aggregated` over all runs.
    """
    return await _state(call, workflow_id, instance_id, run, since, over)


@gets(f"{INSTANCE}/state")
async def read_newest_state(
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    since: OptionalText = None,
    over: ScopeName = "run",
) -> StateView:
    """The same for the newest run of an instance."""
    return await _state(call, workflow_id, instance_id, "latest", since, over)


async def _state(
    call: Call, workflow_id: str, instance_id: int, run: str, since: str | None, scope: str
) -> StateView:
    return await get_state(
        call.store,
        call.reader,
        workflow_id,
        instance_id,
        run,
        scope=word_in(Scope, scope, "scope"),
        since=None if since is None else cursor_in(since),
    )


@gets("/workflows/{workflow_id}/grid")
async def read_grid(
    call: Calling,
    workflow_id: Name,
    runs: Annotated[int, QueryParameter(ge=1, le=MOST_RUNS)] = 25,
    cursor: OptionalText = None,
) -> GridView:
    """Runs beside each other, newest first: a letter for each step of each run. Behind many steps there may
    be fewer runs than asked for; `page_info` says where to go on.
    """
    return await get_grid(call.store, call.reader, workflow_id, runs=runs, cursor=cursor)


@gets("/workflows/{workflow_id}/stats")
async def read_stats(call: Calling, workflow_id: Name, window: Text = "7d") -> WorkflowStats:
    """How long the newest runs that ended in a window, such as `24h`, and their steps took, and how many of
    them failed.
    """
    millis = duration_millis(window)
    now = call.desk.clock.now()
    if not millis or millis > now:
        raise InvalidRequest(f"Invalid window [{window[:80]}]", hint="write a duration such as 24h or 7d")
    return await get_stats(call.store, call.reader, workflow_id, since=now - millis)


ROUTES: Final = (read_graph, read_state, read_newest_state, read_grid, read_stats)
