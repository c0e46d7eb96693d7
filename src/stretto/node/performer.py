"""Performs asks: the store, runtimes, evaluation. It decides nothing."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from stretto.actions.fire_timer import fire_timer
from stretto.actions.parts.evaluation import evaluator_within
from stretto.actions.start_child import BeginRun
from stretto.engine.events import Reported
from stretto.engine.inline_ids import is_inline
from stretto.engine.records import RunKey
from stretto.model.errors import StrettoError
from stretto.model.param import Parameter
from stretto.model.step import AnyStep
from stretto.node import asks
from stretto.node.answers import ClaimAnswer
from stretto.node.perform.breakpoints import Breakpoints
from stretto.node.perform.children import Children
from stretto.node.perform.earlier import Earlier
from stretto.node.perform.messages import MessageHandler
from stretto.node.perform.queues import Queues
from stretto.node.perform.runs import Definitions, GroupLoader, RunLoader
from stretto.node.perform.runtimes import Runtimes
from stretto.node.perform.signals import Signals
from stretto.node.perform.values import Values
from stretto.node.settings import NodeSettings
from stretto.ports.commit import Committed
from stretto.ports.evaluator import Evaluator
from stretto.ports.groups import Burial, Heard, NodeState
from stretto.ports.hints import Hints
from stretto.ports.outbox import Mail
from stretto.ports.places import group_of_run
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
        self.store = store
        self.evaluator = evaluator
        self.runtimes = Runtimes(runtimes)
        definitions, earlier = Definitions(store), Earlier(store)
        self.breakpoints = Breakpoints(store)
        self.groups = GroupLoader(store)
        self.runs = RunLoader(store, definitions, earlier, self.breakpoints, settings.engine)
        self.values = Values(store, definitions, earlier)
        engine = settings.engine
        self._evaluate_run = evaluator_within(engine.expressions, engine.params)
        self.children = Children(store, hints, earlier, self._evaluate_run, begin)
        self.signals = Signals(store, hints)
        self.queues = Queues(store, hints)
        self.messages = MessageHandler(
            store, hints, definitions, expressions=engine.expressions, params=engine.params
        )
        self._hints = hints
        self._address = address
        self._gone = gone
        self._advertised: tuple[NodeId | None, frozenset[str]] = None, frozenset()

    def outside(self, step: AnyStep) -> bool:
        """Whether the work of a step lives outside of our processes; without a runtime it lives nowhere."""
        runtime = self.runtimes.of(step)
        return runtime is not None and runtime.outside

    def lacks(self, step: AnyStep, params: Mapping[str, Parameter]) -> tuple[str, ...]:
        """The functions that the work of a step calls by name, if this process does not know all of them."""
        return self.runtimes.lacks(step, params)

    @property
    def functions(self) -> frozenset[str]:
        """The functions that this process knows, and advertises to other nodes."""
        return self.runtimes.functions

    async def advertise(self) -> bool:
        """Tell the other nodes of functions that this process has come to know since it joined; whether there
        are any.
        """
        node, before = self._advertised
        known = self.functions
        if node is None or known == before:
            return False
        await self.store.advertise(node, known)
        self._advertised = node, known
        return True

    def report_to(self, heard: Callable[[Reported], None]) -> None:
        """Who is told what a runtime reports by itself; nobody before."""
        self.runtimes.heard = heard

    async def answer(self, ask: asks.Ask) -> Any:
        """Perform an ask."""
        return await ask.perform(self)

    # ------------------------------------------------------------------------------------------- membership
    async def join(self, ask: asks.Join) -> Heard:
        known = self.functions
        heard = await self.store.join(ask.node, self._address, known)
        self._advertised = ask.node, known
        await self.advertise()  # what was registered meanwhile
        return heard

    async def beat(self, ask: asks.Beat) -> Heard | None:
        heard = await self.store.beat(ask.node)
        for row in () if heard is None else heard.nodes:
            # Nobody need wait for its silence. If that can not be stored now, the beat counts all the same.
            if row.state is not NodeState.DEAD and self._gone(row.address):
                with suppress(StrettoError):
                    await self.bury(row.node, row.beats, expired=False)
        return heard

    async def bury(self, node: NodeId, beats: int, *, expired: bool) -> Burial | None:
        burial = await self.store.bury(node, beats, expired=expired)
        if burial is not None:
            self._hints.hint(burial.groups)
        return burial

    async def claim(self, ask: asks.Claim) -> ClaimAnswer:
        owned = [
            Lease(each.group, each.generation) for each in await self.store.groups() if each.owner == ask.node
        ]
        unknown = [each for each in owned if each.group not in ask.held]
        again = await self.store.claim_again(ask.node, unknown) if unknown else []
        taken = await self.store.claim(ask.node, ask.most)
        return ClaimAnswer([*again, *taken], [each for each in ask.leases if each not in owned])

    async def claim_again(self, ask: asks.ClaimAgain) -> list[Lease]:
        return await self.store.claim_again(ask.node, ask.leases)

    async def give_up(self, ask: asks.GiveUp) -> list[int]:
        free = await self.store.give_up(ask.node, ask.leases)
        self._hints.hint(free)
        return free

    # --------------------------------------------------------------------------------------------- messages
    async def fetch_mail(self, ask: asks.FetchMail) -> Mail:
        if ask.awake:
            await self.breakpoints.refresh()
        return await self.store.fetch(ask.node, ask.groups, known=ask.known, launching=ask.launching)

    async def find_root(self, run: RunKey) -> RunKey | None:
        row = await read_run(self.store, run)
        return None if row is None else row.root

    async def deliver(self, ask: asks.Deliver) -> bool:
        stored = await self.store.report(ask.node, ask.result, answers=ask.answers)
        if stored:
            await self.hint_owner(ask.result.event.attempt.run)
        return stored

    async def hint_owner(self, run: RunKey) -> None:
        """Tell the owner of a run to look. An iteration lives with the run around it."""
        group = group_of_run(run)
        if is_inline(run.workflow_id):
            row = await read_run(self.store, run)
            group = group if row is None else row.group
        self._hints.hint((group,))

    # ---------------------------------------------------------------------------------------------- commits
    async def commit(self, ask: asks.Commit) -> Committed:
        done = await self.store.commit(ask.node, ask.parts)
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

    async def fire_timers(self, ask: asks.FireTimers) -> bool:
        return bool(
            await fire_timer(
                self.store, ask.rows, most=ask.most, hints=self._hints, evaluate=self._evaluate_run
            )
        )
