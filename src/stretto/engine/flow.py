"""A run in memory: its records, the plan it follows, and what is derived from the two.

Everything but the records is a cache: `Flow.derive` computes it again from them, which is what loading a
run from its rows does, and what undoing a decision does. The iterations of a loop are flows inside the
flow of the run; they are dropped as soon as they end, so that a loop holds only what is alive in it.
"""

from collections.abc import Collection, Iterable
from typing import Any, Final

from stretto.engine.earlier import NO_EARLIER, EarlierRun, earlier_key
from stretto.engine.job_templates import TemplateKey
from stretto.engine.opening import restarted_step
from stretto.engine.permits import NO_ROOM, PermitDefaults, Room
from stretto.engine.plan import Plan, StepPlan
from stretto.engine.records import AttemptKey, AttemptRecord, Compensation, LoopRecord, RunKey, RunRecord
from stretto.engine.settings import EngineSettings
from stretto.model.job_template import JobTemplateDefinition
from stretto.model.run_config import RunPolicy
from stretto.model.status import StepStatus
from stretto.model.workflow import Criticality, Workflow
from stretto.params import RunFacts

TERMINAL: Final = frozenset(status for status in StepStatus if status.is_terminal)  # asked at every move
# How far a step goes that had begun when its run was paused.
BEFORE_WORK: Final = frozenset({StepStatus.EVALUATING_PARAMS, StepStatus.WAITING_FOR_PERMITS})
NO_BREAKPOINTS: Final[frozenset[str]] = frozenset()
UNDO: Final = -1  # stands where the number of a loop's step stands: no step waits for the undo of its own run
RESERVED_SEQUENCES: Final = 2  # Maestro's engine takes the first two: step instance ids begin with 3


class SharedRoom:
    """What the runs in one process share: how many leaf steps of iterations they have in memory, how many
    they may, and how much one decision may do while other runs wait for their turn.
    """

    __slots__ = ("leaves", "most", "records")

    def __init__(self, most: int) -> None:
        self.leaves = 0
        self.most = most
        self.records: int | None = None  # None: nobody waits


class Tree:
    """What a run and all the iterations inside it share."""

    __slots__ = (
        "breakpoints",
        "generation",
        "internal_id",
        "latest",
        "limits",
        "live",
        "live_leaves",
        "permits",
        "settings",
        "shared_room",
        "templates",
        "unlimited",
        "waiting_loops",
        "workflow",
    )

    def __init__(
        self, workflow: Workflow, settings: EngineSettings, generation: int = 1, internal_id: int = 1
    ) -> None:
        self.internal_id = internal_id  # the number that inline ids are made of
        self.workflow = workflow
        self.settings = settings
        self.generation = generation
        self.latest = 0  # time stamp of the run
        self.breakpoints: Collection[str] = NO_BREAKPOINTS  # step ids that may have one
        self.live: dict[RunKey, Flow] = {}
        self.live_leaves = 0  # leaf steps of the iterations in memory, whether they have begun or not
        self.shared_room = SharedRoom(settings.live_leaves)  # of the process
        self.waiting_loops: dict[
            AttemptKey, int
        ] = {}  # loops without room for an iteration of so many leaves
        self.unlimited = (  # a step without a tag needs no permit
            workflow.instance_step_concurrency is None
            and settings.step_concurrency is None
            and settings.permit_defaults == PermitDefaults()
        )
        self.limits: dict[StepPlan, dict[str, int | None]] = {}  # the permits that steps need, once known
        self.permits: Room = NO_ROOM  # what is known of the permits that are left
        self.templates: dict[TemplateKey, JobTemplateDefinition | None] = {}  # as far as they were fetched

    def has_room(self, leaves: int) -> bool:
        """Whether an iteration with so many leaf steps fits into memory beside those that are alive."""
        room = self.shared_room
        return self.live_leaves + leaves <= self.settings.live_leaves and room.leaves + leaves <= room.most

    def count_leaves(self, leaves: int) -> None:
        """An iteration comes, or goes."""
        self.live_leaves += leaves
        self.shared_room.leaves += leaves

    def share(self, room: SharedRoom) -> None:
        """Count in the room of a process from now on."""
        self.shared_room.leaves -= self.live_leaves
        self.shared_room = room
        room.leaves += self.live_leaves

    def stamp(self, clock: int) -> int:
        """The time stamp of what happens now: within a run they never go back, also if the clock does."""
        self.latest = max(self.latest, clock)
        return self.latest


class Flow:
    """One run, or one iteration of a loop."""

    __slots__ = (
        "active",
        "attempts",
        "children",
        "counts",
        "earlier",
        "facts",
        "fetched",
        "held",
        "loops",
        "parent",
        "pending",
        "plan",
        "run",
        "satisfied",
        "sequence",
        "tree",
        "waiting",
    )

    def __init__(
        self,
        run: RunRecord,
        plan: Plan,
        tree: Tree,
        parent: "tuple[Flow, int] | None" = None,
        earlier: EarlierRun | None = None,
    ) -> None:
        self.run = run
        self.plan = plan
        self.tree = tree
        self.parent = parent  # the flow around it, and the step of the loop
        if earlier is None and run.policy.is_fresh:
            earlier = NO_EARLIER
        self.earlier = earlier  # what its instance has had before it; None: not fetched yet
        self.attempts: list[AttemptRecord | None] = [None] * len(plan.steps)  # the newest of each step
        self.loops: dict[int, LoopRecord] = {}
        self.children: dict[int, dict[int, Flow]] = {}  # live iterations of each loop, by instance id
        self.facts: RunFacts | None = None  # once an expression could ask for them
        self.fetched: dict[object, Any] = {}
        self.pending: set[object] = set()  # what loops have asked for, so that they do not ask twice
        self.waiting = [step.before for step in plan.steps]  # predecessors that are not complete
        self.satisfied = [not step.before for step in plan.steps]  # some incoming edge is taken
        self.held: list[int] = []  # steps that begin when the run is resumed
        self.active = 0  # attempts that have not ended, or are followed by another
        self.counts: dict[StepStatus, int] = {}
        self.sequence = RESERVED_SEQUENCES  # the step instance id given last
        if parent is None:  # an iteration is entered by whoever notes that it is there
            self.enter()

    def enter(self) -> None:
        """Be found by events, and by the loop around it."""
        if self.parent is not None and self.run.key not in self.tree.live:
            self.tree.count_leaves(self.plan.leaves)
        self.tree.live[self.run.key] = self
        if self.parent is not None:
            self.parent[0].children.setdefault(self.parent[1], {})[self.run.key.instance_id] = self

    def drop(self) -> None:
        """An iteration that has ended leaves memory; its loop has counted it."""
        assert self.parent is not None  # noqa: S101 - only iterations come here
        del self.tree.live[self.run.key]
        self.tree.count_leaves(-self.plan.leaves)
        del self.parent[0].children[self.parent[1]][self.run.key.instance_id]

    @property
    def loop_around(self) -> "tuple[Flow, AttemptRecord] | None":
        """The run around an iteration, and the attempt of its loop. What undoes a run is in no loop."""
        if self.parent is None or self.parent[1] == UNDO:
            return None
        flow, index = self.parent
        attempt = flow.attempts[index]
        return None if attempt is None else (flow, attempt)

    @property
    def end_to_come(self) -> AttemptRecord | None:
        """The attempt of the nearest loop around it that is being ended, if this run was not asked to end
        yet: an end reaches many iterations in several decisions. Until then nothing begins in it.
        """
        if self.run.ending is not None or self.run.compensation is Compensation.RUNNING:
            return None
        around = self.loop_around
        while around is not None:
            flow, attempt = around
            if attempt.ending is not None:
                return attempt
            around = flow.loop_around
        return None

    @property
    def is_over(self) -> bool:
        return self.run.status.is_terminal

    @property
    def criticality(self) -> Criticality | None:
        """Who goes first when steps wait for permits. A run that a step starts, and an iteration, matter as
        much as the run around them; where that says nothing, the definition counts.
        """
        return self.run.criticality or self.tree.workflow.criticality

    @property
    def depth(self) -> int:
        return self.run.initiator.depth

    def step(self, step_id: str) -> StepPlan | None:
        index = self.plan.numbers.get(step_id)
        return None if index is None else self.plan.steps[index]

    @property
    def earlier_key(self) -> object:
        """Under which key the runs of its instance before it are fetched."""
        return earlier_key(self.run.key.workflow_id, self.run.key.instance_id, self.run.key.run_id)

    def keep(self, key: object, value: Any) -> None:
        """Something that was fetched."""
        self.pending.discard(key)
        if key == self.earlier_key:
            self.earlier = value or NO_EARLIER
        else:
            self.fetched[key] = value

    def attempt(self, key: AttemptKey) -> AttemptRecord | None:
        """The attempt that a message names, if it is still the newest of its step."""
        index = self.plan.numbers.get(key.step_id)
        record = None if index is None else self.attempts[index]
        return record if record is not None and record.key.number == key.number else None

    def load(self, attempts: Iterable[AttemptRecord], loops: Iterable[LoopRecord] = ()) -> None:
        """Take the rows of the newest attempts, and of the loops that are not over."""
        for record in attempts:
            self.attempts[self.plan.numbers[record.key.step_id]] = record
        for loop in loops:
            self.loops[self.plan.numbers[loop.key.step_id]] = loop
        self.derive()

    def derive(self) -> None:
        """Compute the caches from the records."""
        self.derive_edges()
        self.active = 0
        self.counts = {}
        self.sequence = RESERVED_SEQUENCES
        for record in self.attempts:
            if record is not None:
                self.sequence = max(self.sequence, record.sequence)
                self.counts[record.status] = self.counts.get(record.status, 0) + 1
                self.active += is_active(record)
        if self.run.compensation is Compensation.RUNNING:
            self.active += 1  # the run stays open until it is undone
        self.held = self._held()
        self.pending.clear()  # who needs it asks again

    def derive_edges(self) -> None:
        """What each step still waits for, and whether an edge into it is taken."""
        self.waiting = [step.before for step in self.plan.steps]
        self.satisfied = [not step.before for step in self.plan.steps]
        for step, record in zip(self.plan.steps, self.attempts, strict=True):
            if record is not None and record.edges is not None and not record.superseded:
                for edge in step.edges:
                    self.waiting[edge.target] -= 1
                    self.satisfied[edge.target] |= record.edges[self.plan.steps[edge.target].id]

    def _held(self) -> list[int]:
        """What could begin and has not: the run is paused, or the step is suspended."""
        if self.run.start_time is None or self.run.ending is not None or self.is_over:
            return []
        if self.plan.undoes is not None:
            following = self.next_in_order
            return [] if following is None or self.active else [following]
        return [
            step.index
            for step in self.plan.steps
            if not self.waiting[step.index] and not self.has_begun(step.index) and self.begins_itself(step)
        ]

    @property
    def next_in_order(self) -> int | None:
        """Of steps that run one after the other: the one to begin when nothing is active; None at the end."""
        return next(
            (
                step.index
                for step in self.plan.steps
                if not self.has_begun(step.index) and step.id not in self.run.shut
            ),
            None,
        )

    def has_begun(self, index: int) -> bool:
        record = self.attempts[index]
        return record is not None and not record.superseded

    def begins_itself(self, step: StepPlan) -> bool:
        """Whether a step begins when nothing is before it. Other roots of a restart wait for a user."""
        if step.id in self.run.shut:
            return False
        if step.before or self.run.policy is not RunPolicy.RESTART_FROM_SPECIFIC:
            return True
        return restarted_step(self.run.restart) in {None, step.id}

    def holds_back(self, step: StepPlan) -> bool:
        """Whether a step may not begin now, for the first time or again."""
        return self.run.is_paused or step.id in self.run.suspended


def is_active(record: AttemptRecord) -> bool:
    """Whether something is still to come of an attempt by itself."""
    return record.wake_at is not None or record.status not in TERMINAL
