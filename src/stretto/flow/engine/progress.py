"""How far a run is: in steps, in iterations of its loops, and in what steps told of themselves."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from stretto.actions.parts.finding import step_in
from stretto.engine.records import LoopRecord, RunKey
from stretto.flow.engine.host import Host
from stretto.flow.engine.inner import live_inside
from stretto.model.artifact import DefaultArtifact
from stretto.model.status import RunStatus
from stretto.model.step import AnyStep, ForeachStep, WhileStep
from stretto.ports.rows import AttemptRow, RunRow, ended_of
from stretto.ports.run_snapshot import NewestAttempts
from stretto.runtimes.python.telling import PROGRESS

MOST_RUNS: Final = 1_000  # inside of a run that are looked into


class StepProgress(msgspec.Struct, frozen=True, kw_only=True):
    """What a step told of itself (`ctx.progress(0.4, "loading")`)."""

    fraction: float
    text: str = ""


class LoopProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How many iterations of a loop have succeeded, how many ended otherwise, and of how many; `total` is
    None where nobody knows it: of a while, and before a loop has begun.
    """

    done: int
    failed: int = 0
    total: int | None = None


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """A run at a glance.

    done, total, failed   its own steps: those that have ended well, all, and those that have failed
    fraction              from 0 to 1, with iterations that have ended, and with what steps told of themselves
    steps                 what steps told, by their path: `load`, or `load_map[2].load` inside of a loop. Of
                          iterations and subworkflows those that have not ended are in it
    loops                 its loops, and those inside of its steps, by their path
    """

    status: RunStatus
    done: int
    total: int
    failed: int = 0
    fraction: float
    steps: Mapping[str, StepProgress] = {}
    loops: Mapping[str, LoopProgress] = {}


async def read_progress(host: Host, row: RunRow) -> Progress:
    """Counted over the steps of the definition."""
    workflow = await host.workflow(row)
    attempts = await host.store.attempts(NewestAttempts((row.key,)))
    tally = _Tally(host)
    done = await tally.done(row.key, workflow.steps, attempts, "")
    total = len(workflow.steps)
    statuses = [each.record.status for each in attempts]
    return Progress(
        status=row.record.status,
        done=sum(status.is_complete for status in statuses),
        total=total,
        failed=sum(status.is_restartable for status in statuses),
        fraction=_share(done, total),
        steps=tally.told,
        loops=tally.loops,
    )


class _Tally:
    """Counts, and collects what is told, level by level."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._left = MOST_RUNS
        self.told: dict[str, StepProgress] = {}
        self.loops: dict[str, LoopProgress] = {}

    async def done(
        self, run: RunKey, steps: tuple[AnyStep, ...], attempts: Sequence[AttemptRow], path: str
    ) -> float:
        """How many steps of a run are done, with parts of those that are under way."""
        loops = {each.key: each for each in await self._host.store.loops(run)}
        done = 0.0
        for each in attempts:
            status, place, loop = each.record.status, path + each.key.step_id, loops.get(each.key)
            if loop is not None:
                self.loops[place] = _loop_progress(loop)
            found = each.record.artifacts.get(PROGRESS)
            if isinstance(found, DefaultArtifact):
                self.told[place] = _told(found.data)
            if status.is_terminal:
                done += status.is_complete
                continue
            part = await self._part(each, loop, steps, path)
            done += self.told[place].fraction if place in self.told else part
        return done

    async def _part(
        self, attempt: AttemptRow, loop: LoopRecord | None, steps: tuple[AnyStep, ...], path: str
    ) -> float:
        """How much of a step is done by the runs inside of it."""
        begun = 0.0 if loop is None else float(sum(ended_of(loop).values()))
        total = 1 if loop is None else loop.total
        is_over = attempt.record.child is not None
        async for row, place in live_inside(self._host.store, attempt, loop):
            is_over = False
            if not self._left:
                break
            self._left -= 1
            inner = await self._steps(row, attempt, loop, steps)
            attempts = await self._host.store.attempts(NewestAttempts((row.key,)))
            begun += _share(await self.done(row.key, inner, attempts, f"{path}{place}."), len(inner))
        return 1.0 if is_over else _share(begun, total) if total else 0.0

    async def _steps(
        self, row: RunRow, attempt: AttemptRow, loop: LoopRecord | None, steps: tuple[AnyStep, ...]
    ) -> tuple[AnyStep, ...]:
        """The steps of a run inside of a step."""
        if loop is None:
            return (await self._host.workflow(row)).steps
        step = step_in(steps, attempt.key.step_id)
        return step.steps if isinstance(step, ForeachStep | WhileStep) else loop.steps


def _loop_progress(loop: LoopRecord) -> LoopProgress:
    ended = ended_of(loop)
    good = ended.get(RunStatus.SUCCEEDED, 0)
    return LoopProgress(done=good, failed=sum(ended.values()) - good, total=loop.total)


def _share(done: float, total: int) -> float:
    return 1.0 if total == 0 else min(1.0, done / total)


def _told(data: Mapping[str, Any]) -> StepProgress:
    return StepProgress(fraction=float(data.get("fraction", 0.0)), text=str(data.get("text", "")))
