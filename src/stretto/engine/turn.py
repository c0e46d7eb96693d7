"""One decision in the making: the moment, the changes so far, the effects, and what is still to be done."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from enum import Enum, auto
from typing import Any, Final

from stretto.engine.context import TooLong
from stretto.engine.effects import AnyEffect, EvaluateElsewhere, Fetch, ReleasePermits, ResumeLoop, UsePermits
from stretto.engine.flow import TERMINAL, Flow, is_active
from stretto.engine.records import (
    AttemptKey,
    AttemptRecord,
    LoopRecord,
    Record,
    RunKey,
    RunRecord,
    appended,
    copy_of,
)
from stretto.model.moves import RUN_MOVES, STEP_MOVES
from stretto.model.status import RunStatus, StepStatus
from stretto.model.timeline import LogEvent, LogLevel, TimelineEvent
from stretto.params import Evaluated, MissingKeys

S = StepStatus
TIME_FIELDS: Final = {
    S.CREATED: "create_time",
    S.INITIALIZED: "initialize_time",
    S.PAUSED: "pause_time",
    S.WAITING_FOR_SIGNALS: "wait_signal_time",
    S.EVALUATING_PARAMS: "evaluate_param_time",
    S.WAITING_FOR_PERMITS: "wait_permit_time",
    S.STARTING: "start_time",
    S.RUNNING: "execute_time",
    S.FINISHING: "finish_time",
    **dict.fromkeys((status for status in S if status.is_terminal), "end_time"),
}

NOBODY: Final = AttemptKey(RunKey("", 0, 0), "", 0)


class Task(Enum):
    """What a decision still has to do. `decide` knows who does it, so the parts need not know each other."""

    BEGIN = auto()  # flow, step: all predecessors are complete
    BEGIN_AGAIN = auto()  # flow, step: the next attempt
    ADVANCE = auto()  # flow, step: as far as it goes
    CONCLUDE = auto()  # flow, step, state, message: how the work of a step ended
    LOOK = auto()  # flow: is the run over?
    ITERATION_ENDED = auto()  # flow of the iteration
    LOOP = auto()  # flow, step: launch what a loop may launch
    END_ITERATIONS = auto()  # flow, step, iterations: end those that have not been asked to end
    REACH = auto()  # flow: an end that is on its way gets there
    END_STEP = auto()  # flow, step, status: end it from outside
    END_RUN = auto()  # flow, run action, who: end all steps of a run


class IllegalMove(Exception):
    """The table of moves does not list it: a fault of ours, never of the user."""


class Turn:
    """Everything that one call of `decide` gathers. All changes of records go through it."""

    def __init__(self, flow: Flow, clock: int) -> None:
        self.root = flow
        self.clock = clock  # what due times are counted from: it may go back, if somebody sets it
        self.now = flow.tree.stamp(clock)
        self.effects: list[AnyEffect] = []
        self.created = 0  # new records, for the budget of loops
        self.weight = 0  # kilobytes of parameters that were evaluated, for the same
        self.taken: dict[str, int] = {}  # permits that this decision took, less those that it returned
        # By the id of a record. No tuple for each: that would give the collector of cycles more to do.
        self._changed: dict[int, Record] = {}
        self._before: dict[int, Record] = {}  # as they were; who is not here is new
        self._owners: dict[int, Flow] = {}
        self._flows: dict[int, Flow] = {}  # those with a step that was let begin
        self._todo: deque[tuple[Task, tuple[Any, ...]]] = deque()
        self._loops: set[tuple[int, int]] = set()  # loops that are to be looked at
        self._waited: dict[AttemptKey, int] = {}  # loops that do not wait for room any more
        self._passed: AttemptRecord | None = None
        self._begun: AttemptRecord | None = None

    # ------------------------------------------------------------------------------------------- changes
    def touch(self, record: Record, flow: Flow) -> None:
        """Remember what a record was before this decision; call it before changing one."""
        if id(record) not in self._changed:
            self._before[id(record)] = copy_of(record)
            self._add(record, flow)
            params = record.params if isinstance(record, AttemptRecord) else None
            if isinstance(params, Evaluated):  # they are stored again with it
                self.weigh(params.size)

    def _add(self, record: Record, flow: Flow) -> None:
        self._changed[id(record)] = record
        self._owners[id(record)] = flow

    def add_run(self, record: RunRecord, flow: Flow) -> None:
        """The run of an iteration that this decision begins."""
        self._add(record, flow)
        flow.enter()
        self.created += 1

    def add_loop(self, flow: Flow, index: int, loop: LoopRecord) -> None:
        """The loop of a step's newest attempt. That of an earlier attempt is gone with it."""
        self._add(loop, flow)
        flow.loops[index] = loop
        self.created += 1

    def drop_loop(self, flow: Flow, index: int) -> LoopRecord | None:
        """The attempt of a loop has ended: its row stays, memory lets go of it."""
        loop = flow.loops.get(index)
        if loop is not None:
            self.touch(loop, flow)
            del flow.loops[index]
        return loop

    def add_attempt(self, flow: Flow, index: int, record: AttemptRecord) -> None:
        """The newest attempt of a step; the one before it stays what it became."""
        replaced = flow.attempts[index]
        self._add(record, flow)
        if replaced is not None:
            self.touch(replaced, flow)
            flow.counts[replaced.status] -= 1
        flow.attempts[index] = record
        flow.sequence = max(flow.sequence, record.sequence)
        flow.counts[record.status] = flow.counts.get(record.status, 0) + 1
        if is_active(record):
            flow.active += 1
        self.created += 1

    @property
    def passed(self) -> AttemptRecord:
        """A record to copy: an attempt that passed all statuses in this moment. Copies share what is empty; a
        new dictionary for each would be one more thing for the collector of cycles to look at.
        """
        if self._passed is None:
            times = dict.fromkeys(TIME_FIELDS.values(), self.now)
            del times["pause_time"]
            self._passed = AttemptRecord(key=NOBODY, sequence=0, status=S.SUCCEEDED, **times)  # type: ignore[arg-type]
        return self._passed

    @property
    def begun(self) -> AttemptRecord:
        """A record to copy: an attempt that had nothing to wait for, and whose parameters are next."""
        if self._begun is None:
            self._begun = AttemptRecord(
                key=NOBODY,
                sequence=0,
                status=S.EVALUATING_PARAMS,
                create_time=self.now,
                initialize_time=self.now,
                wait_signal_time=self.now,
                evaluate_param_time=self.now,
            )
        return self._begun

    def changes(self) -> list[Record]:
        return list(self._changed.values())

    def before(self) -> list[StepStatus | RunStatus | None]:
        """The status of each changed record before this decision; None: it is new, or has no status."""
        found = map(self._before.get, self._changed)
        return [None if each is None or isinstance(each, LoopRecord) else each.status for each in found]

    def undo(self) -> None:
        """Put every record back, drop new ones, and compute the caches again."""
        flows = self._flows
        for at, record in self._changed.items():
            flow = self._owners[at]
            flows[id(flow)] = flow
            if at not in self._before:
                _forget(record, flow)
        for at, before in self._before.items():
            record = self._changed[at]
            for name in record.__struct_fields__:
                setattr(record, name, getattr(before, name))
            _remember(record, self._owners[at])
        for flow in flows.values():
            flow.derive()
        self.root.tree.waiting_loops.update(self._waited)

    # ------------------------------------------------------------------------------------------- moves
    def move(self, flow: Flow, attempt: AttemptRecord, status: StepStatus) -> None:
        """Change the status of an attempt, if the table allows it, and note the time."""
        if status not in STEP_MOVES.get(attempt.status, ()):
            message = f"{attempt.key}: {attempt.status} -> {status}"
            raise IllegalMove(message)
        self.touch(attempt, flow)
        counts, before = flow.counts, attempt.status
        counts[before] -= 1
        counts[status] = counts.get(status, 0) + 1
        attempt.status = status
        attempt.asked_at = None  # what it waited for has come, or does not matter any more
        setattr(attempt, TIME_FIELDS[status], self.now)
        if status in TERMINAL and before not in TERMINAL and attempt.wake_at is None:
            flow.active -= 1

    def move_run(self, flow: Flow, status: RunStatus) -> None:
        run = flow.run
        if status not in RUN_MOVES.get(run.status, ()):
            message = f"{run.key}: {run.status} -> {status}"
            raise IllegalMove(message)
        self.touch(run, flow)
        run.status = status

    def note(
        self, flow: Flow, record: RunRecord | AttemptRecord, message: str, level: LogLevel = LogLevel.INFO
    ) -> None:
        """Add a line to a timeline."""
        self.add_events(flow, record, (LogEvent(timestamp=self.now, level=level, message=message),))

    def add_events(
        self, flow: Flow, record: RunRecord | AttemptRecord, events: tuple[TimelineEvent, ...]
    ) -> None:
        if events:
            self.touch(record, flow)
            record.timeline = appended(record.timeline, events)

    # ------------------------------------------------------------------------------------------- budget
    def weigh(self, size: int) -> None:
        """Count parameters of so many bytes: to evaluate and to store them takes time, too."""
        self.weight += size >> 10

    @property
    def is_full(self) -> bool:
        """Whether loops and ends must let the commit happen before they go on."""
        tree = self.root.tree
        most = tree.settings.records_per_decision
        if tree.shared_room.records is not None:
            most = min(most, tree.shared_room.records)
        return self.created + self.weight >= most or len(self._changed) >= 2 * most

    # ------------------------------------------------------------------------------------------- to do
    def act(self, effect: AnyEffect) -> None:
        self.effects.append(effect)

    def take_permits(self, tags: Iterable[str], by: int = 1) -> None:
        """Count permits that are taken, or returned."""
        for tag in tags:
            self.taken[tag] = self.taken.get(tag, 0) + by

    def use_permits(self, limits: Mapping[str, int | None]) -> None:
        """An attempt that ends at once takes these permits. Many in a row are one effect."""
        last = self.effects[-1] if self.effects else None
        if isinstance(last, UsePermits) and last.limits == limits:
            self.effects[-1] = UsePermits(limits=limits, attempts=last.attempts + 1)
        else:
            self.act(UsePermits(limits=limits))

    def release_permits(self, attempt: AttemptRecord) -> None:
        """The attempt needs its permits no longer, or no longer waits for them."""
        if attempt.permits:
            self.act(ReleasePermits(attempt=attempt.key, tags=attempt.permits))
            self.take_permits(attempt.permits, -1)
            attempt.permits, attempt.granted = (), False

    def fetch(self, flow: Flow, attempt: AttemptRecord, missing: MissingKeys) -> None:
        """An evaluation needs what is not here, or more time. It is repeated later, as if it were now."""
        self.touch(attempt, flow)
        if attempt.asked_at is None:
            attempt.asked_at = self.now
        if isinstance(missing, TooLong):
            self.act(EvaluateElsewhere(attempt=attempt.key))
        else:
            self.act(Fetch(attempt=attempt.key, keys=missing.keys))

    def resume_later(self, attempt: AttemptRecord) -> None:
        """A loop has more to do than fits into one commit: it goes on after this one."""
        effect = ResumeLoop(attempt=attempt.key)
        if effect not in self.effects[-8:]:  # each iteration that ends looks at its loop
            self.effects.append(effect)

    def later(self, task: "Task", *arguments: Any) -> None:
        """Do something after what is being done: the depth of the stack does not grow with the graph."""
        self._todo.append((task, arguments))

    def look_at_loop(self, flow: Flow, index: int) -> None:
        """Launch what a loop may launch, after what is being done; once, however often it is asked."""
        if (id(flow), index) not in self._loops:
            self._loops.add((id(flow), index))
            self.later(Task.LOOP, flow, index)

    def stop_waiting(self, loop: AttemptKey) -> None:
        """A loop that waited for room is looked at."""
        self._waited[loop] = self.root.tree.waiting_loops.pop(loop)

    def looked(self, flow: Flow, index: int) -> None:
        self._loops.discard((id(flow), index))

    def schedule(self, flow: Flow, index: int) -> None:
        """Let a step begin. It counts as active from now on, so that the run does not end before it does."""
        flow.active += 1
        self._flows[id(flow)] = flow
        self.later(Task.BEGIN, flow, index)

    def settle(self, workers: Mapping["Task", Callable[..., object]]) -> None:
        """Go on until every path waits for something outside."""
        todo = self._todo
        while todo:
            task, arguments = todo.popleft()
            workers[task](self, *arguments)


def _forget(record: Record, flow: Flow) -> None:
    """Take a record that should not be there out of its flow."""
    if isinstance(record, RunRecord):
        if record.key in flow.tree.live:
            flow.drop()
    elif isinstance(record, LoopRecord):
        flow.loops.pop(flow.plan.numbers[record.key.step_id], None)
    else:
        flow.attempts[flow.plan.numbers[record.key.step_id]] = None


def _remember(record: Record, flow: Flow) -> None:
    """Put a record that was there before back into its place."""
    if isinstance(record, RunRecord):
        flow.enter()
        if flow.parent is not None:  # the iterations of a loop are kept in the order of their launch
            siblings = flow.parent[0].children
            siblings[flow.parent[1]] = dict(sorted(siblings[flow.parent[1]].items()))
    elif isinstance(record, LoopRecord):
        flow.loops[flow.plan.numbers[record.key.step_id]] = record
    else:
        flow.attempts[flow.plan.numbers[record.key.step_id]] = record
