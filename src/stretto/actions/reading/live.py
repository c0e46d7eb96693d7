"""What a screen hears of its topics: where things stand that have changed, and not every move on the way.

Moves are gathered for each topic; what is told of it is the last state, read when it is told. So however much
happens, little is said. What would be too much to say is told as `resync`: the screen reads anew.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from stretto.actions.parts.living import nodes_now
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.topics import (
    ApprovalsTopic,
    ClusterTopic,
    HomeTopic,
    RunsTopic,
    RunTopic,
    Topic,
    run_of,
)
from stretto.engine.records import RunKey
from stretto.model.errors import NotFound
from stretto.model.event import ChangeEvent, StepStatusChanged
from stretto.model.status import StepStatus
from stretto.model.status_codes import RUN_CODES, STEP_CODES, step_counts
from stretto.model.wire import codec_of, encode, to_json
from stretto.ports.rows import RunGlance
from stretto.ports.run_snapshot import NamedRuns, read_run
from stretto.ports.store import Store

MOST_BYTES: Final = 64 * 1024  # of what is told of a topic at once
MOST_RUNS: Final = 500  # that are read for a topic at once
MOST_KNOWN: Final = 10_000  # runs of which it is known whether a topic has them

S = StepStatus
# What comes of a step that has begun; a commit tells of no status that came and went in it.
BEGUN: Final = frozenset({S.STARTING, S.RUNNING, S.FINISHING, S.SUCCEEDED, S.COMPLETED_WITH_ERROR})


class Told(NamedTuple):
    """A message: what kind, and what it says."""

    name: str
    body: dict[str, Any]


class StepMove:
    """Where a step has come to; what it did before is not told here."""

    __slots__ = ("attempt", "end", "start", "status")

    def __init__(self) -> None:
        self.attempt = 0
        self.status = S.NOT_CREATED
        self.start: int | None = None
        self.end: int | None = None

    def take(self, event: StepStatusChanged) -> None:
        if event.step_attempt_id != self.attempt:
            self.attempt, self.start, self.end = event.step_attempt_id, None, None
        for each in event.status_change_records:
            self.status = each.new_status
            if each.new_status in BEGUN and each.old_status not in BEGUN:
                self.start = each.event_time
            if each.new_status.is_terminal:
                self.end = each.event_time


class Gathering:
    """What has changed in one topic since it was last told."""

    def __init__(self, topic: Topic) -> None:
        self._topic = topic
        self._filter = topic if isinstance(topic, RunsTopic) and not topic.is_known_by_step else None
        self._runs: dict[RunKey, None] = {}
        self._steps: dict[str, StepMove] = {}
        self._asking: dict[tuple[RunKey, str, int], StepMove] = {}
        self._workflows: dict[str, ChangeEvent] = {}
        self._nodes: tuple[Any, ...] = ()
        self._lost: str | None = None
        self._fit: dict[RunKey, bool] = {}  # of runs that a step was heard of: whether they are in the topic

    @property
    def is_empty(self) -> bool:
        return not (self._runs or self._steps or self._asking or self._workflows or self._lost)

    @property
    def wants_nodes(self) -> bool:
        return isinstance(self._topic, ClusterTopic)

    def take(self, events: Iterable[ChangeEvent]) -> None:
        for event in filter(self._topic.touches, events):
            run = run_of(event)
            if run is None:
                self._workflows[event.workflow_id] = event
            elif isinstance(event, StepStatusChanged):
                self._take_step(run, event)
            else:
                self._runs[run] = None
                if self._filter is not None:
                    self._fit[run] = True

    def _take_step(self, run: RunKey, event: StepStatusChanged) -> None:
        """With a step what its run comes to has changed: its counts, its first error, what it waits for."""
        if isinstance(self._topic, ApprovalsTopic):
            at = run, event.step_id, event.step_attempt_id
            self._asking.setdefault(at, StepMove()).take(event)
            return
        self._runs[run] = None
        if isinstance(self._topic, RunTopic):
            self._steps.setdefault(event.step_id, StepMove()).take(event)

    def lose(self, reason: str) -> None:
        """What has changed is not known."""
        self._clear()
        self._lost = reason

    async def tell(self, store: Store) -> list[Told]:
        """What is to be said of it now; afterwards it is empty."""
        if self._lost is None and len(self._runs) > MOST_RUNS:
            self.lose("too much has changed at once")
        if self._lost is not None:
            return [self._resync()]
        told = [
            *await self._told_runs(store),
            *await self._told_steps(store),
            *self._told_questions(),
            *self._told_workflows(),
        ]
        if sum(len(to_json(each.body)) for each in told) > MOST_BYTES:
            self.lose("too much has changed at once")
            return [self._resync()]
        self._clear()
        return told

    async def tell_nodes(self, store: Store) -> list[Told]:
        """The nodes, if they are not those that were told last."""
        nodes = tuple({"id": each.node, "state": each.state} for each in await nodes_now(store))
        if nodes == self._nodes:
            return []
        self._nodes = nodes
        return [Told("node", {"topic": self._topic.text, "nodes": list(nodes)})]

    # ----------------------------------------------------------------------------------------------- messages
    def _resync(self) -> Told:
        told = Told("resync", {"topic": self._topic.text, "reason": self._lost})
        self._clear()
        return told

    async def _told_runs(self, store: Store) -> list[Told]:
        if not self._runs:
            return []
        found = (await store.glances(NamedRuns(tuple(await self._fitting(store))))).elements
        if isinstance(self._topic, HomeTopic):
            counts: dict[str, int] = {}
            for each in found:
                code = RUN_CODES[each.status]
                counts[code] = counts.get(code, 0) + 1
            return [Told("home", {"topic": self._topic.text, "runs": counts})]
        return [Told("run", {"topic": self._topic.text, **_run(each)}) for each in found]

    async def _fitting(self, store: Store) -> list[RunKey]:
        """Runs that the topic has. The event of a step does not say which tags its run has, or whether it is
        a root: that is looked up once, as it stays so.
        """
        if self._filter is None:
            return list(self._runs)
        if len(self._fit) > MOST_KNOWN:
            self._fit = {run: True for run in self._runs if self._fit.get(run)}
        for run in self._runs:
            if run not in self._fit:
                row = await read_run(store, run)
                self._fit[run] = row is not None and self._filter.has(
                    row.record.tags, row.record.initiator.depth
                )
        return [run for run in self._runs if self._fit[run]]

    async def _told_steps(self, store: Store) -> list[Told]:
        if not self._steps or not isinstance(self._topic, RunTopic):
            return []
        places = await _places(store, self._topic.run)
        changes = sorted(
            [places[step], STEP_CODES[move.status], move.attempt, move.start, move.end]
            for step, move in self._steps.items()
            if step in places
        )
        return [Told("step", {"topic": self._topic.text, "ref": _ref(self._topic.run), "changes": changes})]

    def _told_questions(self) -> list[Told]:
        return [
            Told(
                "approval",
                {
                    "topic": self._topic.text,
                    "ref": f"{_ref(run)}:{step_id}/{number}",
                    "state": "open" if move.status is S.RUNNING else "done",
                },
            )
            for (run, step_id, number), move in self._asking.items()
        ]

    def _told_workflows(self) -> list[Told]:
        return [
            Told("workflow", {"topic": self._topic.text, "change": codec_of(ChangeEvent).encode(each)})
            for each in self._workflows.values()
        ]

    def _clear(self) -> None:
        self._runs, self._steps, self._asking, self._workflows, self._lost = {}, {}, {}, {}, None


async def _places(store: Store, run: RunKey) -> dict[str, int]:
    """Of its steps, in the graph of what it follows; a run that is gone has none."""
    row = await read_run(store, run)
    try:
        steps: Sequence[Any] = () if row is None else (await definition_of(store, row)).steps
    except NotFound:
        steps = ()
    return {step.id: place for place, step in enumerate(steps)}


def _run(glance: RunGlance) -> dict[str, Any]:
    return {
        "ref": _ref(glance.key),
        "status": glance.status,
        "start": glance.start_time,
        "end": glance.end_time,
        "counts": step_counts(glance.counts),
        "error": _shown(glance.summary.first_error),
        "wait": _shown(glance.summary.wait),
    }


def _shown(record: Any) -> Any:
    return None if record is None else encode(record)


def _ref(run: RunKey) -> str:
    return "/".join(map(str, run))
