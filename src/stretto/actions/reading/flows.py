"""A run in memory again, to be looked at: what was committed, without what is inside its loops."""

import msgspec

from stretto.actions.parts.offload import offload
from stretto.actions.reading.aggregation import KnownInstances, RunInInstance, aggregate
from stretto.engine.flow import Flow, Tree
from stretto.engine.plan import Plan
from stretto.engine.settings import EngineSettings
from stretto.model.workflow import Workflow
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import RunReader


class LoadedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run with everything that views of its steps need: made once for all of them."""

    state: RunInInstance
    workflow: Workflow
    flow: Flow


async def load_run(
    reader: RunReader, workflow: Workflow, row: RunRow, known: KnownInstances | None = None
) -> LoadedRun:
    """A run of this workflow, its instance up to it, and its flow."""
    state = await aggregate(reader, workflow, row, known)
    flow = await offload(len(workflow.steps), flow_of, state, workflow)
    return LoadedRun(state=state, workflow=workflow, flow=flow)


def flow_of(state: RunInInstance, workflow: Workflow, *, load: bool = True) -> Flow:
    """The flow that was committed; nobody decides on it. Not loaded: somebody else knows more."""
    flow = Flow(state.row.record, Plan(workflow.steps, state.dag), Tree(workflow, EngineSettings()))
    if load:
        flow.load(each.record for each in state.attempts)
    return flow
