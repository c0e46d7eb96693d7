"""Flatten views: a step over all iterations of all loops around it."""

from typing import Annotated, Final

from litestar.params import QueryParameter

from stretto.actions.reading.flatten import get_iteration, list_iterations, summarize_iterations
from stretto.actions.reading.iteration_map import IterationMap, map_iterations
from stretto.api.iteration_filter import wanted_of
from stretto.api.routing import Calling, Flag, Name, Number, OptionalText, Paging, Text, gets
from stretto.engine.records import RunKey
from stretto.model.flatten import StepIteration, StepIterationsSummary
from stretto.model.page import Page

STEP: Final = "/views/flatten/workflows/{workflow_id}/instances/{instance_id}/runs/{run_id}/steps/{step_id}"
MOST_VALUES: Final = 200
MOST_BUCKETS: Final = 10_000


@gets(STEP)
async def read_iterations(  # noqa: PLR0913, PLR0917 - it takes five to name the step, and a filter
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    run_id: Number,
    step_id: Name,
    page: Paging,
    statuses: OptionalText = None,
    loop_params: Annotated[str | None, QueryParameter(name="loopParams")] = None,
    q: Text = "",
    error: Text = "",
    sort: Text = "rank",
) -> Page[StepIteration]:
    """The iterations of a step. `statuses` with commas, `loopParams` as base64 of a JSON object; `q` is in a
    loop parameter or the number, `error` in the reason of the end. `sort`: `rank`, `latest`, or of one loop
    `failed_first` and `longest`.
    """
    run = RunKey(workflow_id, instance_id, run_id)
    wanted = wanted_of(statuses, loop_params, (q, error), sort, call.desk.limits)
    return await list_iterations(call.store, call.reader, run, step_id, page, wanted)


@gets(f"{STEP}/iterations/{{iteration}}")
async def read_iteration(
    call: Calling, workflow_id: Name, instance_id: Number, run_id: Number, step_id: Name, iteration: Name
) -> StepIteration:
    """A step in one iteration: `3-12`."""
    run = RunKey(workflow_id, instance_id, run_id)
    return await get_iteration(call.store, call.reader, run, step_id, iteration)


@gets(f"{STEP}/iterations/map")
async def read_map(
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    run_id: Number,
    step_id: Name,
    buckets: Annotated[int, QueryParameter(ge=1, le=MOST_BUCKETS)] = 2_000,
) -> IterationMap:
    """How many iterations of a loop, or of the loop around a step, are in which status: counted in buckets of
    their numbers, however many there are.
    """
    run = RunKey(workflow_id, instance_id, run_id)
    return await map_iterations(call.store, call.reader, run, step_id, buckets=buckets)


@gets(f"{STEP}/summary")
async def read_summary(  # noqa: PLR0913, PLR0917 - it takes five to name the step, and three switches
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    run_id: Number,
    step_id: Name,
    representative: Flag = True,
    status_count: Annotated[bool, QueryParameter(name="statusCount")] = False,
    value_count: Annotated[int, QueryParameter(name="valueCount", ge=0, le=MOST_VALUES)] = 5,
) -> StepIterationsSummary:
    """A step over all its iterations."""
    return await summarize_iterations(
        call.store,
        call.reader,
        RunKey(workflow_id, instance_id, run_id),
        step_id,
        representative=representative,
        status_count=status_count,
        value_count=value_count,
    )


ROUTES: Final = (read_iterations, read_iteration, read_map, read_summary)
