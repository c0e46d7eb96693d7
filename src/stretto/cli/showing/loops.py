"""How far the loops of a run are, and which of their iterations failed, with the values of these."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from stretto.actions.reading.instances import get_instance
from stretto.cli import style
from stretto.cli.database import caller
from stretto.cli.showing.parts import OURS, value_text
from stretto.model.artifact import ForeachArtifact, WhileArtifact
from stretto.model.foreach import ForeachOverview
from stretto.model.instance import WorkflowInstance
from stretto.model.param import Params
from stretto.model.status import InstanceStatus
from stretto.model.step_instance import StepInstance
from stretto.ports.store import Store

SOME: Final = 5  # iterations that are named
INTERNAL: Final = frozenset({"loop_index", "condition"})  # parameters that every iteration has
WIDEST: Final = 40  # characters of the values of an iteration
BAD: Final = (InstanceStatus.FAILED, InstanceStatus.TIMED_OUT, InstanceStatus.STOPPED)


class BadIteration(msgspec.Struct, frozen=True):
    """An iteration that did not end well, with the values of its loop parameters."""

    number: int
    values: str = ""


class LoopSight(msgspec.Struct, frozen=True, kw_only=True):
    """A loop of a run: how many iterations, how many ended, and some that ended badly."""

    step_id: str
    total: int | None  # of a while nobody knows
    ended: int = 0
    failed: int = 0
    bad: tuple[BadIteration, ...] = ()


def loops_in(steps: Iterable[StepInstance]) -> dict[str, tuple[LoopSight, str]]:
    """The loops among the steps of a run, and the workflow of their iterations, by step."""
    found: dict[str, tuple[LoopSight, str]] = {}
    for step in steps:
        for artifact in step.artifacts.values():
            if isinstance(artifact, ForeachArtifact):
                sight = _foreach(step.step_id, artifact)
                found[step.step_id] = sight, artifact.foreach_workflow_id
            elif isinstance(artifact, WhileArtifact):
                failed = artifact.last_status in BAD
                bad = (BadIteration(artifact.last_iteration),) if failed else ()
                sight = LoopSight(
                    step_id=step.step_id, total=None, ended=artifact.last_iteration, failed=len(bad), bad=bad
                )
                found[step.step_id] = sight, artifact.loop_workflow_id
    return found


def _foreach(step_id: str, artifact: ForeachArtifact) -> LoopSight:
    overview = artifact.foreach_overview or ForeachOverview()
    counts: dict[InstanceStatus, int] = {}
    for stats in (overview.stats, overview.running_stats):
        for status, count in stats.items():
            counts[status] = counts.get(status, 0) + count
    details = overview.details or {}
    ranges = [each for status in BAD for each in details.get(status, ())]
    numbers = (number for first, last in ranges for number in range(first, min(last, first + SOME) + 1))
    return LoopSight(
        step_id=step_id,
        total=artifact.total_loop_count,
        ended=sum(count for status, count in counts.items() if status.is_terminal),
        failed=sum(counts.get(status, 0) for status in BAD),
        bad=tuple(map(BadIteration, sorted(numbers)[:SOME])),
    )


async def read_loops(store: Store, steps: Iterable[StepInstance]) -> list[LoopSight]:
    """The loops among the steps of a run in a database, with the values of iterations that failed."""
    loops: list[LoopSight] = []
    for sight, inline_id in loops_in(steps).values():
        runs = {
            each.number: await get_instance(store, caller(), inline_id, each.number, enriched=False)
            for each in sight.bad
        }
        loops.append(with_values(sight, runs))
    return loops


def with_values(sight: LoopSight, runs: Mapping[int, WorkflowInstance]) -> LoopSight:
    """With the loop parameters of those iterations that were read."""
    bad = tuple(BadIteration(each.number, values_text(runs[each.number])) for each in sight.bad)
    return msgspec.structs.replace(sight, bad=bad)


def given_params(run: WorkflowInstance) -> Params:
    """What a run was started with. Of what a step hands down, a child is shown what somebody has given, and
    an iteration the values of its loop, which have no source.
    """
    given, initiator = run.run_params or {}, run.initiator
    if initiator is not None and initiator.inline:
        return {name: param for name, param in given.items() if param.source is None}
    return {name: param for name, param in given.items() if param.source not in OURS}


def values_text(iteration: WorkflowInstance) -> str:
    """`day=20261103, shop=market`: what the loop gave to an iteration."""
    given = given_params(iteration)
    texts = [
        f"{name}={style.one_line(value_text(param))}"
        for name, param in (iteration.params or {}).items()
        if name in given and name not in INTERNAL
    ]
    return style.cut(", ".join(texts), WIDEST)


def loop_text(loop: LoopSight) -> str:
    """`7 of 9 iterations, 2 failed: each[3] (day=20261103), each[5] (day=20261105)`."""
    total = loop.ended if loop.total is None else loop.total
    part = "" if loop.ended == total else f"{loop.ended} of "
    text = f"{part}{total} iteration{'' if total == 1 else 's'}"
    if not loop.failed:
        return text
    names = [
        f"{loop.step_id}[{each.number}]" + (f" ({each.values})" if each.values else "") for each in loop.bad
    ]
    more = loop.failed - len(loop.bad)
    names += [f"{more} more"] if names and more > 0 else []
    return f"{text}, {loop.failed} failed" + (f": {', '.join(names)}" if names else "")
