"""Run workflows in a test: in virtual time, with everything that ships, and without threads or servers.

    with Harness() as h:
        run = h.start(definition, {"day": "2024-02-29"})
        h.advance(minutes=5)
        assert run.status == "SUCCEEDED"

One node runs on a store in memory. Time passes only in `advance`. The work of every step is done at once,
unless `does` says otherwise. `crash` takes the node away, with all that it knew and did; `recover` brings
another one, which must find everything in the store.
"""

from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from itertools import count
from random import Random
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import msgspec

from stretto.actions.announce import announce
from stretto.actions.caller import Caller
from stretto.actions.parts.repeated_start import check_repeated_start
from stretto.actions.publish import publish
from stretto.actions.start import start
from stretto.definition import load
from stretto.engine.records import RunKey
from stretto.flow import Flow
from stretto.model.initiator import ManualInitiator
from stretto.model.properties import Properties
from stretto.model.request import SignalRequest, StartRequest
from stretto.model.step import LEAF_TYPES
from stretto.model.user import User
from stretto.model.workflow import Definition, Workflow
from stretto.node.machine import Node
from stretto.node.perform.values import InProcess
from stretto.node.performer import Performer
from stretto.node.settings import NodeSettings
from stretto.ports.hints import Heard
from stretto.ports.observer import Observer
from stretto.ports.places import GROUPS
from stretto.ports.rows import NodeId
from stretto.ports.runtime import Continue, StepContext, StepResult, StepRuntime
from stretto.ports.store import Store
from stretto.ports.workflows import read_workflow
from stretto.runtimes.python.registry import as_function
from stretto.store.memory import Database, MemoryStore
from stretto.testing.faults import Moment, interfered
from stretto.testing.functions import Call, Fake, Functions
from stretto.testing.hosting import Hosted
from stretto.testing.scheduler import BEGIN, Delay, Scheduler
from stretto.testing.viewing import Run
from stretto.testing.working import HELD, Doing, Works, param

__all__ = ["Harness", "Run", "crash_everywhere"]

T = TypeVar("T")

TESTER: Final = User(name="tester")
EVERYWHERE: Final = range(GROUPS)
SOON: Final = 5  # milliseconds within which a node has done what it can do
HOUR: Final = 3_600_000  # milliseconds
# There is one node, and it is told of everything: it need not look by itself, so that days cost nothing.
RESTFUL: Final = NodeSettings(
    beat_every=HOUR,
    trust=3 * HOUR,
    claim_every=HOUR,
    fetch_late=HOUR,
    sweep_every=HOUR,
    ask_every=HOUR,
    park_after=HOUR,
)
Written = Flow[..., Any] | Definition | Workflow | str
NO_RUNTIMES: Final[Mapping[str, StepRuntime]] = {}


class _Clock:
    """Virtual time, as the database sees it."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def now(self) -> int:
        return BEGIN + self._scheduler.now


class InTurn(Random):
    """Dice that never decide: what is due at the same moment happens in the order in which it was planned."""

    def random(self) -> float:
        return 0.0


class Harness:
    """A small world for one test. `commits` counts the commits of its node.

    crash_before, crash_after: the number of a commit at which the node crashes by itself, just before it is
    carried out, or before its answer is heard; another node takes over at once.
    runtimes: step runtimes of your own, by step type. They must not wait for anything but a store in memory.
    services: what functions ask for, by type, or by name in a mapping.
    observers: who is told what was committed; see `ports.observer`.
    """

    def __init__(
        self,
        *,
        settings: NodeSettings | None = None,
        runtimes: Mapping[str, StepRuntime] = NO_RUNTIMES,
        services: Any = (),
        observers: Sequence[Observer] = (),
        crash_before: int | None = None,
        crash_after: int | None = None,
    ) -> None:
        self.scheduler = Scheduler(InTurn())
        self.store: Store = MemoryStore(Database(_Clock(self.scheduler)))  # type: ignore[arg-type]
        self.caller = Caller(user=TESTER)
        self.functions = Functions(self.store, lambda: self.now, services)
        self.works = Works(self.functions)
        self.commits = 0
        self._settings = settings or RESTFUL
        self._observers = observers
        self._runtimes = {**dict.fromkeys(LEAF_TYPES, self.works), **runtimes}
        self._crashes = {Moment.BEFORE: crash_before, Moment.AFTER: crash_after}
        self._numbers = count(1)
        self._published: dict[int, Definition] = {}
        self.flows: dict[str, Flow[..., Any]] = {}  # those that were published, by id
        self._process: Hosted | None = None
        self.recover()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.crash()
        self.scheduler.drop_all()

    # ----------------------------------------------------------------------------------------------- running
    def publish(self, definition: Written) -> str:
        """Store a workflow: a flow, records, or text in YAML or JSON. Returns its id."""
        if isinstance(definition, Flow):
            self.functions.registry.register(*definition.functions)
            for flow in (*definition.subflows, definition):
                self.flows[flow.id] = flow
                self.do(publish(self.store, self.caller, _definition(flow.definition)))
            return definition.id
        made = _definition(definition)
        self.do(publish(self.store, self.caller, made))
        return made.workflow.id

    def start(
        self,
        workflow: Written,
        params: Mapping[str, Any] | None = None,
        *,
        request_id: str | None = None,
        **more: Any,
    ) -> Run:
        """Start a run, and let everything happen that can happen now.

        `workflow` is the id of one that was published, or a flow or definition, which is published first,
        once. Parameters can be given by name, too.
        """
        workflow_id = self._known(workflow)
        given = {**(params or {}), **more}
        flow = self.flows.get(workflow_id)
        request = StartRequest(
            initiator=ManualInitiator(user=TESTER),
            request_id=request_id or f"request {next(self._numbers)}",
            run_params=flow.encode(given) if flow else {name: param(value) for name, value in given.items()},
        )
        done = self.do(start(self.store, self.caller, workflow_id, "latest", request))
        self.ask(check_repeated_start(self.store, done, request))
        return Run(self, RunKey(done.workflow_id, done.workflow_instance_id, done.workflow_run_id))

    def _known(self, workflow: Written) -> str:
        if isinstance(workflow, Flow):
            return workflow.id if self.flows.get(workflow.id) is workflow else self.publish(workflow)
        if isinstance(workflow, str) and self.ask(read_workflow(self.store, workflow)) is not None:
            return workflow
        key = hash(workflow) if isinstance(workflow, str) else id(workflow)
        if key not in self._published:
            made = self._published[key] = _definition(workflow)
            self.publish(made)
        return self._published[key].workflow.id

    def does(self, step: str, doing: Doing) -> None:
        """What the work of a step, or of all steps of a type, does from now on.

        A result such as `UserError(message=...)`; a dict of output values; a function of a `Work` that
        returns one of these, also as a coroutine; a list of them, one for each attempt; or `HELD`.
        """
        self.works.doings[step] = doing

    def fake(
        self,
        function: Any,
        *,
        returns: Any = None,
        raises: BaseException | None = None,
        does: Callable[..., Any] | None = None,
        fails: int = 0,
    ) -> None:
        """Do something else in the place of a function: return a value, raise an error, or call another one
        with those of its arguments that it takes. `fails` first attempts of each step fail before that. The
        services that the function asks for need not be there, but for those that `does` can not do without.
        A handler of a step can be faked, too.
        """
        fake = Fake(returns=returns, raises=raises, does=does, fails=fails)
        self.functions.fakes[as_function(function).name] = fake

    def calls(self, function: Any) -> list[Call]:
        """How a function was called so far, in order; a faked one, too."""
        name = as_function(function).name
        return [each for each in self.functions.calls if each.function == name]

    def holds(self, *steps: str) -> None:
        """The work of these steps goes on until `run.step(...).finish()`, `fail()` or `report()`."""
        for step in steps:
            self.does(step, HELD)

    def announce(self, name: str, **params: str | int) -> None:
        """Announce a signal."""
        request = SignalRequest(name=name, params=dict(params), request_id=f"signal {next(self._numbers)}")
        self.do(announce(self.store, self.caller, request))

    # -------------------------------------------------------------------------------------------------- time
    @property
    def now(self) -> int:
        """Milliseconds since 1970."""
        return BEGIN + self.scheduler.now

    def seconds(self, at: int | None) -> float | None:
        """A moment in milliseconds since 1970, as seconds since the test began."""
        return None if at is None else (at - BEGIN) / 1_000

    def advance(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0) -> None:
        """Let time pass, and everything that it brings."""
        self._pass(int((seconds + 60 * minutes + 3_600 * hours + 86_400 * days) * 1_000))

    def _pass(self, millis: int) -> None:
        end = self.scheduler.now + millis
        while (due := self.scheduler.next_due) is not None and due <= end:
            self.scheduler.step()
        self.scheduler.now = max(self.scheduler.now, end)

    def finish(self, run: Run, *, within_days: float = 31) -> str:
        """Let time pass until a run has ended; returns its status."""
        end = self.scheduler.now + int(within_days * 24 * HOUR)
        while not run.has_ended:
            due = self.scheduler.next_due
            if due is None or due > end:
                message = f"{run} has not ended within {within_days} days: {run.steps}"
                raise TimeoutError(message)
            self._pass(due - self.scheduler.now)
        self._pass(SOON)
        return run.status

    # --------------------------------------------------------------------------------------------- the store
    def ask(self, question: Coroutine[Any, Any, T]) -> T:
        """The answer of a call of the store in memory, which never waits."""
        try:
            question.send(None)
        except StopIteration as end:
            answer: T = end.value
            return answer
        question.close()
        message = "it waits for something, and there is no event loop"
        raise RuntimeError(message)

    def do(self, action: Coroutine[Any, Any, T]) -> T:
        """Carry out an action of `stretto.actions`, and let everything happen that follows at once."""
        answer = self.ask(action)
        self.settle()
        return answer

    def settle(self) -> None:
        """Let everything happen that can happen without time passing."""
        if self._process is not None:
            self._process.node.hinted(EVERYWHERE)
            self._process.happened()
        self._pass(SOON)

    def tell(self, context: StepContext, said: StepResult) -> None:
        """Work that is held says something."""
        if not isinstance(said, Continue):
            self.works.held.pop(context.launch.attempt, None)
        self.ask(context.report(said))  # type: ignore[arg-type]
        self.settle()

    # ----------------------------------------------------------------------------------------------- crashes
    def crash(self) -> None:
        """The node is gone, with its memory and the work that it did. Nothing happens until `recover`."""
        if self._process is not None:
            self._process.end()
            self._process = None
            self.works.held.clear()

    def recover(self) -> None:
        """Another node takes over what the one that crashed has left."""
        for row in self.ask(self.store.nodes()):
            self.ask(self.store.bury(row.node, row.beats, expired=False))
        self._process = process = Hosted(self.scheduler)
        store = interfered(self.store, self._interfere)
        performer = Performer(store, self, self._runtimes, InProcess(), settings=self._settings)
        node = Node(
            self._settings,
            process.steady,
            self._new_id,
            performer.outside,
            self._observers,
            performer.lacks,
        )
        process.host(node, performer)
        self._pass(SOON)

    def hint(self, groups: Collection[int], admitted: Collection[RunKey] = ()) -> None:
        """The node has something for other groups, which are its own, too."""
        process = self._process
        if groups and process is not None:
            process.node.hinted(groups, admitted)
            self.scheduler.after(0, process.happened)

    def listen(self, heard: Heard) -> Callable[[], None]:  # noqa: ARG002 - there is nobody else
        """The node is told."""
        return lambda: None

    def _new_id(self) -> NodeId:
        return NodeId(f"node {next(self._numbers)}")

    async def _interfere(self, call: str, moment: Moment) -> None:
        if call != "commit":
            return
        self.commits += moment is Moment.BEFORE
        if self._crashes[moment] == self.commits:
            self._crashes = dict.fromkeys(Moment)
            self.crash()
            self.scheduler.after(0, self.recover)
            await Delay(0)  # which it never comes back from


def crash_everywhere(play: Callable[[Harness], None], make: Callable[..., Harness] = Harness) -> int:
    """Play a test once in peace, and then once for each commit with a crash before it, and behind it.

    Returns how many crashes were tried. What goes wrong is raised, with a note that says where the crash was.
    `make` makes the harness, for tests with settings or runtimes of their own: it passes on what it is given.
    """
    with make() as calm:
        play(calm)
        commits = calm.commits
    for number in range(1, commits + 1):
        for name in ("crash_before", "crash_after"):
            with make(**{name: number}) as harness:
                try:
                    play(harness)
                except BaseException as error:
                    error.add_note(f"with {name}={number}")
                    raise
    return 2 * commits


def _definition(given: Definition | Workflow | str) -> Definition:
    """A definition with an owner, as the first version of a workflow must have one."""
    if isinstance(given, str):
        (given,) = load(given)
    made = given if isinstance(given, Definition) else Definition(workflow=given)
    properties = made.properties or Properties()
    if properties.owner is None:
        properties = msgspec.structs.replace(properties, owner=TESTER)
    return msgspec.structs.replace(made, properties=properties)
