"""The invariants that look at single transactions and remember nothing, in the order in which they speak."""

from collections.abc import Iterable

from stretto.model.workflow import Workflow
from stretto.testing.simulation.authors import LIMITS
from stretto.testing.simulation.invariants.ends import ends
from stretto.testing.simulation.invariants.leases import leases, writers
from stretto.testing.simulation.invariants.letters import letters
from stretto.testing.simulation.invariants.order import edges_of, order_of
from stretto.testing.simulation.invariants.pauses import pauses
from stretto.testing.simulation.invariants.permits import permits_of
from stretto.testing.simulation.invariants.queues import queues, requests
from stretto.testing.simulation.invariants.rows import attempts, children, runs
from stretto.testing.simulation.watch import Rule


def rules_of(workflows: Iterable[Workflow]) -> list[Rule]:
    """Those that hold for the runs of some workflows."""
    edges = {step: before for each in workflows for step, before in edges_of(each.steps).items()}
    return [
        leases,
        writers,
        runs,
        attempts,
        children,
        order_of(edges),
        requests,
        queues,
        permits_of(LIMITS),
        letters,
        pauses,
        ends,
    ]
