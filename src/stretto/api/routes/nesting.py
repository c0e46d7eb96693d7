"""Where iterations of loops are found, and what they belong to."""

from typing import Annotated, Final

from litestar.params import QueryParameter

from stretto.actions.reading.all_runs import list_children
from stretto.actions.reading.lines import RunLine
from stretto.actions.reading.nesting import Nested, get_inline_path, get_inline_workflow_id, resolve_path
from stretto.actions.reading.tree import MOST_LEVELS, TreeRun, list_tree
from stretto.api.routing import Calling, Given, Name, Number, Paging, Text, gets
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.initiator import PathNode
from stretto.model.page import Page

Path = tuple[PathNode, ...]


@gets("/workflows/instances/inline-workflow-id", reads=Path)
async def read_inline_id(call: Calling, given: Given[Path]) -> str:
    """The id of the inline workflow that the last step of a path is in. The path is the body: the step of a
    workflow, and inside of its loops a step each, down to the one that is meant.
    """
    return await get_inline_workflow_id(call.store, call.reader, given)


@gets("/workflows/{workflow_id}/instances/{instance_id}/inline-path")
async def read_inline_path(call: Calling, workflow_id: Name, instance_id: Number) -> Path:
    """The step attempts around an iteration, from the outside in, and the iteration itself."""
    return await get_inline_path(call.store, call.reader, workflow_id, instance_id)


@gets("/workflows/{workflow_id}/instances/{instance_id}/runs/{run}/resolve")
async def resolve(
    call: Calling, workflow_id: Name, instance_id: Number, run: Name, path: Text = ""
) -> Nested:
    """Where a path such as `load[41].copy` leads: a run, and a step of it with its newest attempt. And back:
    the answer has the path to it from the run around all loops; without a path, that to the run itself.
    """
    return await resolve_path(call.store, call.reader, workflow_id, instance_id, run, path)


@gets("/workflows/{workflow_id}/instances/{instance_id}/runs/{run}/tree")
async def read_tree(
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    run: Name,
    part: Paging,
    depth: Annotated[int, QueryParameter(ge=1, le=MOST_LEVELS)] = 1,
) -> Page[TreeRun]:
    """The runs below a run, each before what is below it: iterations, subworkflows, and steps that a step
    brought along. `depth`: how far down.
    """
    return await list_tree(call.store, call.reader, workflow_id, instance_id, run, part, depth=depth)


@gets(
    "/workflows/{workflow_id}/instances/{instance_id}/runs/{run_id}/steps/{step_id}/attempts/{attempt_id}/children"
)
async def read_children(
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    run_id: Number,
    step_id: Name,
    attempt_id: Number,
    part: Paging,
) -> Page[RunLine]:
    """Runs that a step attempt waits for, or waited for; iterations are found under its inline workflow."""
    attempt = AttemptKey(RunKey(workflow_id, instance_id, run_id), step_id, attempt_id)
    return await list_children(call.store, call.reader, attempt, part)


ROUTES: Final = (read_inline_id, read_inline_path, resolve, read_tree, read_children)
