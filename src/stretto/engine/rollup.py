"""The leaf steps of a tree of runs, counted by status, with the names of those that somebody should look at.

    rollup.move(leaf, before, after)      one leaf goes from status to status: two additions
    rollup.merge(other)                   a whole tree joins
    rollup.subtract(other)                a whole tree leaves

Rollups of ancestors are kept by moving counters, never by counting again. Every operation has its exact
reverse (`move` the other way, `merge` and `subtract`), so that a decision can be undone.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Final, NamedTuple, Self

from stretto.model.aggregated import StepAggregatedView
from stretto.model.artifact import Artifacts, ForeachArtifact, SubworkflowArtifact, WhileArtifact
from stretto.model.errors import Internal
from stretto.model.rollup import RollupCount, RollupOverview
from stretto.model.status import StepStatus

Names = dict[str, dict[str, None]]  # run -> steps
ORDER: Final = {status: place for place, status in enumerate(StepStatus)}
NAMED: Final = frozenset(status for status in StepStatus if status.is_overview)


class Leaf(NamedTuple):
    """A step attempt as rollups name it: `workflow:run` and `instance:step:attempt`."""

    run: str
    step: str

    @classmethod
    def of(cls, workflow_id: str, instance_id: int, run_id: int, step_id: str, attempt_id: int) -> Self:
        return cls(f"{workflow_id}:{run_id}", f"{instance_id}:{step_id}:{attempt_id}")


class Rollup:
    """How many leaf steps are in which status. Only those that need attention are named."""

    __slots__ = ("counts", "names", "total")

    def __init__(self) -> None:
        self.total = 0
        self.counts: dict[StepStatus, int] = {}
        self.names: dict[StepStatus, Names] = {}

    @classmethod
    def of(cls, record: RollupOverview | None) -> Self:
        rollup = cls()
        if record is not None:
            rollup.total = record.total_leaf_count
            for status, count in record.overview.items():
                rollup.counts[status] = count.cnt
                rollup._name_all(status, {run: dict.fromkeys(steps) for run, steps in count.ref.items()})
        return rollup

    @classmethod
    def counted(cls, counts: Mapping[StepStatus, int]) -> Self:
        """So many leaves in each status, none of them named."""
        rollup = cls()
        rollup.counts = {status: count for status, count in counts.items() if count}
        rollup.total = sum(rollup.counts.values())
        return rollup

    def record(self) -> RollupOverview:
        return RollupOverview(
            total_leaf_count=self.total,
            overview={
                status: RollupCount(cnt=self.counts[status], ref=self._listed(status))
                for status in sorted(self.counts, key=ORDER.__getitem__)
            },
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rollup) and self.record() == other.record()

    __hash__ = None  # type: ignore[assignment]  # it changes

    # ----------------------------------------------------------------------------------------- one leaf
    def add(self, leaf: Leaf, status: StepStatus) -> None:
        self.total += 1
        self._enter(leaf, status)

    def remove(self, leaf: Leaf, status: StepStatus) -> None:
        self._leave(leaf, status)
        self.total -= 1

    def move(self, leaf: Leaf, before: StepStatus, after: StepStatus) -> None:
        self._leave(leaf, before)
        self._enter(leaf, after)

    def name(self, leaf: Leaf, status: StepStatus) -> None:
        """Name a leaf that is counted."""
        self.names.setdefault(status, {}).setdefault(leaf.run, {})[leaf.step] = None

    def named(self) -> Iterator[tuple[StepStatus, Leaf]]:
        """The leaves that somebody should look at."""
        for status, runs in self.names.items():
            for run, steps in runs.items():
                for step in steps:
                    yield status, Leaf(run, step)

    def _enter(self, leaf: Leaf, status: StepStatus) -> None:
        self.counts[status] = self.counts.get(status, 0) + 1
        if status in NAMED:
            self.name(leaf, status)

    def _leave(self, leaf: Leaf, status: StepStatus) -> None:
        self._take(status, 1)
        if status in NAMED:
            self._unname(status, leaf.run, (leaf.step,))

    # ---------------------------------------------------------------------------------------- whole trees
    def merge(self, other: "Rollup") -> Self:
        """Count the leaves of another tree, too."""
        self.total += other.total
        for status, count in other.counts.items():
            self.counts[status] = self.counts.get(status, 0) + count
            self._name_all(status, other.names.get(status, {}))
        return self

    def put_below(self, status: StepStatus, other: "Rollup") -> Self:
        """What is under a step takes the place of the step, which is counted in this status, unnamed."""
        self._take(status, 1)
        self.total -= 1
        return self.merge(other)

    def subtract(self, other: "Rollup") -> Self:
        """Count the leaves of another tree no more; it must be a part of this one."""
        for status, count in other.counts.items():
            if count > self.counts.get(status, 0):
                raise Internal(f"a rollup with {count} steps {status} is not part of this one")
        self.total -= other.total
        for status, count in other.counts.items():
            self._take(status, count)
            for run, steps in other.names.get(status, {}).items():
                self._unname(status, run, steps)
        return self

    def _take(self, status: StepStatus, count: int) -> None:
        left = self.counts.get(status, 0) - count
        if left < 0:
            raise Internal(f"there is no leaf step in status {status} to take away")
        if left:
            self.counts[status] = left
        else:
            del self.counts[status]

    def _listed(self, status: StepStatus) -> dict[str, list[str]]:
        """In one order, so that equal rollups look equal whatever way they came about."""
        names = self.names.get(status, {})
        return {run: sorted(names[run]) for run in sorted(names)}

    def _name_all(self, status: StepStatus, names: Names) -> None:
        if names:
            mine = self.names.setdefault(status, {})
            for run, steps in names.items():
                mine.setdefault(run, {}).update(steps)

    def _unname(self, status: StepStatus, run: str, steps: Iterable[str]) -> None:
        runs = self.names.get(status, {})
        known = runs.get(run, {})
        for step in steps:
            known.pop(step, None)
        if not known:
            runs.pop(run, None)


# --------------------------------------------------------------------------------------- where they come from
def rollup_of_children(artifacts: Artifacts) -> Rollup | None:
    """What stands for a loop or a subworkflow in the rollup around it.

    None: it is no such step, or nothing runs under it yet. Then it counts as a leaf with its own status.
    """
    for artifact in artifacts.values():
        match artifact:
            case SubworkflowArtifact(subworkflow_overview=overview) if overview is not None:
                return Rollup.of(overview.rollup_overview)
            case WhileArtifact() if artifact.last_iteration >= artifact.first_iteration:
                last = artifact.last_overview
                return Rollup.of(artifact.rollup).merge(Rollup.of(last.rollup_overview if last else None))
            case ForeachArtifact(foreach_overview=overview) if overview is not None:
                both = Rollup.of(overview.rollup).merge(Rollup.of(overview.running_rollup))
                return both if both.total else None
            case _:
                continue
    return None


def rollup_of_earlier_runs(
    workflow_id: str,
    instance_id: int,
    views: Mapping[str, StepAggregatedView],
    covered: Container[str],
    children: Mapping[str, Rollup],
) -> Rollup:
    """What earlier runs of an instance add to the rollup of this one: steps that it does not cover.

    `views` is the aggregated view before this run; `children` what stands for its loops and subworkflows.
    Attempt 0 in a name: the newest of that run.
    """
    base = Rollup()
    for step_id, view in views.items():
        if step_id in covered or view.workflow_run_id is None:
            continue
        if step_id in children:
            base.merge(children[step_id])
        else:
            base.add(Leaf.of(workflow_id, instance_id, view.workflow_run_id, step_id, 0), view.status)
    return base
