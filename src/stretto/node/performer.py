"""Carries out what a node asks: the store, runtimes and evaluation, behind one door."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from stretto.actions.fire_timer import fire_timer
from stretto.actions.parts.evaluation import evaluator_within
from stretto.actions.start_child import BeginRun
from stretto.engine import effects as todo
from stretto.engine.events import Event, Reported
from stretto.model.errors import StrettoError
from stretto.model.param import Parameter
from stretto.model.step import AnyStep
from stretto.node import asks
from stretto.node.perform.breakpoints import Breakpoints
from stretto.node.perform.children import Children
from stretto.node.perform.dealing import Dealing
from stretto.node.perform.definitions import Definitions
from stretto.node.perform.earlier import Earlier
from stretto.node.perform.fetching import Fetching
from stretto.node.perform.loading import GroupLoading, RunLoading
from stretto.node.perform.looking import Looking
from stretto.node.perform.runtimes import Runtimes
from stretto.node.perform.signals import Signals
from stretto.node.settings import NodeSettings
from stretto.ports.commit import Committed
from stretto.ports.evaluator import Evaluator
from stretto.ports.groups import Burial, NodeState
from stretto.ports.hints import Hints
from stretto.ports.rows import Lease, NodeId
from stretto.ports.run_snapshot import read_run
from stretto.ports.runtime import StepRuntime
from stretto.ports.store import Store

DEFAULTS: Final = NodeSettings()


class Performer:
    """All I/O of a node. Each ask is a coroutine of its own; what goes wrong is raised, and the node decides
    what that means. Whoever drives it need not use asyncio, if its store, runtimes, evaluator
    and `begin` do not: that starts a child together with what others start.

    """

    def __init__(  # noqa: PLR0913 - one for each part that a node works with
        self,
        store: Store,
        hints: Hints,
        runtimes: Mapping[str, StepRuntime],
        evaluator: Evaluator,
        *,
        settings: NodeSettings = DEFAULTS,
        address: str | None = None,
        gone: Callable[[str | None], bool] = lambda _address: False,
        begin: BeginRun | None = None,
    ) -> None:
        self._store = store
        self._hints = hints
        self._evaluator = evaluator
        self._address = address
        self._gone = gone
        self._runtimes = Runtimes(runtimes)
        definitions, earlier = Definitions(store), Earlier(store)
        self._breakpoints = Breakpoints(store)
        self._groups = GroupLoading(store)
        self._runs = RunLoading(store, definitions, earlier, self._breakpoints, settings.engine)
        self._fetching = Fetching(store, definitions, earlier)
        engine = settings.engine
        self._evaluate_run = evaluator_within(engine.expressions, engine.params)
        self._children = Children(store, hints, earlier, self._evaluate_run, begin)
        self._signals = Signals(store, hints)
        self._looking = Looking(store, hints)
        self._dealing = Dealing(
            store, hints, definitions, expressions=engine.expressions, params=engine.params
        )
        self._advertised: tuple[NodeId | None, frozenset[str]] = None, frozenset()
        self._by_ask = self._table()

    def outside(self, step: AnyStep) -> bool:
        """Whether the work of a step lives outside of our processes; without a runtime it lives nowhere."""
        runtime = self._runtimes.of(step)
        return runtime is not None and runtime.outside

    def lacks(self, step: AnyStep, params: Mapping[str, Parameter]) -> tuple[str, ...]:
        """The functions that the work of a step calls by name, if this process does not know all of them."""
        return self._runtimes.lacks(step, params)

    @property
    def functions(self) -> frozenset[str]:
        """The functions that this process knows, and advertises to other nodes."""
        return self._runtimes.functions

    async def advertise(self) -> bool:
        """Tell the other nodes of functions that this process has come to know since it joined; whether there
        are any.
        """
        node, before = self._advertised
        known = self.functions
        if node is None or known == before:
            return False
        await self._store.advertise(node, known)
        self._advertised = node, known
        return True

    def report_to(self, heard: Callable[[Reported], None]) -> None:
        """Who is told what a runtime reports by itself; nobody before."""
        self._runtimes.heard = heard

    async def answer(self, ask: asks.Ask) -> Any:
        """Carry out an ask; what comes of it is said where the ask is defined."""
        return await self._by_ask[type(ask)](ask)

    def _table(self) -> Mapping[type[asks.Ask], Callable[[Any], Awaitable[Any]]]:
        return {
            asks.Join: self._join,
            asks.Beat: self._beat,
            asks.ReadAdvertised: self._read_advertised,
            asks.Bury: self._bury,
            asks.Claim: self._claim,
            asks.ClaimAgain: self._claim_again,
            asks.GiveUp: self._give_up,
            asks.StartLeaving: self._start_leaving,
            asks.Leave: self._leave,
            asks.NoteSuspects: self._note_suspects,
            asks.Calm: self._calm,
            asks.LoadGroups: self._load_groups,
            asks.LoadRuns: self._load_runs,
            asks.FindRoot: self._find_root,
            asks.FetchMail: self._fetch_mail,
            asks.Commit: self._commit,
            asks.Postpone: self._postpone,
            asks.Deliver: self._deliver,
            asks.Withdraw: self._withdraw,
            asks.Carry: self._carry,
            asks.Evaluate: self._evaluate,
            asks.CallRuntime: self._call_runtime,
            asks.Deal: self._deal,
            asks.LookAtQueues: self._look_at_queues,
            asks.GrantTags: self._grant_tags,
            asks.Sweep: self._sweep,
            asks.FindDueTriggers: self._find_due_triggers,
            asks.FireTimers: self._fire_timers,
        }

    # ------------------------------------------------------------------------------------------- membership
    async def _join(self, ask: asks.Join) -> Any:
        known = self.functions
        heard = await self._store.join(ask.node, self._address, known)
        self._advertised = ask.node, known
        await self.advertise()  # what was registered meanwhile
        return heard

    async def _beat(self, ask: asks.Beat) -> Any:
        heard = await self._store.beat(ask.node)
        for row in () if heard is None else heard.nodes:
            # Nobody need wait for its silence. If that can not be stored now, the beat counts all the same.
            if row.state is not NodeState.DEAD and self._gone(row.address):
                with suppress(StrettoError):
                    await self._buried(row.node, row.beats, expired=False)
        return heard

    async def _read_advertised(self, ask: asks.ReadAdvertised) -> Mapping[NodeId, frozenset[str]]:
        return await self._store.advertised(ask.nodes)

    async def _bury(self, ask: asks.Bury) -> Burial | None:
        return await self._buried(ask.node, ask.beats, expired=ask.expired)

    async def _buried(self, node: NodeId, beats: int, *, expired: bool) -> Burial | None:
        burial = await self._store.bury(node, beats, expired=expired)
        if burial is not None:
            self._hints.hint(burial.groups)
        return burial

    async def _claim(self, ask: asks.Claim) -> list[Lease]:
        owned = [each for each in await self._store.groups() if each.owner == ask.node]
        lost = [Lease(each.group, each.generation) for each in owned if each.group not in ask.held]
        again = await self._store.claim_again(ask.node, lost) if lost else []
        return [*again, *await self._store.claim(ask.node, ask.most)]

    async def _claim_again(self, ask: asks.ClaimAgain) -> Any:
        return await self._store.claim_again(ask.node, ask.leases)

    async def _give_up(self, ask: asks.GiveUp) -> list[int]:
        free = await self._store.give_up(ask.node, ask.leases)
        self._hints.hint(free)
        return free

    async def _start_leaving(self, ask: asks.StartLeaving) -> None:
        await self._store.start_leaving(ask.node)

    async def _leave(self, ask: asks.Leave) -> None:
        await self._store.leave(ask.node)

    async def _note_suspects(self, ask: asks.NoteSuspects) -> frozenset[int]:
        return await self._store.note_suspects(ask.notes)

    async def _calm(self, ask: asks.Calm) -> None:
        await self._store.calm(ask.leases)

    # ---------------------------------------------------------------------------------------------- reading
    async def _load_groups(self, ask: asks.LoadGroups) -> list[asks.LoadedGroup]:
        return await self._groups.load(ask.leases)

    async def _load_runs(self, ask: asks.LoadRuns) -> tuple[asks.LoadedRun, ...]:
        return await self._runs.load(ask.leases, ask.runs)

    async def _find_root(self, ask: asks.FindRoot) -> Any:
        row = await read_run(self._store, ask.run)
        return None if row is None else row.root

    async def _fetch_mail(self, ask: asks.FetchMail) -> Any:
        if ask.awake:
            await self._breakpoints.refresh()
        return await self._store.fetch(ask.node, ask.groups, known=ask.known, launching=ask.launching)

    # ---------------------------------------------------------------------------------------------- writing
    async def _commit(self, ask: asks.Commit) -> Committed:
        done = await self._store.commit(ask.node, ask.parts)
        told = {
            letter.to_group
            for part in ask.parts
            if part.lease.group not in done.fenced
            for decided in part.decisions
            for letter in decided.sent
            if letter.to_group is not None
        }
        self._hints.hint(told)
        return done

    async def _postpone(self, ask: asks.Postpone) -> Any:
        return await self._store.postpone(ask.lease, ask.message, ask.reason)

    async def _deliver(self, ask: asks.Deliver) -> bool:
        stored = await self._store.report(ask.node, ask.result, answers=ask.answers)
        if stored:
            await self._looking.hint_owner(ask.result.event.attempt.run)
        return stored

    async def _withdraw(self, ask: asks.Withdraw) -> bool:
        return await self._store.withdraw(ask.message)

    # ---------------------------------------------------------------------------------------------- effects
    async def _carry(self, ask: asks.Carry) -> tuple[Event, ...]:
        match ask.effect:
            case todo.Fetch() as effect:
                return (await self._fetching.fetch(effect, ask.run, ask.root),)
            case todo.LookForBreakpoint() as effect:
                return await self._breakpoints.look(effect, ask.run, ask.root.workflow_id)
            case todo.WatchSignals() as effect:
                return await self._signals.look(effect)
            case todo.AnnounceSignals() as effect:
                return await self._signals.announce(effect)
            case todo.StartChild() as effect:
                return await self._children.start(effect, ask.run, ask.lease)
            case todo.StopChild() as effect:
                return await self._children.look_up(effect, ask.run)
            case _:
                raise TypeError(f"a {type(ask.effect).__name__} is not carried out here")

    async def _evaluate(self, ask: asks.Evaluate) -> Event:
        return await self._evaluator.evaluate(ask.question)

    async def _call_runtime(self, ask: asks.CallRuntime) -> Reported:
        return await self._runtimes.call(ask)

    async def _deal(self, ask: asks.Deal) -> Any:
        return await self._dealing.deal(ask.message)

    # ------------------------------------------------------------------------------------------------ looks
    async def _look_at_queues(self, ask: asks.LookAtQueues) -> None:
        await self._looking.look_at_queues(ask.workflow_ids)

    async def _grant_tags(self, ask: asks.GrantTags) -> asks.TagWaits:
        return await self._looking.grant(ask.tags)

    async def _sweep(self, ask: asks.Sweep) -> asks.TagWaits:
        return await self._looking.sweep(ask.groups, ask.now)

    async def _find_due_triggers(self, ask: asks.FindDueTriggers) -> asks.DueTriggers:
        return await self._looking.find_due_triggers(ask.groups, ask.late, ask.most)

    async def _fire_timers(self, ask: asks.FireTimers) -> bool:
        return bool(
            await fire_timer(
                self._store, ask.rows, most=ask.most, hints=self._hints, evaluate=self._evaluate_run
            )
        )
