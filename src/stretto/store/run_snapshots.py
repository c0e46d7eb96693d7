"""Which rows a snapshot of runs needs: decided in memory, as rows come, and read in as few turns as can be.

Each rule names what a view of a run asks for, and is applied once to a run. A rule about a run that is not
read yet waits for it; whatever all rules want next is read in one turn. So the number of turns depends on how
deep the rules lead (a run, its steps, what these started), never on how many runs there are.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final

from stretto.engine.inline_ids import Loop, is_inline
from stretto.engine.records import AttemptKey, LoopRecord, RunKey, attempt_above, run_above
from stretto.model.initiator import (
    ForeachInitiator,
    SubworkflowInitiator,
    UpstreamFields,
    WhileInitiator,
)
from stretto.model.run_config import RunPolicy
from stretto.ports.loading import FlowRows
from stretto.ports.paging import Slice
from stretto.ports.rows import AttemptRow, Phase, RunRow
from stretto.ports.run_snapshot import (
    FoundSteps,
    NamedRuns,
    PropertiesTime,
    RunDetail,
    RunRange,
    RunSelection,
    RunSnapshot,
    SnapshotSource,
    VersionNumber,
    WantedSteps,
)

MOST_STEPS: Final = 20_000  # that are read at once; a run with more comes alone
HANDED_DOWN: Final = (ForeachInitiator, WhileInitiator, SubworkflowInitiator)

Rule = Callable[[RunRow], None]


async def take_snapshot(source: SnapshotSource, selection: RunSelection, detail: RunDetail) -> RunSnapshot:
    """The selected runs with all that was asked for, from one transaction."""
    page, span = await source.page(selection)
    if isinstance(selection, NamedRuns):
        rows = {row.key: row for row in page.elements}
        page = Slice(elements=tuple(rows[key] for key in selection.keys if key in rows))
    found = RunSnapshot(page, span)
    plan = _Plan(found, detail)
    plan.show()
    while True:
        if ranges := plan.take_ranges():
            plan.add_runs(ranges, await source.runs(ranges))
        elif wanted := plan.take_steps():
            plan.add_steps(wanted, await source.steps(wanted))
        elif roots := plan.take_roots():
            plan.add_flows(await source.flows(roots))
        else:
            break
    if page.elements:
        found.add_heads(await source.heads(sorted(plan.versions), sorted(plan.properties)))
    return found


class _Plan:
    """What is still to be read."""

    def __init__(self, found: RunSnapshot, detail: RunDetail) -> None:
        self._found = found
        self._detail = detail
        self._applied: set[tuple[str, RunKey]] = set()
        self._waiting: dict[RunKey, list[Rule]] = {}
        self._steps: set[RunKey] = set()
        self._attempts: set[AttemptKey] = set(detail.attempts)
        self._loops: set[RunKey] = set()
        self._roots: set[RunKey] = set()
        self._whiles: set[str] = set()  # inline workflows whose last iteration is wanted
        self.versions: set[VersionNumber] = set()
        self.properties: set[PropertiesTime] = set()

    def show(self) -> None:
        """Begin with the selected runs, as many as are read at once."""
        found, page = self._found, self._found.page
        fitting = _fitting(page.elements) if self._detail.steps else len(page.elements)
        shown, left = page.elements[:fitting], page.elements[fitting:]
        found.left = tuple(row.key for row in left)
        found.page = Slice(elements=shown, before=page.before, after=page.after)
        found.add_runs((row.key for row in shown), shown)
        for row in shown:
            self._shown(row)

    # ------------------------------------------------------------------------------------- what is wanted
    def take_ranges(self) -> list[RunRange]:
        """The runs that are wanted, as ranges of ids."""
        keys = sorted(key for key in self._waiting if not self._found.is_sought(key))
        if not keys:
            return []
        ends = [place for place, (key, after) in enumerate(pairwise(keys)) if after != _next(key)]
        return [
            RunRange(*keys[first], keys[last].run_id)
            for first, last in zip([0, *(end + 1 for end in ends)], [*ends, len(keys) - 1], strict=True)
        ]

    def add_runs(self, ranges: Sequence[RunRange], rows: Iterable[RunRow]) -> None:
        self._found.add_runs((key for each in ranges for key in each.runs()), rows)
        waiting, self._waiting = self._waiting, {}
        for key, rules in waiting.items():
            row = self._found.known(key)
            if row is not None:
                for rule in rules:
                    rule(row)

    def take_steps(self) -> WantedSteps | None:
        """The attempts and loops that are wanted."""
        found = self._found
        wanted = WantedSteps(
            sorted(run for run in self._steps if not found.has_steps(run)),
            sorted(key for key in self._attempts if not found.has_attempt(key)),
            sorted(run for run in self._loops if not found.has_loops(run)),
        )
        return wanted if any(wanted) else None

    def add_steps(self, wanted: WantedSteps, steps: FoundSteps) -> None:
        self._found.add_steps(wanted, steps)
        self._look_below()

    def take_roots(self) -> list[RunRow]:
        """The runs in which something may be alive that is wanted."""
        rows = [self._found.known(key) for key in sorted(self._roots) if key not in self._found.flows]
        return [row for row in rows if row is not None]

    def add_flows(self, flows: Iterable[FlowRows]) -> None:
        for flow in flows:
            self._found.flows[flow.run.key] = flow
            whiles = sorted(row.key for row in flow.iterations if row.key.workflow_id in self._whiles)
            rows = {row.key: row for row in flow.iterations}
            last = {key.workflow_id: rows[key] for key in whiles}
            for row in last.values():
                self._found.add_runs([row.key], [row])
                self._child(row)

    # ---------------------------------------------------------------------------------------------- rules
    def _when_read(self, key: RunKey, rule: Rule) -> None:
        """Apply a rule to a run, as soon as it is there."""
        row = self._found.known(key)
        if row is not None:
            rule(row)
        elif not self._found.is_sought(key):
            self._waiting.setdefault(key, []).append(rule)

    def _is_first(self, rule: str, row: RunRow) -> bool:
        """Whether a rule is applied to a run for the first time."""
        before = len(self._applied)
        self._applied.add((rule, row.key))
        return len(self._applied) > before

    def _shown(self, row: RunRow) -> None:
        """A selected run."""
        self._when_read(row.root, self._head)
        self._defined(row)
        self._started(row)
        if self._detail.steps or row.key.run_id > 1:
            self._folded(row)
        if self._detail.over_runs:
            for key in _before(row):
                self._when_read(key, self._attempted)
        if self._detail.below != ():
            self._loops.add(row.key)
        if is_inline(row.key.workflow_id):
            self._named(row)

    def _head(self, root: RunRow) -> None:
        """The run whose properties hold."""
        if root.record.properties_at is not None:
            self.properties.add((root.key.workflow_id, root.record.properties_at))

    def _child(self, row: RunRow) -> None:
        """A run below a step that is shown."""
        self._defined(row)
        self._folded(row)

    def _folded(self, row: RunRow) -> None:
        """Where the steps of a run stand, with those that it has from the runs before it."""
        if self._is_first("folded", row):
            self._steps.add(row.key)
            if row.record.policy is not RunPolicy.UNDO:
                for key in _before(row):
                    self._when_read(key, self._attempted)

    def _attempted(self, row: RunRow) -> None:
        """An earlier run of an instance."""
        self._steps.add(row.key)
        if self._detail.over_runs:
            self._defined(row)
            self._loops.add(row.key)

    def _defined(self, row: RunRow) -> None:
        """The definition that a run follows; that of an iteration may be told from the run around it."""
        if not self._is_first("defined", row):
            return
        self.versions.add((row.root.workflow_id, row.record.version_id))
        initiator = row.record.initiator
        if not is_inline(row.key.workflow_id) or not isinstance(initiator, UpstreamFields):
            return
        around = run_above(initiator.parent)
        self._loops.add(around)
        self._when_read(around, self._defined)
        if row.record.covers is None and row.key.workflow_id.startswith(Loop.COMPENSATION.tag):
            self._when_read(around, self._folded)

    def _started(self, row: RunRow) -> None:
        """The attempt that handed parameters down to a run."""
        initiator = row.record.initiator
        if not isinstance(initiator, HANDED_DOWN):
            return
        self._attempts.add(attempt_above(initiator.parent))
        self._when_read(run_above(initiator.parent), self._defined)
        for ancestor in reversed(initiator.ancestors):  # all at once: each is defined by the one above it
            self._when_read(run_above(ancestor), self._defined)
            if not is_inline(ancestor.workflow_id):
                break

    def _named(self, row: RunRow) -> None:
        """The loop that made an iteration: its name is shown. One that is restarted keeps that of its first
        run.
        """
        initiator = row.record.initiator
        if not self._is_first("named", row) or not isinstance(initiator, UpstreamFields):
            return
        around = run_above(initiator.parent)
        self._when_read(around, _nothing)
        self._loops.add(around)
        self._attempts.add(attempt_above(initiator.parent))
        if not row.record.policy.is_fresh:
            for run_id in range(1, around.run_id):
                self._when_read(around._replace(run_id=run_id), _nothing)
            for key in _before(row):
                self._when_read(key, self._named)

    # -------------------------------------------------------------------------------------- below the steps
    def _look_below(self) -> None:
        """What the shown steps have started."""
        if self._detail.below == ():
            return
        shown = {row.key: row for row in self._shown_attempts() if self._detail.has_below(row.key.step_id)}
        for key, row in shown.items():
            self._loops.add(key.run)
            if row.record.child is not None:
                self._when_read(row.record.child, self._child)
        for run in sorted({key.run for key in shown}):
            self._add_loops(run, shown)

    def _shown_attempts(self) -> list[AttemptRow]:
        found = self._found
        rows = [found.attempt_of(key) for key in self._detail.attempts]
        named = [row for row in rows if row is not None]
        for row in found.page.elements:
            runs = [row.key, *(_before(row) if self._detail.over_runs else ())]
            newest: dict[str, AttemptRow] = {}
            for run in runs:
                for each in found.steps_of(run):
                    newest.setdefault(each.key.step_id, each)
            named += newest.values()
        return named

    def _add_loops(self, run: RunKey, shown: dict[AttemptKey, AttemptRow]) -> None:
        row = self._found.known(run)
        for loop in self._found.loops_of(run):
            attempt = shown.get(loop.key)
            if attempt is None:
                continue
            if row is not None and row.phase is Phase.LIVE and not attempt.record.status.is_terminal:
                self._roots.add(row.root)
                self._when_read(row.root, _nothing)
            if loop.inline_id.startswith(Loop.WHILE.tag):
                self._whiles.add(loop.inline_id)
                self._when_read(_last_iteration(loop), self._child)


def _last_iteration(loop: LoopRecord) -> RunKey:
    """The iteration of a while that is its last one, if none of them is alive."""
    return RunKey(loop.inline_id, loop.next_index, loop.run_id)


def _nothing(_row: RunRow) -> None:
    """The row itself is all that is wanted."""


def _before(row: RunRow) -> list[RunKey]:
    """The runs of an instance before one, the newest first."""
    return [row.key._replace(run_id=run_id) for run_id in range(row.key.run_id - 1, 0, -1)]


def _next(key: RunKey) -> RunKey:
    return key._replace(run_id=key.run_id + 1)


def _fitting(rows: Sequence[RunRow]) -> int:
    """How many runs are read at once: the first, and those after it as far as their steps are not many."""
    steps = 0
    for place, row in enumerate(rows):
        steps += sum(row.summary.counts.values())
        if place and steps > MOST_STEPS:
            return place
    return len(rows)
