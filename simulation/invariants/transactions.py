"""The invariants that look at single transactions and remember nothing, in the order in which they speak."""

from collections.abc import Iterable

from simulation.authors import LIMITS
from simulation.invariants.ends import ends
from simulation.invariants.leases import leases, writers
from simulation.invariants.letters import letters
from simulation.invariants.order import edges_of, order_of
from simulation.invariants.pauses import pauses
from simulation.invariants.permits import permits_of
from simulation.invariants.queues import queues, requests
from simulation.invariants.rows import attempts, children, runs
from simulation.watch import Rule
from stretto.model.workflow import Workflow


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
