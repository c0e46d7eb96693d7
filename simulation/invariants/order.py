"""No step begins before those in front of it are complete; and it runs only if an edge into it is taken."""

from collections.abc import Mapping, Sequence

from simulation.watch import Complain, Rule, Touched
from stretto.engine.records import AttemptKey, AttemptRecord, RunKey
from stretto.model.initiator import UpstreamFields
from stretto.model.run_config import RunPolicy
from stretto.model.status import StepStatus
from stretto.model.step import AnyStep, ForeachStep, WhileStep
from stretto.store.memory.database import Database

Before = Mapping[str, tuple[str, ...]]  # step -> those with an edge to it


def edges_of(steps: Sequence[AnyStep]) -> dict[str, tuple[str, ...]]:
    """For each step of a definition, on all levels, the steps right in front of it."""
    found: dict[str, tuple[str, ...]] = {}
    for step in steps:
        found[step.id] = tuple(each.id for each in steps if step.id in each.transition.successors)
        if isinstance(step, ForeachStep | WhileStep):
            found |= edges_of(step.steps)
    return found


def order_of(known: Before) -> Rule:
    """The rule; ids of steps are unique over all definitions, and steps that work adds are in their loop."""

    def order(touched: Touched, complain: Complain) -> None:
        for key, before, after in touched.of("attempts"):
            if before is None and after is not None and not after.record.manual:
                _check(touched.db, key, after.record, known, complain)

    return order


def _check(db: Database, key: AttemptKey, record: AttemptRecord, known: Before, complain: Complain) -> None:
    if db.runs[key.run].record.policy is RunPolicy.UNDO:
        return  # what undoes a run goes its own way
    earlier = [_newest(db, key.run, step_id) for step_id in _in_front(db, key, known)]
    if any(each is not None and each.superseded for each in (*earlier, _newest(db, key.run, key.step_id))):
        return  # it was gone back behind this step
    run = db.runs[key.run].record
    restarted = not run.policy.is_fresh or run.covers is not None
    if restarted and None in earlier:
        return  # a restart begins somewhere in the middle: what is in front of that is not in this run
    for each in earlier:
        if each is None or not each.status.is_complete:
            what = "nothing" if each is None else f"{each.key}, which is {each.status}"
            complain(f"order: {key} began behind {what}")
            return
    taken = not earlier or any((each.edges or {}).get(key.step_id) for each in earlier if each is not None)
    if taken is (record.status is StepStatus.UNSATISFIED):
        complain(f"order: {key} is {record.status}, and an edge into it is taken: {taken}")


def _in_front(db: Database, key: AttemptKey, known: Before) -> tuple[str, ...]:
    if key.step_id in known:
        return known[key.step_id]
    initiator = db.runs[key.run].record.initiator
    assert isinstance(initiator, UpstreamFields)  # it stands under the step whose work has added it
    above = initiator.parent
    for loop_key in db.loops_of[RunKey(above.workflow_id, above.instance_id, above.run_id)]:
        edges = edges_of(db.loops[loop_key].steps)
        if key.step_id in edges:
            return edges[key.step_id]
    return ()


def _newest(db: Database, run: RunKey, step_id: str) -> AttemptRecord | None:
    """The newest attempt of a step in a run."""
    found = [db.attempts[each].record for each in db.attempts_of[run] if each.step_id == step_id]
    return found[-1] if found else None
