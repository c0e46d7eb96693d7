"""Many at once, each with a handle of its own. Stores that can race do so here."""

import asyncio
from collections import Counter

from stretto.actions.parts.workflow_change import Change, change_workflow
from stretto.engine.permits import granted
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import Conflict, StrettoError, WrongState
from stretto.model.permit import TagPermit
from stretto.model.properties import RunStrategyRule
from stretto.model.status import RunStatus
from stretto.ports.admission import (
    NewRun,
    RequestKey,
    SnapshotDetail,
    TransactionScope,
    WorkflowDecision,
    WorkflowSnapshot,
)
from stretto.ports.commit import Decided, PermitAsk
from stretto.ports.failures import Stale
from stretto.ports.messages import FanOut, Fire, Letter, Log
from stretto.ports.paging import Cut
from stretto.ports.permits import HoldersOf
from stretto.ports.places import GROUPS, group_of_signal, group_of_workflow
from stretto.ports.rows import NodeId, Phase
from stretto.ports.signals import NewSignal, SignalPage, SignalWait, instance_id_of
from stretto.ports.store import Store
from stretto.ports.work import Work
from stretto.ports.workflows import Found
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.owner import Owner, event
from stretto.testing.store_suite.signals import any_fits, trigger
from stretto.testing.store_suite.world import World, attempt_record, run_record

SUITE = Suite("concurrency")
HERE = NodeId("reader")


async def handles(world: World, count: int) -> list[Store]:
    return [await world.another() for _ in range(count)]


@SUITE.check
async def two_claimers_never_share_a_group(world: World) -> None:
    stores = await handles(world, 4)
    nodes = [NodeId(f"node-{number}") for number in range(4)]
    for store, node in zip(stores, nodes, strict=True):
        await store.join(node)
    claims = await asyncio.gather(*(store.claim(node, 50) for store, node in zip(stores, nodes, strict=True)))
    counts = Counter(lease.group for leases in claims for lease in leases)
    assert counts.most_common(1)[0][1] == 1
    left = await world.store.claim(nodes[0], GROUPS)  # a claimer may pass what another is looking at
    assert len(counts) + len(left) == GROUPS


@SUITE.check
async def a_commit_and_a_take_over_never_both_win(world: World) -> None:
    await world.publish()
    for number in range(25):
        first, second = await handles(world, 2)
        owner = await world.owner(f"old-{number}", store=first)
        run = await world.live(owner)
        record = attempt_record(run, "s")

        async def take_over(store: Store = second, loser: Owner = owner, name: int = number) -> Owner:
            await store.bury(loser.node, 1, expired=False)
            return await world.owner(f"new-{name}", store=store)

        done, heir = await asyncio.gather(owner.decide(run, records=(record,)), take_over())
        heir.hold(await second.claim(heir.node, GROUPS))  # what a refused commit was still looking at
        group = await owner.group_of(run)
        (flow,) = await second.load_flows([run])  # what the heir reads is final
        assert bool(done.fenced) == (flow.attempts == ())
        late = await owner.decide(run, records=(attempt_record(run, "late"),))
        assert late.fenced == {group}
        await heir.end(run)
        await second.leave(heir.node)
        await first.close()
        await second.close()


@SUITE.check
async def one_request_id_makes_one_run(world: World) -> None:
    await world.publish()
    stores = await handles(world, 5)

    def decide(found: WorkflowSnapshot) -> WorkflowDecision[RunKey]:
        if "same" in found.known:
            return WorkflowDecision(answer=found.known["same"])
        key = RunKey("wf", found.next_instance_id, 1)
        return WorkflowDecision(
            answer=key, spent=1, created=(NewRun(record=run_record(key, "same")),), admitted=(key,)
        )

    scope = TransactionScope(requests=(RequestKey("same"),))
    answers = await asyncio.gather(*(store.transact("wf", scope, decide) for store in stores))
    assert {each.answer for each in answers} == {RunKey("wf", 1, 1)}
    assert await world.store.instance_ids("wf") == (1, 1)


@SUITE.check
async def of_two_restarts_one_is_refused(world: World) -> None:
    await world.publish()
    run = await world.start(status=RunStatus.FAILED)
    stores = await handles(world, 3)

    async def restart(store: Store, request_id: str) -> RunKey | None:
        def decide(found: WorkflowSnapshot) -> WorkflowDecision[RunKey]:
            latest = found.latest[run.instance_id]
            if latest.phase is not Phase.ENDED:
                raise WrongState(f"{latest.key} has not ended")
            key = RunKey("wf", run.instance_id, latest.key.run_id + 1)
            new = NewRun(record=run_record(key, request_id))
            return WorkflowDecision(answer=key, created=(new,), admitted=(key,))

        try:
            scope = TransactionScope(requests=(RequestKey(request_id),), instances=(run.instance_id,))
            return (await store.transact("wf", scope, decide)).answer
        except WrongState:
            return None

    answers = await asyncio.gather(*(restart(store, f"r{n}") for n, store in enumerate(stores)))
    assert sorted(answers, key=str) == sorted([RunKey("wf", 1, 2), None, None], key=str)


@SUITE.check
async def slots_are_never_overrun(world: World) -> None:
    await world.publish(rule=RunStrategyRule.PARALLEL, slots=3)
    for _ in range(12):
        await world.start(admit=False)
    owner = await world.owner()
    stores = await handles(world, 4)

    def dequeue(found: WorkflowSnapshot) -> WorkflowDecision[int]:
        free = max(0, found.strategy.workflow_concurrency - found.counts.running)
        return WorkflowDecision(answer=found.counts.running, admitted=found.queue[:free])

    scope = TransactionScope(detail=lambda _strategy: SnapshotDetail(queue=50))
    while (look := await world.store.look_at_queue("wf")) and look[1].queued + look[1].running:
        await asyncio.gather(*(store.transact("wf", scope, dequeue) for store in stores))
        state = await world.store.transact(
            "wf",
            TransactionScope(detail=lambda _s: SnapshotDetail(running=True)),
            lambda found: WorkflowDecision(answer=found),
        )
        assert 0 < len(state.answer.running) <= 3
        run = state.answer.running[0]
        await owner.launch(run)
        await asyncio.gather(owner.end(run), *(store.transact("wf", scope, dequeue) for store in stores))
        after = await world.store.look_at_queue("wf")
        assert after is not None
        assert after[1].running <= 3


@SUITE.check
async def permits_are_never_above_the_limit(world: World) -> None:
    await world.publish()
    await world.store.change_tag("x", lambda _before: TagPermit(tag="x", max_allowed=2))
    await world.store.change_tag("y", lambda _before: TagPermit(tag="y", max_allowed=1))
    owner = await world.owner()
    run = await world.live(owner)
    group = await owner.group_of(run)
    wanted = {
        AttemptKey(run, f"s{number:02}", 1): tags
        for number, tags in enumerate([("x",), ("x", "y"), ("y",)] * 6)
    }
    asks = tuple(
        PermitAsk(attempt=key, limits=dict.fromkeys(tags), since=place)
        for place, (key, tags) in enumerate(wanted.items())
    )
    await owner.commit(group, Decided(permits=asks))
    stores = await handles(world, 5)
    ended: set[AttemptKey] = set()
    while len(ended) < len(wanted):
        found = await asyncio.gather(*(store.grant(["x", "y"], granted) for store in stores))
        passes = [each.attempts for each in found]
        lucky = [key for each in passes for key in each]
        assert len(lucky) == len(set(lucky))
        held = {tag: (await world.store.permits(HoldersOf(tag, Cut()))).elements for tag in "xy"}
        assert len(held["x"]) <= 2
        assert len(held["y"]) <= 1
        holding = {row.attempt for rows in held.values() for row in rows}
        assert holding  # somebody always goes
        for key in holding:  # all or none
            assert all(key in {row.attempt for row in held[tag]} for tag in wanted[key])
        first = min(holding)
        await owner.commit(group, Decided(released=(first,)))
        ended.add(first)


@SUITE.check
async def several_who_grant_at_once_keep_to_the_rate(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    group = await owner.group_of(run)
    asks = tuple(
        PermitAsk(
            attempt=AttemptKey(run, f"s{number:02}", 1),
            limits={"r": None},
            since=number,
            rates={"r": "7/hour"},
        )
        for number in range(20)
    )
    await owner.commit(group, Decided(permits=asks))
    stores = await handles(world, 3)
    lucky: list[AttemptKey] = []
    for _ in range(3):
        found = await asyncio.gather(*(store.grant(["r"], granted) for store in stores))
        lucky += [key for each in found for key in each.attempts]
    assert lucky == [ask.attempt for ask in asks[:7]]


@SUITE.check
async def each_message_is_consumed_exactly_once(world: World) -> None:
    owner = await world.owner()
    ids = [await world.store.send(Letter(ref=f"m{n}", to_group=n % 4, body=Log(at=1))) for n in range(20)]
    stores = await handles(world, 3)

    async def consume(store: Store) -> list[int]:
        mine: list[int] = []
        for group in range(4):
            for message in (await store.fetch(HERE, [group])).messages:
                part = owner.part(group, Decided(consumed=(message.id,)))
                try:
                    await store.commit(owner.node, [part])
                    mine.append(message.id)
                except Stale:
                    continue
        return mine

    consumed = [each for ids in await asyncio.gather(*map(consume, stores)) for each in ids]
    assert sorted(consumed) == ids


@SUITE.check
async def an_action_is_decided_before_or_after_admission_never_between(world: World) -> None:
    await world.publish()
    stores = await handles(world, 2)
    for _ in range(10):
        run = await world.start(admit=False)

        def stop(found: WorkflowSnapshot, run: RunKey = run) -> WorkflowDecision[str]:
            if found.runs[run].phase is Phase.QUEUED:
                return WorkflowDecision(answer="ended here", marks={})
            letter = Letter(ref=f"stop {run}", to_group=found.runs[run].group, body=Log(at=1))
            return WorkflowDecision(answer="sent to its group", sent=(letter,))

        def admit(_found: WorkflowSnapshot, run: RunKey = run) -> WorkflowDecision[str]:
            return WorkflowDecision(answer="admitted", admitted=(run,))

        scope = TransactionScope(runs=(run,))
        answers = await asyncio.gather(
            stores[0].transact("wf", scope, stop), stores[1].transact("wf", scope, admit)
        )
        assert answers[0].answer in {"ended here", "sent to its group"}
        mail = await world.store.fetch(HERE, range(GROUPS))
        told = any(each.ref == f"stop {run}" for each in mail.messages)
        assert told == (answers[0].answer == "sent to its group")


@SUITE.check
async def announcements_are_numbered_without_gaps_or_doubles(world: World) -> None:
    stores = await handles(world, 5)
    params = [{"day": number % 10} for number in range(25)]
    signals = [
        NewSignal(name="a", instance_id=instance_id_of("a", each), params=each, payload={"by": number})
        for number, each in enumerate(params)
    ]
    done = await asyncio.gather(*(stores[number % 5].announce(each) for number, each in enumerate(signals)))
    assert sum(not each.duplicate for each in done) == 10
    assert all(told.signal.params == asked for told, asked in zip(done, params, strict=True))
    page = await world.store.signals(SignalPage("a", Cut()))
    assert [each.seq_id for each in page.elements] == list(range(10, 0, -1))
    mail = await world.store.fetch(HERE, [group_of_signal("a")])
    assert sorted(each.body.seq for each in mail.messages if isinstance(each.body, FanOut)) == list(
        range(1, 11)
    )


@SUITE.check
async def no_wait_is_missed_whoever_comes_first(world: World) -> None:
    owner = await world.owner()
    waiting, announcing = await handles(world, 2)
    for number in range(15):
        name = f"s{number}"
        wait = SignalWait(name=name, attempt=AttemptKey(RunKey("wf", number, 1), "s", 1), index=0, group=1)

        async def step(name: str = name, wait: SignalWait = wait) -> bool:
            await waiting.commit(owner.node, [owner.part(1, Decided(waits=(wait,)))])
            return await waiting.first_signal(name, any_fits) is not None

        async def announcer(name: str = name) -> bool:
            await announcing.announce(NewSignal(name=name, instance_id="i"))
            return bool(await announcing.signal_waits(name, after=None, most=10))

        assert any(await asyncio.gather(step(), announcer()))


@SUITE.check
async def each_set_of_joined_signals_fires_once(world: World) -> None:
    await world.publish(signal_triggers=(trigger("a", "b"),))
    stores = await handles(world, 4)

    async def announce_and_match(store: Store, name: str, number: int) -> None:
        await store.announce(NewSignal(name=name, instance_id=f"{number}"))
        await store.match_trigger("t", "", lambda _name, _signal: True)

    await asyncio.gather(
        *(announce_and_match(stores[n % 4], name, n) for n in range(8) for name in ("a", "b"))
    )
    mail = await world.store.fetch(HERE, [group_of_workflow("wf")])
    fires = [dict(each.body.seqs) for each in mail.messages if isinstance(each.body, Fire)]
    assert fires == [{"a": n, "b": n} for n in range(1, 9)]


@SUITE.check
async def pool_work_is_taken_by_one(world: World) -> None:
    owner = await world.owner()
    keys = [AttemptKey(RunKey("wf", number, 1), "s", 1) for number in range(10)]
    work = tuple(Work(attempt=key, launch=1, pool="p", group=1) for key in keys)
    await owner.commit(1, Decided(work=work))
    stores = await handles(world, 4)
    nodes = [NodeId(f"worker-{number}") for number in range(4)]
    for store, node in zip(stores, nodes, strict=True):
        await store.join(node)

    async def take_all(store: Store, node: NodeId) -> list[AttemptKey]:
        taken: list[AttemptKey] = []
        while (found := await store.take_work(node, "p")) is not None:
            taken.append(found.attempt)
        return taken

    taken = await asyncio.gather(*(take_all(s, n) for s, n in zip(stores, nodes, strict=True)))
    assert sorted(key for each in taken for key in each) == keys


@SUITE.check
async def versions_of_many_publishers_have_no_gap(world: World) -> None:
    await world.publish()
    stores = await handles(world, 4)

    def publish(found: Found) -> Change[int]:
        assert found.row is not None
        version = world.version(found.row.latest_version + 1)
        return Change(answer=found.row.latest_version + 1, version=version)

    numbers = await asyncio.gather(
        *(change_workflow(store, "wf", publish) for store in stores for _ in range(3))
    )
    assert sorted(numbers) == list(range(2, 14))


@SUITE.check
async def one_burial_of_many_buries(world: World) -> None:
    await world.owner("victim", most=3)
    stores = await handles(world, 4)
    burials = await asyncio.gather(*(store.bury(NodeId("victim"), 1, expired=False) for store in stores))
    assert sum(each is not None for each in burials) == 1
    assert [each.falls for each in (await world.store.groups())[:3]] == [1, 1, 1]


@SUITE.check
async def a_node_id_is_used_by_one(world: World) -> None:
    stores = await handles(world, 3)
    joined = await asyncio.gather(*(store.join(NodeId("same")) for store in stores), return_exceptions=True)
    refused = [each for each in joined if isinstance(each, StrettoError)]
    assert len(refused) == 2
    assert all(isinstance(each, Conflict) for each in refused)


@SUITE.check
async def a_log_has_no_gap_for_any_reader(world: World) -> None:
    owner = await world.owner()
    reading = await world.another()
    seen: list[int] = []

    async def write() -> None:
        for _ in range(30):
            await owner.commit(1, Decided(events=(event("x"),)))

    async def read() -> None:
        while len(seen) < 30:
            rows = await reading.read_log({1: seen[-1] if seen else 0}, most=7)
            seen.extend(row.seq for row in rows)
            await asyncio.sleep(0)

    await asyncio.gather(write(), read())
    assert seen == list(range(1, 31))
