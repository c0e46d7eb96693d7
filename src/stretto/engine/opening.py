"""A run is opened: which steps it covers, and what it takes over from the runs before it."""

from collections.abc import Mapping

from stretto.definition.graph import Graph, runtime_dag
from stretto.definition.restart import incomplete_steps, waiting_roots
from stretto.engine.plan import Plan
from stretto.model.errors import NotFound, WrongState
from stretto.model.run_config import RestartConfig, RunPolicy
from stretto.model.status import StepStatus
from stretto.model.step import Transition
from stretto.model.workflow import Workflow


def restarted_step(restart: RestartConfig | None) -> str | None:
    """The step that a run restarts by name, if it does."""
    if restart is None or not restart.restart_path:
        return None
    return restart.restart_path[-1].step_id


def plan_of_run(
    workflow: Workflow,
    policy: RunPolicy,
    statuses: Mapping[str, StepStatus] | None = None,
    restart: RestartConfig | None = None,
) -> Plan:
    """The steps that a run covers. `statuses`: each step's newest status over all runs before this one."""
    return Plan(workflow.steps, dag_of_run(workflow, policy, statuses, restart))


def dag_of_run(
    workflow: Workflow,
    policy: RunPolicy,
    statuses: Mapping[str, StepStatus] | None = None,
    restart: RestartConfig | None = None,
) -> dict[str, Transition]:
    """The same as edges between the ids of these steps, in their order: all that readers need."""
    if policy.is_fresh or policy is RunPolicy.RESTART_FROM_BEGINNING:
        return runtime_dag(workflow.steps)
    graph = Graph.of(workflow.steps)
    start = incomplete_steps(graph, statuses or {})
    step = restarted_step(restart)
    if policy is RunPolicy.RESTART_FROM_SPECIFIC and step is not None:
        if step not in graph.successors:
            message = f"the workflow {workflow.id} has no step {step}"
            raise NotFound(message, hint=f"its steps are {', '.join(graph.successors)}")
        start.add(step)
    if not start:
        message = f"every step of the workflow {workflow.id} is complete: nothing is left to restart"
        raise WrongState(message, hint="restart from the beginning (`--all`), or from a step (`--from STEP`)")
    dag = runtime_dag(workflow.steps, start)
    if policy is RunPolicy.RESTART_FROM_SPECIFIC and step is not None:
        waiting_roots(Graph({each: edges.successors for each, edges in dag.items()}), step)  # it must be one
    return dag
