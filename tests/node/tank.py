"""Nodes in a tank: virtual time, one shared memory store, every ask carried out at once and in order."""

from collections.abc import Callable, Collection, Coroutine
from typing import Any

from stretto.actions.caller import Caller
from stretto.actions.publish import publish
from stretto.actions.start import start
from stretto.definition.parse import Options, load
from stretto.engine.events import Reported
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.initiator import ManualInitiator
from stretto.model.request import StartRequest
from stretto.model.step import AnyStep
from stretto.model.user import User
from stretto.node.asks import Ask
from stretto.node.machine import Node
from stretto.node.perform.values import InProcess
from stretto.node.performer import Performer
from stretto.node.settings import NodeSettings
from stretto.ports.observer import Observer
from stretto.ports.rows import NodeId, RunRow
from stretto.ports.run_snapshot import NewestAttempts, read_run
from stretto.ports.runtime import Continue, Done, Injected, StepContext, StepResult, Stopped
from stretto.ports.store import Store
from stretto.store.memory import Database, MemoryStore

ANN = Caller(user=User(name="ann"))
BEGIN = 1_700_000_000_000


def finished(work: Coroutine[Any, None, Any]) -> Any:
    """What a coroutine that never waits returns."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits for something")


class Clock:
    """Time that the test moves. `ahead`: by how many milliseconds the clock of the database was set."""

    def __init__(self) -> None:
        self.millis = 0
        self.ahead = 0

    def now(self) -> int:
        return BEGIN + self.millis + self.ahead

    def steady(self) -> float:
        return self.millis / 1_000

    async def sleep_until(self, due: int) -> None:
        raise AssertionError(f"nobody waits until {due} here")


class Scripted:
    """A runtime that says what the test wants, and keeps what it was asked."""

    def __init__(self, *, outside: bool = False) -> None:
        self.outside = outside
        self.answers: dict[str, list[StepResult | Exception]] = {}
        self.calls: list[tuple[str, str, int]] = []
        self.contexts: dict[AttemptKey, StepContext] = {}

    def params(self, step: AnyStep) -> Injected:
        raise AssertionError(step)

    def _say(self, verb: str, ctx: StepContext) -> StepResult:
        self.calls.append((verb, ctx.launch.attempt.step_id, ctx.launch.generation))
        self.contexts[ctx.launch.attempt] = ctx
        said = self.answers.get(f"{verb} {ctx.launch.attempt.step_id}", [])
        default: StepResult = Stopped() if verb == "terminate" else Done()
        answer = said.pop(0) if len(said) > 1 else said[0] if said else default
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def start(self, ctx: StepContext) -> StepResult:
        return self._say("start", ctx)

    async def execute(self, ctx: StepContext) -> StepResult:
        return self._say("execute", ctx)

    async def terminate(self, ctx: StepContext) -> StepResult:
        return self._say("terminate", ctx)


class Seen(Observer):
    """Keeps what observers are told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("_") or name == "lines":
            return super().__getattribute__(name)
        return lambda *told: self.lines.append(f"{name} {' '.join(map(str, told))}"[:200])


class Fish:
    """One node, with its performer."""

    def __init__(
        self,
        tank: "Tank",
        number: int,
        settings: NodeSettings,
        store: Store,
        runtime: Scripted | None = None,
    ) -> None:
        self.runtime = runtime or Scripted()
        self.far = Scripted(outside=True)
        self.seen = Seen()
        self.held: Callable[[Ask], bool] = lambda _ask: False  # asks that are not answered for now
        self.holding: list[Ask] = []
        runtimes = {"Python": self.runtime, "Shell": self.far}
        self.performer = Performer(store, tank, runtimes, InProcess(), settings=settings)
        ids = iter(range(1, 100))
        self.node = Node(
            settings,
            tank.clock.steady,
            lambda: NodeId(f"n{number}.{next(ids)}"),
            self.performer.outside,
            (self.seen,),
            self.performer.lacks,
        )
        self.performer.report_to(self.node.reported)
        self.alive = True
        self.node.begin()

    def turn(self) -> bool:
        """Carry out what it asks. True if there was something."""
        self.node.wake()
        asks = self.node.take()
        for ask in asks:
            if self.held(ask):
                self.holding.append(ask)
            else:
                self.answer(ask)
        return bool(asks)

    def answer(self, ask: Ask) -> None:
        try:
            answer = finished(self.performer.answer(ask))
        except Exception as error:  # noqa: BLE001 - as a driver does
            self.node.failed(ask, error)
        else:
            self.node.answered(ask, answer)

    def let_go(self) -> None:
        """Answer what was held back."""
        asks, self.holding = self.holding, []
        self.held = lambda _ask: False
        for ask in asks:
            self.answer(ask)

    def report(self, run: RunKey, step_id: str, result: StepResult) -> None:
        """The work of a step says something by itself."""
        (ctx,) = [
            each for key, each in self.runtime.contexts.items() if (key.run, key.step_id) == (run, step_id)
        ]
        finished(ctx.report(result))  # type: ignore[arg-type]

    def claims(self, event: Reported) -> None:
        self.node.reported(event)


class Tank:
    """A database, its clock, and the nodes on it; it passes their hints on."""

    def __init__(self, settings: NodeSettings | None = None, **fields: Any) -> None:
        self.clock = Clock()
        self.database = Database(self.clock)
        self.store: Store = MemoryStore(self.database)
        self.settings = settings or NodeSettings(**fields)
        self.fishes: list[Fish] = []

    def fish(self, store: Store | None = None) -> Fish:
        self.fishes.append(Fish(self, len(self.fishes) + 1, self.settings, store or self.store))
        return self.fishes[-1]

    # ------------------------------------------------------------------------------------------------ hints
    def hint(self, groups: Collection[int], admitted: Collection[RunKey] = ()) -> None:
        for fish in self.fishes:
            if fish.alive:
                fish.node.hinted(groups, admitted)

    def listen(self, heard: Any) -> Any:
        raise AssertionError(heard)

    # ------------------------------------------------------------------------------------------------- time
    def settle(self) -> "Tank":
        """Until nobody has anything to do now."""
        for _ in range(10_000):
            busy = [fish.turn() for fish in self.fishes if fish.alive]  # all of them, not until one is
            if not any(busy):
                return self
        raise AssertionError("they do not come to rest")

    def advance(self, millis: int) -> "Tank":
        end = self.clock.millis + millis
        self.settle()
        while True:
            wakes = [fish.node.next_wake for fish in self.fishes if fish.alive and not fish.node.gone]
            due = min((int(wake * 1_000) + 1 for wake in wakes if wake < 10**9), default=end)
            if due > end:
                break
            self.clock.millis = max(self.clock.millis, due)
            self.settle()
        self.clock.millis = end
        return self.settle()

    def crash(self, fish: Fish) -> None:
        fish.alive = False

    # ------------------------------------------------------------------------------------------------- users
    def do(self, work: Coroutine[Any, None, Any]) -> Any:
        return finished(work)

    def start(self, text: str, **request: Any) -> RunKey:
        """Publish a definition, and start it."""
        (definition,) = load(text, Options())
        self.do(publish(self.store, ANN, definition, hints=self))
        return self.start_again(definition.workflow.id, **request)

    def start_again(self, workflow_id: str, **request: Any) -> RunKey:
        wanted = StartRequest(initiator=ManualInitiator(), **request)
        made = self.do(start(self.store, ANN, workflow_id, "latest", wanted, hints=self))
        return RunKey(made.workflow_id, made.workflow_instance_id, made.workflow_run_id)

    def row(self, run: RunKey) -> RunRow:
        row = self.do(read_run(self.store, run))
        assert row is not None
        return row  # type: ignore[no-any-return]

    def status(self, run: RunKey) -> str:
        return self.row(run).record.status.value

    def steps(self, run: RunKey) -> dict[str, str]:
        rows = self.do(self.store.attempts(NewestAttempts((run,))))
        return {row.key.step_id: row.record.status.value for row in rows}

    def group_of(self, fish: Fish, run: RunKey) -> Any:
        return fish.node.groups[self.row(run).group]


GOING_ON = Continue()


def flow(*steps: str, name: str = "flow", strategy: str = "PARALLEL") -> str:
    """Steps as `{id: a, type: NoOp}`, each in a line of its own."""
    lines = "\n".join(f"    - step: {step}" for step in steps)
    return (
        f"properties: {{owner: ann, run_strategy: {{rule: {strategy}}}}}\n"
        f"workflow:\n  id: {name}\n  steps:\n{lines}\n"
    )


def work(step_id: str, *after: str, kind: str = "Python", more: str = "") -> str:
    edges = ", ".join(f"{each}: 'true'" for each in after)
    successors = f", transition: {{successors: {{{edges}}}}}" if after else ""
    return f"{{id: {step_id}, type: {kind}{successors}{more}}}"
