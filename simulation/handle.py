"""The way from a client to the database: each call takes time, and some go wrong.

A call that fails before it was carried out has done nothing. One whose answer is lost was carried out, or is
later, when its caller has long given up on it, or is gone.
"""

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple, Protocol, cast

import msgspec

from simulation.held import HeldCommits
from simulation.troubles import CALM, REPEATED, Fault, Poison, Trouble, Weather
from stretto.engine.records import AttemptRecord
from stretto.model.errors import Unavailable
from stretto.model.status import StepStatus
from stretto.ports import failures
from stretto.ports.failures import OutcomeUnknown
from stretto.ports.paging import Cut
from stretto.ports.store import Store
from stretto.store.memory import MemoryStore
from stretto.testing.scheduler import Delay, Scheduler

S = StepStatus


class Call(NamedTuple):
    """What is being carried out: who asked, what, and with which arguments."""

    who: str
    name: str
    arguments: tuple[Any, ...] = ()
    named: dict[str, Any] = {}  # noqa: RUF012 - nobody writes into it


class OddError(Exception):
    """A fault that nobody has foreseen."""


class Sky:
    """The weather, and whether the database answers at all. Shared by all clients."""

    def __init__(self, dice: Random, weather: Weather) -> None:
        self.weather = weather
        self.out_until = 0  # milliseconds since the beginning
        self.cut_off: dict[str, int] = {}  # until when a client does not reach the database
        self.dice = dice
        self.befell: dict[str, int] = {}  # how often each kind of trouble came
        self.poison: Poison | None = None
        self.page: int | None = None  # rows that a list has at once, at most
        self.held = HeldCommits()
        self.latest = 20_000  # milliseconds after which a late call has come

    def narrowed(self, argument: Any) -> Any:
        """A part of a list, with fewer rows."""
        if not isinstance(argument, Cut) or self.page is None:
            return argument
        return msgspec.structs.replace(argument, most=min(argument.most, self.page))

    def clear(self) -> None:
        """The trouble is over."""
        self.weather = CALM
        self.out_until = 0
        if self.poison is not None and self.poison.signals:
            self.poison = None

    def count(self, kind: str) -> None:
        self.befell[kind] = self.befell.get(kind, 0) + 1

    def latency(self) -> int:
        """How long one way takes."""
        weather = self.weather
        if weather.slow and self.dice.random() < weather.slow:
            return self.dice.randrange(weather.slowest)
        return int(self.dice.random() * 2 * weather.latency)

    def is_poison(self, call: "Call") -> bool:
        """Whether a call brings a value that the database does not take."""
        poison = self.poison
        if poison is None or call.name != "commit":
            return False
        for part in call.arguments[1]:
            for decided in part.decisions:
                if poison.signals and decided.root is None and decided.sent:
                    return True
                for each in decided.records:
                    if isinstance(each, AttemptRecord) and poison.concerns(each.key.step_id):
                        bad = not each.status.is_terminal if poison.early else each.status is S.SUCCEEDED
                        if bad:
                            return True
        return False

    def some_groups(self, commit: "Call") -> frozenset[int]:
        """Whose part of a batch is to blame; nobody says whose, sometimes."""
        return frozenset(group for group in _with_runs(commit) if self.dice.random() < 0.5)

    def trouble(self) -> Trouble | None:
        """What befalls a call, if anything does."""
        weather = self.weather
        if not (weather.refused or weather.unanswered or weather.late or weather.twice):
            return None
        chance = self.dice.random()
        for share, kind in (
            (weather.refused, Trouble.REFUSED),
            (weather.unanswered, Trouble.UNANSWERED),
            (weather.late, Trouble.LATE),
            (weather.twice, Trouble.TWICE),
        ):
            if chance < share:
                return kind
            chance -= share
        return None


def _with_runs(call: Call) -> list[int]:
    """The groups of a commit whose part relies on rows of runs."""
    parts = call.arguments[1] if call.name == "commit" else ()
    return [part.lease.group for part in parts if any(each.root is not None for each in part.decisions)]


class Client(Protocol):
    """Whoever uses the database: the process of a node, or a user."""

    who: str

    @property
    def blocked(self) -> bool:
        """Whether it stands still, or is gone."""
        ...

    def befalls(self, call: str) -> Fault | None:
        """What the scenario has in store for this call."""
        ...

    def crash(self, fault: Fault) -> None:
        """Be gone."""
        ...


class Handle:
    """A store as one client sees it. All its methods are those of the store."""

    def __init__(
        self,
        store: MemoryStore,
        client: Client,
        sky: Sky,
        scheduler: Scheduler,
        note: Callable[[Call | None], None],
    ) -> None:
        self._store = store
        self._client = client
        self._sky = sky
        self._scheduler = scheduler
        self._note = note  # tells the invariants whose call is being carried out

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        async def call(*given: Any, **named: Any) -> Any:
            arguments = given if self._sky.page is None else tuple(map(self._sky.narrowed, given))
            asked = Call(self._client.who, name, arguments, named)
            return await self._call(asked, lambda: method(*arguments, **named))

        return call

    async def _call(self, call: Call, carry_out: Callable[[], Any]) -> Any:
        fault = self._client.befalls(call.name)
        trouble = self._befalls(call, fault)
        if fault is not None and trouble is Trouble.HELD:
            self._hold(fault, call, carry_out)
        if fault is not None and trouble is Trouble.CRASH and not fault.after:
            self._client.crash(fault)
        await self._on_the_way()
        self._refuse(call, trouble)
        if trouble is Trouble.LATE:
            self._carry_out_late(call, carry_out)
            raise OutcomeUnknown(f"{call.name}: the connection was lost, and nobody knows")
        answer = await self._carried_out(call, carry_out)
        if fault is not None and trouble is Trouble.CRASH:
            self._client.crash(fault)
        if trouble is Trouble.TWICE:
            self._carry_out_late(call, carry_out)
        await self._back()
        if trouble is Trouble.UNANSWERED:
            raise OutcomeUnknown(f"{call.name}: the answer was lost")
        return answer

    def _befalls(self, call: Call, fault: Fault | None) -> Trouble | None:
        trouble = self._sky.trouble() if fault is None else fault.kind
        out_until = max(self._sky.out_until, self._sky.cut_off.get(self._client.who, 0))
        if out_until > self._scheduler.now:
            trouble = Trouble.REFUSED
        if trouble is Trouble.TWICE and call.name not in REPEATED:
            trouble = None
        if trouble is Trouble.STALE and not _with_runs(call):
            trouble = None
        if trouble is not None:
            self._sky.count(f"{trouble.value} in {call.name}")
        return trouble

    def _refuse(self, call: Call, trouble: Trouble | None) -> None:
        """A call that fails before anything was done."""
        if trouble is Trouble.REFUSED:
            raise Unavailable(f"{call.name}: the database does not answer")
        if self._sky.is_poison(call):
            self._sky.count("poison")
            raise failures.Poison("it can not be stored")
        if trouble is Trouble.STALE:
            raise failures.Stale("a row has moved on", self._sky.some_groups(call))
        if trouble is Trouble.ODD:
            raise OddError(call.name)

    async def _on_the_way(self) -> None:
        """There; if the client stands still or is gone meanwhile, its call may arrive all the same."""
        task, millis = self._scheduler.current, self._sky.latency()
        if millis or self._client.blocked:
            if task is not None:
                task.sent = True
            await Delay(millis)
            if task is not None:
                task.sent = False

    async def _back(self) -> None:
        millis = self._sky.latency()
        if millis or self._client.blocked:
            await Delay(millis)

    async def _carried_out(self, call: Call, carry_out: Callable[[], Any]) -> Any:
        self._note(call)
        try:
            return await carry_out()
        finally:
            self._note(None)

    def _hold(self, fault: Fault, commit: Call, carry_out: Callable[[], Any]) -> None:
        """The client is gone, and its commit is still on its way."""
        self._sky.held.hold(commit.arguments[0], self._unheard(commit, carry_out))
        self._client.crash(fault)

    def _carry_out_late(self, call: Call, carry_out: Callable[[], Any]) -> None:
        late = self._sky.dice.choice([1, 100, 3_000, 20_000])
        self._scheduler.after(min(late, self._sky.latest), self._unheard(call, carry_out))

    def _unheard(self, call: Call, carry_out: Callable[[], Any]) -> Callable[[], None]:
        """Its caller has given up on it, or is gone: whatever comes of it is heard by nobody."""

        def now() -> None:
            self._note(call._replace(who=f"{call.who}, late"))
            try:
                carry_out().send(None)
            except StopIteration:
                pass
            except Exception:  # noqa: BLE001 - nobody hears it
                self._sky.count("late call that failed")
            finally:
                self._note(None)

        return now


def handle_of(
    store: MemoryStore, client: Client, sky: Sky, scheduler: Scheduler, note: Callable[[Call | None], None]
) -> Store:
    """A handle, as the store that it stands for."""
    return cast("Store", Handle(store, client, sky, scheduler, note))
