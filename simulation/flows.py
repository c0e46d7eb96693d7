"""Runs in memory as tests look at them: their records, their caches, and the same run loaded again."""

from collections.abc import Mapping
from copy import copy
from typing import Any, Final, TypeVar

from stretto.engine.flow import Flow, Tree
from stretto.engine.loading import load_flow
from stretto.engine.records import AttemptRecord, LoopRecord, Record, RunRecord
from stretto.model.moves import RUN_MOVES, STEP_MOVES, Moves
from stretto.model.status import RunStatus, StepStatus
from stretto.model.words import Word

S = TypeVar("S", bound=Word)
Key = tuple[type, Any]


def reachable(moves: Moves[S], next_attempt: S | None = None) -> dict[S, set[S]]:
    """Which status an attempt, or a run, may be found in later; a next attempt is another record."""
    found: dict[S, set[S]] = {}
    for start in moves:
        seen, todo = {start}, [start]
        while todo:
            for end in moves.get(todo.pop(), ()):
                if end is not next_attempt and end not in seen:
                    seen.add(end)
                    todo.append(end)
        found[start] = seen
    return found


STEP_REACH: Final[Mapping[StepStatus, set[StepStatus]]] = reachable(STEP_MOVES, StepStatus.CREATED)
RUN_REACH: Final[Mapping[RunStatus, set[RunStatus]]] = reachable(RUN_MOVES)


def flows_of(flow: Flow) -> list[Flow]:
    """A run and every iteration that is alive in it."""
    found = [flow]
    for each in found:
        found += [child for children in each.children.values() for child in children.values()]
    return found


def records_of(flow: Flow) -> dict[Key, Record]:
    """Everything of a run that has a row and is in memory."""
    found: dict[Key, Record] = {}
    for each in flows_of(flow):
        for record in (each.run, *each.attempts, *each.loops.values()):
            if record is not None:
                found[type(record), record.key] = record
    return found


def caches_of(flow: Flow) -> dict[Any, Any]:
    """Everything that is derived from the records, of a run and all that is alive in it."""
    return {
        each.run.key: (
            [*each.waiting],
            [*each.satisfied],
            each.active,
            each.sequence,
            sorted(each.held),
            {status: count for status, count in each.counts.items() if count},
            {index: sorted(children) for index, children in each.children.items() if children},
            sorted(each.loops),
            each.tree.live_leaves,
        )
        for each in flows_of(flow)
    }


def loaded(flow: Flow) -> Flow:
    """The same run, from copies of its records."""
    tree = Tree(flow.tree.workflow, flow.tree.settings, flow.tree.generation, flow.tree.internal_id)
    copies = [copy(record) for record in records_of(flow).values()]
    runs = [each for each in copies if isinstance(each, RunRecord)]
    (root,) = [run for run in runs if run.key == flow.run.key]
    again = Flow(root, flow.plan, tree, earlier=flow.earlier)
    iterations = [run for run in runs if run is not root]
    attempts = [each for each in copies if isinstance(each, AttemptRecord)]
    loops = [each for each in copies if isinstance(each, LoopRecord)]
    return load_flow(again, iterations, attempts, loops)
