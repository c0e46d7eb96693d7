"""One campaign: a database, nodes on it, users, trouble, and the judgement."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random
from time import monotonic

from chaos.api import Api
from chaos.availability import Availability
from chaos.clock import ClockHistory, Clocks
from chaos.databases import Database
from chaos.deadly import deadly_violations
from chaos.feeding import Feeder
from chaos.insistence import insist
from chaos.judging import Judge, resumed
from chaos.ledger import Ledger
from chaos.nodes import NodeProcess, Nodes
from chaos.plays import OWNER, all_plays
from chaos.proxy import Proxy
from chaos.records import read_records
from chaos.report import Report
from chaos.schedule import Schedule, fires_in
from chaos.settings import LEASES, Campaign
from chaos.storm_plays import TICK_EVERY, storm_plays
from chaos.witness import notes_in
from stretto.ports.groups import NodeState
from stretto.ports.places import GROUPS
from stretto.ports.store import Store
from stretto.store.memory.hints import MemoryHints
from stretto.store.opening import open_store
from stretto.store.sqlite.address import path_of
from stretto.store.sqlite.opening import open_sqlite


class Arena:
    """What a scenario works with."""

    def __init__(
        self,
        folder: Path,
        database: Database,
        store: Store,
        campaign: Campaign,
        clocks: Clocks | None = None,
        proxies: Sequence[Proxy] = (),
    ) -> None:
        self.folder = folder
        self.database = database
        self.store = store
        self.campaign = campaign
        self.leases = campaign.leases
        self.dice = Random(campaign.seed)  # noqa: S311 - some mix of times and choices
        self.database_answers = True
        self.clocks = clocks
        self.proxies = proxies  # one for each place of a node
        self.troubled: set[int] = set()  # places of nodes that have trouble with their network
        self.troubles: Counter[str] = Counter()
        self.ledger = Ledger(folder / "ledger.db")
        self.commands = folder / "commands.txt"
        self.plays = all_plays(str(self.commands))
        if campaign.scenario == "storm":
            self.plays += storm_plays(str(self.commands))
        self.left_out: list[str] = []
        self.availability = Availability(self._can_work)
        self.nodes = Nodes(folder, database.url, campaign.leases, campaign.program, campaign.commands)
        if proxies:
            self.nodes.urls = [each.url for each in proxies]
        if clocks is not None:
            self.nodes.environment_of = clocks.environment_of
        on_file = clocks.environment_of(0) if clocks is not None and not database.is_server else {}
        self.api = Api(folder, database.url, on_file, OWNER.name)
        users = Random(campaign.seed)  # noqa: S311 - some mix of wishes
        self.feeder = Feeder(store, MemoryHints(), self.plays, users, campaign.going, self.api)

    def _can_work(self) -> bool:
        """Whether some node can reach a database that takes what it writes."""
        return self.database_answers and any(map(self.is_well, self.nodes.alive))

    def is_well(self, node: NodeProcess) -> bool:
        return node.is_running and not node.frozen and node.place not in self.troubled

    @property
    def lease(self) -> float:
        """Seconds after which a silent node may be buried."""
        return LEASES[self.leases].database.beat_lasts / 1_000

    def rounds(self, times: int) -> Iterator[int]:
        """So many, as long as there is time."""
        end = monotonic() + self.campaign.seconds
        for place in range(times):
            if monotonic() < end:
                yield place

    async def begin(self, nodes: int) -> None:
        for _ in range(nodes):
            self.nodes.start()
        await self.nodes.until_running()
        await self.until_owned()
        await self.feeder.publish()

    async def until_owned(self, within: float = 60.0) -> None:
        """Until somebody who lives owns each group."""
        async with asyncio.timeout(within):
            while True:
                rows = await insist(self.store.nodes)
                alive = {row.node for row in rows if row.state is NodeState.ALIVE}
                owners = [row.owner for row in await insist(self.store.groups)]
                if len(owners) == GROUPS and alive.issuperset(owners):
                    return
                await asyncio.sleep(0.05)

    async def play(self, name: str, scenario: Callable[["Arena"], Awaitable[None]], nodes: int) -> Report:
        """The trouble, with users all the while; then everything must come to its end."""
        begun = monotonic()
        await self.begin(nodes)
        enough = asyncio.Event()
        users = asyncio.create_task(self.feeder.feed(enough))
        watching = asyncio.create_task(self.availability.watch())
        try:
            await scenario(self)
        finally:
            enough.set()
            while len(self.nodes.alive) < 1:
                self.nodes.start()
            waiting = asyncio.create_task(self.feeder.until_all_ended(self.campaign.patience))
            await asyncio.wait({waiting})
            users.cancel()
            watching.cancel()
            await asyncio.wait({users, watching})
        if not users.cancelled() and users.exception() is not None:
            raise users.exception()  # type: ignore[misc]
        left = [f"run {row.key} has not ended: {row.record.status}" for row in waiting.result()]
        await self.nodes.until_running()
        await self.nodes.leave()
        return await self._judged(name, monotonic() - begun, left)

    async def _judged(self, name: str, seconds: float, left: list[str]) -> Report:
        self.ledger.replay(self.commands)
        records, effects = await read_records(self.store), self.ledger.effects()
        notes, feeder = notes_in(self.folder), self.feeder
        stale, repeats = self.ledger.stale(), feeder.restarts.repeats
        judge = Judge(
            self.plays, feeder.started, feeder.storms, records, effects, stale=stale, repeats=repeats
        )
        violations = [*left, *judge.violations(notes, self.nodes.deaths)]
        fires, clock = fires_in(records.rows.values()), self._clock_history()
        schedule = Schedule(TICK_EVERY, self.availability.millis_without, clock)
        if name == "storm":
            violations += [*schedule.violations(fires), *self.api.refusals]
            planted = None if feeder.planted is None else records.rows.get(feeder.planted)
            violations += deadly_violations(planted, self.nodes.killed_by_a_run)
            violations += [f"{number} {what} were set aside" for what, number in feeder.released.items()]
        launches = Counter(effect.attempt for effect in effects)
        said = Counter(note.what for note in notes)
        times = resumed(effects, self.nodes.deaths)
        return Report(
            store=self.database.url.partition(":")[0],
            scenario=name,
            leases=self.leases,
            seed=self.campaign.seed,
            seconds=seconds,
            troubles=dict(self.troubles),
            runs=len(records.rows),
            attempts=len(records.attempts),
            commits=len(records.stored),
            launches=len(effects),
            relaunched=sum(number > 1 for number in launches.values()),
            late=self.ledger.late(),
            lost=sum(each.startswith("lost") for each in violations),
            doubled=sum(each.startswith("doubled") for each in violations),
            buried=said["buried"],
            released=dict(feeder.released),
            store_failures=said["store failed"],
            resumed=times.alone,
            disturbed=times.disturbed,
            violations=violations,
            stale=len(stale),
            restarts=len(repeats),
            lags=schedule.lags(fires, counts=True),
            worst_lag=max(schedule.lags(fires), default=0.0),
            answers=dict(sorted(self.api.answers.items())),
            left_out=self.left_out,
            fallen=self.nodes.fallen + self.api.fallen,
        )

    def _clock_history(self) -> ClockHistory:
        return ClockHistory() if self.clocks is None else self.clocks.database.history


@asynccontextmanager
async def arena(
    folder: Path, database: Database, campaign: Campaign, clocks: Clocks | None = None
) -> AsyncIterator[Arena]:
    """An arena on a new database. Whatever happens, no process is left."""
    places = campaign.nodes if campaign.scenario == "storm" and database.is_server else 0
    async with AsyncExitStack() as stack:
        proxies = [await stack.enter_async_context(Proxy(database.url)) for _ in range(places)]
        store = await _store(database, campaign, clocks)
        stack.push_async_callback(store.close)
        made = Arena(folder, database, store, campaign, clocks, proxies)
        stack.push_async_callback(made.api.close)
        stack.callback(made.nodes.end)
        yield made


async def _store(database: Database, campaign: Campaign, clocks: Clocks | None) -> Store:
    """That of the users; it has the same clock as the nodes."""
    settings = LEASES[campaign.leases].database
    if clocks is None or database.is_server:
        return await open_store(database.url, settings)
    return await open_sqlite(path_of(database.url), settings, clock=clocks.database.now)
