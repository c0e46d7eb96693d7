"""A run in memory again, to be looked at: what was committed, without what is inside its loops."""

from stretto.actions.reading.aggregation import RunInInstance
from stretto.engine.flow import Flow, Tree
from stretto.engine.plan import Plan
from stretto.engine.settings import EngineSettings
from stretto.model.workflow import Workflow


def flow_of(state: RunInInstance, workflow: Workflow, *, load: bool = True) -> Flow:
    """The flow that was committed; nobody decides on it. Not loaded: somebody else knows more."""
    flow = Flow(state.row.record, Plan(workflow.steps, state.dag), Tree(workflow, EngineSettings()))
    if load:
        flow.load(each.record for each in state.attempts)
    return flow
