"""The process of a node in a simulated world: it crashes, stands still, leaves, and comes back."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Final

import msgspec

from simulation.authors import LOCAL, OUTSIDE
from simulation.handle import OddError, handle_of
from simulation.held import take_away
from simulation.piping import Piped
from simulation.retaining import FIRST_GROUP
from simulation.runtime import FUNCTIONS, ScriptedRuntime
from simulation.troubles import Fault, Trouble
from stretto.engine.events import Reported, ResultState
from stretto.engine.records import RunKey
from stretto.node.asks import Ask, Carry, Commit
from stretto.node.machine import Node
from stretto.node.perform.values import InProcess
from stretto.node.performer import Performer
from stretto.node.retention import FIRST_LOOK, forget
from stretto.node.settings import RetentionSettings
from stretto.ports.hints import Heard
from stretto.ports.rows import NodeId
from stretto.testing.hosting import Hosted
from stretto.testing.scheduler import Delay

if TYPE_CHECKING:
    from simulation.world import World

SOON: Final = (0, 0, 0, 1, 5)  # milliseconds until a node looks at what it was told


class Process(Hosted):
    """One process. When it crashes, all that it knew and did is gone; a call on its way may still arrive."""

    node_class: type[Node] = Node

    def __init__(self, world: "World", slot: int, number: int) -> None:
        super().__init__(world.scheduler)
        self._world = world
        self.slot = slot
        self.who = f"process {number}"
        self._frozen_until = 0
        self._back_after = 0
        self._ids = 0
        self._number = number
        performer = self._make_performer()
        observers = (world.observer(self),)
        node = self.node_class(
            world.settings, self.steady, self._new_id, performer.outside, observers, performer.lacks
        )
        self.host(node, performer)
        if world.scenario.mixed:
            self.spawn(world.dice.randrange(10_000), self._learn)
        self.forget()

    def _make_performer(self) -> Performer:
        world = self._world
        known = world.rollout.functions(self._coin)
        self._runtime = ScriptedRuntime(
            world.ledger, self.who, self._node_id, self.spawn, known, queued=world.scenario.queued
        )
        runtimes = {
            LOCAL: self._runtime,
            OUTSIDE: ScriptedRuntime(world.ledger, "", self._node_id, self.spawn, ()),
        }
        self.store = handle_of(world.store, self, world.sky, self.scheduler, world.watch.note)
        evaluator = InProcess() if world.scenario.driven else Piped()
        near = world.scenario.oddity.neighbours
        return Performer(
            self.store,
            self,
            runtimes,
            evaluator,
            settings=world.settings,
            address=self.who if near else None,
            gone=world.is_gone if near else lambda _address: False,
        )

    def _new_id(self) -> NodeId:
        self._ids += 1
        return NodeId(f"n{self._number}.{self._ids}")

    def _node_id(self) -> str:
        return self.node.id

    # --------------------------------------------------------------------------------------------- functions
    async def _learn(self) -> None:
        """It comes to know one more function."""
        await self.learn(self._world.dice.choice(FUNCTIONS))

    async def learn(self, *functions: str) -> None:
        """It knows these functions from now on, and says so until it was heard."""
        self._runtime.functions |= frozenset(functions)
        self.functions_changed()
        try:
            await self.performer.advertise()
        except Exception as error:  # noqa: BLE001 - the database is away
            self._world.story.note(f"{self.who} is not heard: {type(error).__name__}: {error}")
            self.spawn(1_000, lambda: self.learn(*functions))

    def functions_changed(self) -> None:
        """The node looks at what waits for functions."""
        self.node.functions_changed()
        self.happened()

    # -------------------------------------------------------------------------------------------- forgetting
    def forget(self) -> None:
        """Now and then, if this world forgets."""
        settings = self._world.scenario.retention
        if settings is not None:
            self._forget_after(FIRST_LOOK, settings)

    def _forget_after(self, seconds: float, settings: RetentionSettings) -> None:
        self.spawn(int(seconds * 1_000), lambda: self._forget(settings))

    async def _forget(self, settings: RetentionSettings) -> None:
        """One look; see `node.retention`."""
        if self.forgets_for_all():
            try:
                await forget(self.store, settings)
            except Exception as error:  # noqa: BLE001 - as there: the next look tries again
                self._world.story.note(f"{self.who} does not forget: {type(error).__name__}: {error}")
        self._forget_after(settings.every / 1_000, settings)

    def forgets_for_all(self) -> bool:
        """Whether it is the one who does that."""
        return FIRST_GROUP in self.node.groups and not self._world.over

    # ------------------------------------------------------------------------------------------------- hooks
    @property
    def stands_still(self) -> int:
        return max(0, self._frozen_until - self.scheduler.now)

    def soon(self) -> int:
        return self._world.dice.choice(SOON)

    def asks(self, ask: Ask) -> None:
        self._world.story.asked(self.who, ask)

    def hears(self, ask: Ask, answer: Any) -> None:
        self._world.story.answered(self.who, ask, answer)
        if isinstance(ask, Commit):
            self._world.settled(self)

    def hears_error(self, ask: Ask, error: Exception) -> None:
        self._world.story.failed(self.who, ask, error)

    def told(self, event: Reported) -> Reported:
        """Steps that work adds, and the step that it goes back to, are not among what a runtime can say."""
        if event.state is not ResultState.DONE:
            return event
        play = self._world.ledger.script.play_of(event.attempt)
        return msgspec.structs.replace(
            event, added=play.added, tolerance=play.tolerance, redirect=play.redirect
        )

    def spins(self) -> None:
        self._world.complain(f"{self.who} wants to be woken again and again, and does nothing")

    def left(self) -> None:
        self._world.ended(self)
        self._world.restart_later(self.slot, self._back_after)

    def goes_wrong(self, error: Exception) -> None:
        self._world.complain(f"{type(error).__name__}: {error}")

    async def _answer(self, ask: Ask) -> Any:
        """What a node asks may go wrong in its own process, too, before anything was done."""
        call = call_of(type(ask))
        fault = self.befalls(call)
        if fault is not None and fault.kind in {Trouble.ODD, Trouble.REFUSED}:
            self._world.sky.count(f"{fault.kind.value} in {call}")
            raise OddError(f"{call} can not be carried out")
        curse = self._world.struck.strikes(ask)
        if curse is not None:
            self._world.sky.count(curse.value)
            if not curse.is_deadly:
                raise OddError(f"{type(ask).__name__} is cursed")
            self.crash(Fault(kind=Trouble.CRASH, lasts=100))
            await Delay(1)  # it never comes back from there
        slow = self._world.haste.delay(ask)
        if slow:
            await Delay(slow)
        return await super()._answer(ask)

    # ------------------------------------------------------------------------------------------------- hints
    def hint(self, groups: Collection[int], admitted: Collection[RunKey] = ()) -> None:
        """It has something for others."""
        if groups:
            self._world.hint(groups, admitted)

    def listen(self, heard: Heard) -> Callable[[], None]:  # noqa: ARG002 - the world knows all processes
        """The world tells it."""
        return lambda: None

    def hinted(self, groups: Collection[int], admitted: Collection[RunKey]) -> None:
        """Somebody has something for these groups."""
        if not self.blocked:
            self.node.hinted(groups, admitted)
            self.happened()

    # ----------------------------------------------------------------------------------------------- trouble
    @property
    def blocked(self) -> bool:
        return not self.alive or self.stands_still > 0

    def befalls(self, call: str) -> Fault | None:
        fault = self._world.befalls(self.slot, call)
        if fault is not None and fault.kind is Trouble.TAKEN:
            take_away(self._world.db, self.node)
        return fault

    def crash(self, fault: Fault) -> None:
        """Be gone at once."""
        if self.alive:
            self._world.story.note(f"{self.who} crashes")
            self.let_linger(self._coin)
            self.end()
            self._world.ended(self)
            self._world.restart_later(self.slot, fault.lasts)

    def freeze(self, millis: int) -> None:
        """Stand still, and wake late."""
        self._world.story.note(f"{self.who} stands still for {millis} ms")
        self._frozen_until = self.scheduler.now + millis
        self.let_linger(self._coin)

    def thaw(self) -> None:
        """The trouble is over."""
        self._frozen_until = min(self._frozen_until, self.scheduler.now + 100)

    def leave(self, back_after: int = 0) -> None:
        """Stop gracefully; another one takes its place some time after it has gone."""
        self._world.story.note(f"{self.who} is told to leave")
        self._back_after = back_after
        self.node.stop()
        self.happened()

    def _coin(self) -> bool:
        return self._world.dice.random() < 0.5


def call_of(ask: type[Ask]) -> str:
    """The name by which faults know what a node asks: one for all asks that carry an effect out."""
    return Carry.__name__ if issubclass(ask, Carry) else ask.__name__
