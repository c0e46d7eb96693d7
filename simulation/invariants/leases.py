"""I1: who writes for a group names its current generation; generations only grow, and the dead stay dead."""

from simulation.watch import Complain, Touched
from stretto.ports.groups import NodeState


def leases(touched: Touched, complain: Complain) -> None:
    """Groups and nodes change as claims, burials and farewells allow."""
    for group, before, after in touched.of("groups"):
        if after.generation < before.generation:
            complain(f"I1: the generation of group {group} went back")
        taken = after.owner is not None and after.owner != before.owner
        if taken and after.generation == before.generation:
            complain(f"I1: group {group} was taken by {after.owner} without a new generation")
        if taken and before.owner is not None:
            complain(f"I1: group {group} was taken from {before.owner} without a burial")
    for node, before, after in touched.of("nodes"):
        if before is not None and before.state is NodeState.DEAD and after is not None and after != before:
            complain(f"I1: the dead node {node} changed")


def writers(touched: Touched, complain: Complain) -> None:
    """A group commit writes only for groups whose generation it names, and which its node owns."""
    call = touched.call
    if call.name != "commit":
        return
    node, parts = call.arguments[0], call.arguments[1]
    named = {part.lease.group: part.lease.generation for part in parts}
    for group in written_groups(touched):
        row = touched.db.groups[group]
        if named.get(group) != row.generation:
            complain(
                f"I1: {node} wrote for group {group} under generation {named.get(group)},"
                f" and the current one is {row.generation}"
            )
        elif row.owner != node:
            complain(f"I1: {node} wrote for group {group}, which {row.owner or 'nobody'} owns")


def written_groups(touched: Touched) -> list[int]:
    """The groups whose rows a transaction changed."""
    db = touched.db
    found: dict[int, None] = {}
    for change in touched.of("runs"):
        found[(change.after or change.before).group] = None
    for table in ("attempts", "loops"):
        for key, _, _ in touched.of(table):
            row = db.runs.get(key.run)
            if row is not None:
                found[row.group] = None
    for (group, _), _, _ in touched.of("log"):
        found[group] = None
    return list(found)
