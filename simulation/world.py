"""A world: one database, processes, users, and the trouble of a scenario, until everything has ended."""

from collections.abc import Collection, Iterable
from contextlib import ExitStack
from random import Random
from typing import Any, Final

import msgspec

from simulation.clock import DatabaseClock
from simulation.counters import Counters
from simulation.cursing import Struck
from simulation.driven import Driven
from simulation.echoes import Echoes
from simulation.ghosts import GhostlyError, Ghosts
from simulation.handle import Sky
from simulation.haste import Haste
from simulation.impatience import IMPATIENT
from simulation.inputs import HARMLESS
from simulation.invariants.alarms import Alarms
from simulation.invariants.ending import ending, unfinished
from simulation.invariants.ends import carried_on
from simulation.invariants.forgetting import Forgotten
from simulation.invariants.history import History
from simulation.invariants.memory import memory
from simulation.invariants.rates import Rates
from simulation.invariants.transactions import rules_of
from simulation.invariants.triggers import triggers
from simulation.invariants.undo import undo
from simulation.judging import judge
from simulation.leaps import farthest
from simulation.process import Process
from simulation.replacing import homes_of, replaced
from simulation.retaining import LATEST
from simulation.rollout import Rollout
from simulation.runtime import Ledger
from simulation.scenario import Scenario
from simulation.schedules import Schedules
from simulation.story import Story
from simulation.troubles import Fault, Trouble
from simulation.users import CALLER, Users
from simulation.watch import Touched, Watch, WatchedDatabase
from stretto.actions import start as starting
from stretto.actions.publish import publish
from stretto.engine import decide as deciding
from stretto.engine.flow import Flow
from stretto.engine.records import RunKey
from stretto.model.workflow import Workflow
from stretto.node.entry import Entry
from stretto.node.settings import NodeSettings
from stretto.ports import places
from stretto.ports.groups import NodeState
from stretto.ports.observer import Observer
from stretto.ports.rows import NodeId
from stretto.store.memory import MemoryStore
from stretto.store.memory.schema import ALL
from stretto.testing.scheduler import Scheduler

LOOK_EVERY: Final = 3_000  # milliseconds between two looks whether everything has ended
PATIENCE: Final = 3_600_000  # milliseconds after the trouble: by then every run must have ended
MOST_STEPS: Final = 400_000
COUNTS: Final = homes_of("GROUPS", places.GROUPS)
DECIDES: Final = homes_of("decide", deciding.decide)
IDS: Final = homes_of("uuid4", starting.uuid4)  # type: ignore[attr-defined]


class _Listener(Observer):
    """Nothing that a node tells of faults of our own may happen."""

    def __init__(self, world: "World", process: Process) -> None:
        self._world = world
        self._process = process

    def decision_failed(self, run: Any, error: Exception) -> None:
        if not isinstance(error, GhostlyError):
            self._world.complain(f"a decision about {run} failed: {type(error).__name__}: {error}")


class World:
    """Everything of one seed."""

    def __init__(self, scenario: Scenario, *, told: bool = False) -> None:
        self.scenario = scenario
        self.dice = Random(f"order {scenario.order}")  # noqa: S311 - dice, not secrets
        self.scheduler = Scheduler(self.dice)
        self.story = Story(lambda: self.scheduler.now, kept=told)
        self.violations: list[str] = []
        self.counters = Counters()
        self.settings = IMPATIENT if scenario.impatient else NodeSettings()
        self.groups = scenario.groups
        self.sky = Sky(self.dice, scenario.weather)
        self.sky.poison = scenario.poison
        self.sky.page = scenario.oddity.page
        self.struck = Struck(scenario.oddity)
        if scenario.retention is not None:
            self.sky.latest = LATEST
        self.watch = Watch(self.complain, self._seen)
        self.clock = DatabaseClock(self.scheduler)
        self.ledger = Ledger(scenario.script, self.scheduler, self.complain)
        self.ledger.is_fenced = self._is_fenced
        self.history = History()
        self.workflows = [each.workflow for each in scenario.definitions]
        self.rates = Rates(self.workflows, lambda: self.clock.offset)
        self.alarms = Alarms(lambda: self.scheduler.now)
        self.forgotten = Forgotten(scenario.retention, lambda: self.clock.latest)
        self._slots: list[Process | None] = [None] * scenario.slots
        self._processes = 0
        self._calm = False  # the trouble is over
        self.over = False  # everything has ended
        self._calls: dict[tuple[int, str], int] = {}
        self._ghosts: Ghosts | None = None
        self._echoes = Echoes()
        self.rollout = Rollout(mixed=scenario.mixed)
        self.schedules = Schedules(self)
        self.haste = Haste(self)

    def complain(self, text: str) -> None:
        """Something does not hold."""
        self.violations.append(text)
        self.story.note(f"VIOLATION: {text}")

    # ------------------------------------------------------------------------------------------------ running
    def run(self) -> list[str]:
        """Live through the scenario. Returns what did not hold."""
        ids = iter(range(1, 1 << 60))
        counting = self._haunted(self.counters.counting(deciding.decide))
        with ExitStack() as stack:
            stack.enter_context(replaced(COUNTS, "GROUPS", self.groups))
            stack.enter_context(replaced(DECIDES, "decide", counting))
            stack.enter_context(replaced(IDS, "uuid4", lambda: f"id {next(ids)}"))
            self.db = WatchedDatabase(self.clock, self.watch)  # type: ignore[arg-type]  # nobody sleeps by it
            self.store = MemoryStore(self.db)
            self.users = Users(self)
            try:
                self._publish()
                self._plan()
                self._live()
                if not self.violations:
                    self._end()
            finally:
                for process in self.alive():
                    process.end()
                self.scheduler.drop_all()
        self._count()
        return self.violations

    def _haunted(self, decide: Any) -> Any:
        if not self.scenario.ghosts:
            return decide
        dice = Random(f"ghosts {self.scenario.order}")  # noqa: S311 - dice, not secrets
        self._ghosts = Ghosts(dice, self._entry_of, self.complain, harsh=not self.is_judged)
        return self._ghosts.haunting(decide)

    def _entry_of(self, flow: Flow) -> Entry | None:
        """Where a node that has a run in memory keeps it."""
        key = flow.run.key
        for process in self.alive():
            group = process.node.groups.get(places.group_of_run(key))
            entry = None if group is None else group.entries.get(key)
            if entry is not None and entry.flow is flow:
                return entry
        return None

    @property
    def is_judged(self) -> bool:
        """Whether nobody interferes with the runs: then the oracle knows how they must end."""
        harmless = all(given.verb in HARMLESS for given in self.scenario.inputs)
        return harmless and not self.haste.interferes

    def _publish(self) -> None:
        for definition in self.scenario.definitions:
            coroutine = publish(self.store, CALLER, definition)
            try:
                coroutine.send(None)
            except StopIteration:
                continue
            raise AssertionError("the memory store never waits")
        self.watch.rules += rules_of(self.workflows)
        self.watch.rules += [self.history.rule, self.forgotten.rule]
        self.watch.rules += [self.rates.rule, self.alarms.rule]

    def _plan(self) -> None:
        self.haste.begin()
        for slot in range(self.scenario.slots):
            self.restart_later(slot, 0 if slot == 0 else self.dice.randrange(3_000))
        for given in self.scenario.inputs:
            self.scheduler.after(given.at, lambda given=given: self.users.do(given))  # type: ignore[misc]
        for fault in self.scenario.faults:
            if fault.call is None:
                self.scheduler.after(fault.at, lambda fault=fault: self._befall(fault))  # type: ignore[misc]
        for at in self.scenario.oddity.releases:
            self.scheduler.after(at, self.users.release)
        self.scheduler.after(self.scenario.horizon, self._calm_down)

    def _live(self) -> None:
        while not self.violations and self.scheduler.step():
            if self.scheduler.steps > MOST_STEPS:
                self.complain(f"I8: it does not come to rest: {unfinished(self.db)}")
            if self.over:
                return

    def _look(self) -> None:
        """Is everything at its end? If not, users let go what they hold up."""
        left = unfinished(self.db)
        if self.scenario.oddity.curse is not None and left is None and self.db.parked[ALL]:
            left = "messages were parked"
        if left is None and self.schedules.at_rest and not self.users.busy and not self.users.begin_again():
            self.over = True
        elif self.scheduler.now > self.scenario.horizon + PATIENCE + farthest(self.scenario.faults):
            self.complain(f"I8: it never ends: {left}")
        else:
            self.users.let_everything_go()
            self.scheduler.after(LOOK_EVERY, self._look)

    def _end(self) -> None:
        """Everything has ended: what is left is looked at, and the nodes leave."""
        self.forgotten.bring_back(self.db)
        ending(self.db, self.complain)
        undo(self.scenario.definitions, self.db, self.complain)
        triggers(self.db, self.forgotten.signals, self.complain)
        self.history.end(self.db, self.complain)
        if self.is_judged and not self.forgotten.signals:  # what a step waited for may go before it is read
            judge(self.scenario, self.db, self.complain)
        for process in self.alive():
            process.leave()
        until = self.scheduler.now + 120_000
        while self.alive() and not self.violations and self.scheduler.now < until and self.scheduler.step():
            pass
        for process in self.alive():
            self.complain(f"{process.who} was told to leave, and is still there")
        if not self.violations:
            for group in self.db.groups:
                owner = self.db.groups[group].owner
                if owner is not None and owner not in self.db.nodes:
                    self.complain(f"group {group} is owned by {owner}, which has left")

    def _count(self) -> None:
        figures = self.counters.figures
        figures["transactions"] += self.watch.transactions
        figures["steps of the scheduler"] += self.scheduler.steps
        figures["runs"] += len(list(self.db.runs))
        figures["attempts"] += len(list(self.db.attempts))
        figures["ghosts"] += 0 if self._ghosts is None else self._ghosts.count
        figures["worlds with the asyncio loop"] += self.scenario.driven
        figures.update(self.rollout.figures)
        figures["runs that were forgotten"] += self.forgotten.runs
        figures["rows that were forgotten"] += self.forgotten.count
        figures["starts of work"] += self.ledger.starts
        figures["virtual seconds"] += self.scheduler.now // 1_000
        self.counters.troubles.update(self.sky.befell)
        self.counters.constructs.update(self.scenario.used)

    # ---------------------------------------------------------------------------------------------- looking
    def rows(self, table: str) -> list[Any]:
        """All rows of a table, in the order of their keys."""
        found = getattr(self.db, table)
        return [found[key] for key in sorted(found)]

    def workflow(self, workflow_id: str) -> Workflow:
        """A definition by its id."""
        return next(each for each in self.workflows if each.id == workflow_id)

    def _is_fenced(self, node: str) -> bool:
        row = self.db.nodes.get(NodeId(node))
        return row is None or row.state is NodeState.DEAD

    def _seen(self, touched: Touched) -> None:
        self.story.seen(touched)
        self._echoes.seen(touched)
        self.sky.held.seen(touched, self.scheduler)
        self.rollout.seen(touched)
        self.haste.seen(touched)
        for key, _, after in touched.of("attempts"):
            if after is None:
                continue
            if after.record.launch is not None:
                self.ledger.recorded.add((key, after.record.launch))
            if after.record.status.is_terminal:
                for job in self.ledger.running(key):
                    if not self._is_fenced(job.node):
                        self.complain(f"I5: {key} is {after.record.status}, and {job.node} still works on it")

    def settled(self, process: Process) -> None:
        """A node was told that its commit is there: what it believes must be what is stored."""
        self.counters.figures["runs compared with their rows"] += memory(process.node, self.db, self.complain)
        self.alarms.look(process.node, self.complain)
        carried_on(process.node, self.complain)

    # --------------------------------------------------------------------------------------------- processes
    def observer(self, process: Process) -> Observer:
        return _Listener(self, process)

    def alive(self) -> list[Process]:
        """Processes that are there, also those that stand still."""
        return [process for process in self._slots if process is not None]

    def is_gone(self, address: str | None) -> bool:
        """Whether a process is not there any more; neighbours can tell."""
        return all(process.who != address for process in self.alive())

    def restart_later(self, slot: int, millis: int) -> None:
        """A place for a node is filled again."""
        self.scheduler.after(millis, lambda: self._fill(slot))

    def _fill(self, slot: int) -> None:
        if self._slots[slot] is None and not self.over:
            self._processes += 1
            self.story.note(f"process {self._processes} starts in slot {slot}")
            made = Driven if self.scenario.driven else Process
            self._slots[slot] = made(self, slot, self._processes)

    def ended(self, process: Process) -> None:
        """A process is gone."""
        self._slots[process.slot] = None
        self.ledger.died(process.who)

    def hint(self, groups: Iterable[int], admitted: Collection[RunKey] = ()) -> None:
        """Tell everybody, more or less. Runs are named also where no other process could hear of them: who
        owns them must bear it.
        """
        told: Collection[int] = frozenset(groups)
        weather = self.sky.weather
        for process in self.alive():
            copies = 1 + (self.dice.random() < weather.hints_doubled)
            for _ in range(copies):
                if self.dice.random() >= weather.hints_lost:
                    self._deliver(process, told, admitted)

    def _deliver(self, process: Process, groups: Collection[int], admitted: Collection[RunKey]) -> None:
        self.scheduler.after(self.sky.latency(), lambda: process.hinted(groups, admitted))

    # ----------------------------------------------------------------------------------------------- trouble
    def befalls(self, slot: int, call: str) -> Fault | None:
        """What happens to a call of a node, by its number."""
        if self._calm:
            return None
        number = self._calls[slot, call] = self._calls.get((slot, call), 0) + 1
        for fault in self.scenario.faults:
            if (fault.call, fault.nth) == (call, number) and fault.slot % len(self._slots) == slot:
                return None if self._spares(fault) else fault
        return None

    def _spares(self, fault: Fault) -> bool:
        """What fails for no reason may fail a step, and then the oracle can not say how a run must end."""
        odd = fault.kind is Trouble.ODD or (fault.call or "").istitle()
        return odd and fault.call != "CallRuntime" and self.is_judged

    def _befall(self, fault: Fault) -> None:
        if self._calm:
            return
        process = self._slots[fault.slot % len(self._slots)]
        self.sky.count(fault.kind.value)
        self.story.note(f"trouble: {msgspec.to_builtins(fault)}")
        if fault.kind is Trouble.OUTAGE:
            self.sky.out_until = self.scheduler.now + fault.lasts
        elif fault.kind is Trouble.CLOCK:
            self.clock.offset += fault.lasts
        elif fault.kind is Trouble.ECHO:
            self._echo()
        elif fault.kind is Trouble.ARRIVE:
            self._slots.append(None)
            self._fill(len(self._slots) - 1)
        elif process is not None:
            self._strike(process, fault)

    def _echo(self) -> None:
        """Somebody who did not hear that a letter was taken sends it again."""
        letter = self._echoes.one(self.dice.randrange(1 << 30))
        if letter is not None:
            self.story.note(f"again: {letter.body.kind} {letter.ref}")
            self.users.run(self.store.send(letter), "echo")

    def _strike(self, process: Process, fault: Fault) -> None:
        match fault.kind:
            case Trouble.CRASH:
                process.crash(fault)
            case Trouble.FREEZE:
                process.freeze(fault.lasts)
            case Trouble.LEAVE:
                process.leave(back_after=fault.lasts)
            case _:
                raise AssertionError(f"{fault.kind} is not a trouble of one process")

    def _calm_down(self) -> None:
        """From here on nothing goes wrong, and everything must come to its end."""
        self.story.note("the trouble is over")
        self._calm = True
        self.rates.steady = lambda: self.scheduler.now
        self.struck.end()
        self.haste.end()
        self.sky.clear()
        for slot, process in enumerate(self._slots):
            if process is None:
                self._fill(slot)
            else:
                process.thaw()
        self.rollout.deploy(self._slots[0])
        self.schedules.stop_later()
        self._look()
