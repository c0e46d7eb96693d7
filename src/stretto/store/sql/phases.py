"""Whether the runs of a commit are in the phases that its decisions need, one decision after the other."""

from typing import NamedTuple

from stretto.engine.records import RunKey
from stretto.ports.failures import Stale
from stretto.ports.rows import Phase
from stretto.store.sql.plan import Plan, Step
from stretto.store.sql.statement import Row


class Known(NamedTuple):
    """What the row of a run says before the commit."""

    phase: Phase
    due_at: int | None


class Settled(NamedTuple):
    """Rows of `UPDATE_RUN` and of `WAKE_RUN`."""

    updates: list[Row]
    wakes: list[Row]


def runs_of(plan: Plan) -> set[RunKey]:
    """The runs whose phases must be known."""
    found = {step.root for step in plan.steps if step.root is not None}
    found.update(key for step in plan.steps for key, _over in step.runs)
    return found


def settled(plan: Plan, known: dict[RunKey, Known]) -> Settled:
    """Check the phases. Stale: a run is not in the phase that it must be in, and nothing is to be written."""
    phases = {key: known[key].phase for key in runs_of(plan) if key in known}
    due: dict[RunKey, int | None] = {}
    for step in plan.steps:
        _check(plan.group, step, phases, due)
    updates = [(*row, due.get(key, known[key].due_at)) for key, row in plan.updates.items()]
    wakes: list[Row] = [
        (*key, Phase.LIVE, Phase.LIVE, due_at)
        for key, due_at in due.items()
        if key not in plan.updates and known[key] != (Phase.LIVE, due_at)
    ]
    return Settled(updates, wakes)


def _check(group: int, step: Step, phases: dict[RunKey, Phase], due: dict[RunKey, int | None]) -> None:
    root = step.root
    if root is None:
        raise Stale("there are records, and no run that they belong to", (group,))
    needed = Phase.ADMITTED if step.launch else Phase.LIVE
    if phases.get(root) is not needed:
        if step.launch or step.has_records:
            raise Stale(f"{root} is not {needed}", (group,))
        return  # a message for a run that has ended, or is unknown: there is nothing to note
    if step.launch or not step.keeps_due:
        phases[root] = Phase.LIVE
        due[root] = step.due_at
    for key, over in step.runs:
        if phases.get(key) is Phase.ENDED:
            raise Stale(f"{key} has ended", (group,))
        phases[key] = Phase.ENDED if over else Phase.LIVE
