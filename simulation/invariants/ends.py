"""I21: once a loop is being ended, nothing begins in it, however many decisions its end takes; and until the
end has reached every iteration, something carries it on. One transaction may begin a loop and end it: what it
made in between was there when the end came.
"""

from simulation.watch import Complain, Touched
from stretto.engine.events import Resumed
from stretto.engine.flow import UNDO, Flow
from stretto.engine.records import AttemptKey, AttemptRecord, Compensation, RunKey
from stretto.model.initiator import UpstreamFields
from stretto.model.run_config import RunPolicy
from stretto.node.entry import Entry
from stretto.node.machine import Node


def ends(touched: Touched, complain: Complain) -> None:
    """Every iteration, and every attempt in one, that this transaction has made."""
    made = [key for key, before, after in touched.of("runs") if before is None and after is not None]
    stepped = [key for key, before, after in touched.of("attempts") if before is None and after is not None]
    if not (made or stepped):
        return
    earlier = {key: before and before.record for key, before, _after in touched.of("attempts")}
    for run in made:
        _check(touched, earlier, run, f"the iteration {run}", complain)
    for attempt in stepped:
        _check(touched, earlier, attempt.run, f"{attempt}", complain)


def _check(
    touched: Touched,
    earlier: dict[AttemptKey, AttemptRecord | None],
    run: RunKey,
    what: str,
    complain: Complain,
) -> None:
    """Look at every loop around a run, up to the run that holds them all or that undoes what they did."""
    db = touched.db
    row = db.runs[run]
    while row.root != row.key:
        record = row.record
        if record.policy is RunPolicy.UNDO or not isinstance(record.initiator, UpstreamFields):
            return
        above = record.initiator.parent
        key = AttemptKey(
            RunKey(above.workflow_id, above.instance_id, above.run_id), above.step_id, above.step_attempt_id
        )
        loop = earlier[key] if key in earlier else db.attempts[key].record
        if loop is not None and loop.ending is not None:
            complain(f"I21: {what} began, and {key} is being ended, as {loop.ending}")
            return
        row = db.runs[key.run]


def carried_on(node: Node, complain: Complain) -> None:
    """A node was told that its commit is there: look at the ends that have not reached everything yet."""
    for group in node.groups.values():
        if group.committing:
            continue  # what follows comes with the commit
        for entry in group.entries.values():
            if entry.flow is not None and len(entry.flow.tree.live) > 1 and entry.key not in group.drafts:
                _look(entry, entry.flow, complain)


def _look(entry: Entry, root: Flow, complain: Complain) -> None:
    for flow in root.tree.live.values():
        for index, iterations in flow.children.items():
            loop = None if index == UNDO else flow.attempts[index]
            if loop is None or loop.ending is None:
                continue
            left = [each.run.key for each in iterations.values() if not _is_reached(each)]
            if left and not any(item.event == Resumed(attempt=loop.key) for item in entry.inbox):
                complain(f"I21: {loop.key} is being ended, and nothing carries that on to {left[0]}")


def _is_reached(flow: Flow) -> bool:
    return flow.is_over or flow.run.ending is not None or flow.run.compensation is Compensation.RUNNING
