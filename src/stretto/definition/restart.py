"""Which steps a restart covers, and when a run that covers only some of them is done."""

from collections.abc import Collection, Mapping

from stretto.definition.graph import Graph
from stretto.model.errors import InvalidRequest
from stretto.model.status import StepStatus


def incomplete_steps(graph: Graph, statuses: Mapping[str, StepStatus]) -> set[str]:
    """Where a restart begins: steps that ended badly or never began, over all runs so far."""
    return {
        step
        for step in graph.successors
        if (status := statuses.get(step, StepStatus.NOT_CREATED)) is StepStatus.NOT_CREATED
        or (status.is_terminal and not status.is_complete)
    }


def waiting_roots(graph: Graph, restarted: str) -> list[str]:
    """Roots that wait for a user of their own in a run that restarts one specific step."""
    roots = graph.sources
    if restarted not in roots:
        message = f"stepId [{restarted}] should be one of root nodes in the DAG"
        raise InvalidRequest(message, hint=f"the roots of this run are {', '.join(roots)}")
    return [root for root in roots if root != restarted]


def covered_steps(graph: Graph, restarted: str, created: Collection[str]) -> set[str]:
    """The steps that belong to such a run: those not behind a root that nobody has started."""
    asleep = [root for root in waiting_roots(graph, restarted) if root not in created]
    return set(graph.successors) - graph.reachable(asleep)


def is_done(graph: Graph, complete: Mapping[str, bool], restarted: str | None = None) -> bool:
    """Whether nothing more can happen. `complete`: True ended well, False ended badly, absent no status.

    What lies behind a step that ended badly never begins; nor does what lies behind a root that waits.
    """
    dead = [step for step, well in complete.items() if not well]
    if restarted is not None:
        dead += [root for root in waiting_roots(graph, restarted) if root not in complete]
    pending = set(graph.successors) - graph.reachable(dead) - complete.keys()
    return not pending
