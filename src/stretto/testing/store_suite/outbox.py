"""Messages: fetched until they are consumed, postponed, parked, answered."""

from stretto.engine.events import Reported, ResultState, RunActed, RunAction
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import NotFound
from stretto.ports.commit import Decided
from stretto.ports.failures import Fenced, Stale
from stretto.ports.messages import Act, Ask, Cancel, Letter, Log, Outcome, Result
from stretto.ports.outbox import MOST_TRIES
from stretto.ports.paging import Cut
from stretto.ports.rows import Lease, NodeId
from stretto.ports.work import Work, WorkPage
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.world import World, near, refusal

SUITE = Suite("outbox")
HERE, THERE = NodeId("node-a"), NodeId("node-b")


def note(ref: str, group: int = 1) -> Letter:
    return Letter(ref=ref, to_group=group, body=Log(at=1))


def result_of(attempt: AttemptKey, launch: int = 1) -> Result:
    return Result(event=Reported(attempt=attempt, launch=launch, state=ResultState.DONE))


@SUITE.check
async def ids_only_grow(world: World) -> None:
    first = await world.store.send(note("a"))
    second = await world.store.send(note("b"))
    assert second > first
    assert await world.store.withdraw(second)
    assert not await world.store.withdraw(second)
    assert await world.store.send(note("c")) > second


@SUITE.check
async def sending_twice_sends_once(world: World) -> None:
    first = await world.store.send(note("a"))
    assert await world.store.send(note("a")) == first
    assert len((await world.store.fetch(HERE, [1])).messages) == 1


@SUITE.check
async def a_fetch_reads_all_that_waits_but_what_is_in_hand(world: World) -> None:
    await world.publish()
    ids = [await world.store.send(note(f"m{number}", number % 3)) for number in range(6)]
    to_me = await world.store.send(Letter(ref="me", to_node=HERE, body=Log(at=1)))
    await world.store.send(Letter(ref="you", to_node=THERE, body=Log(at=1)))
    runs = [await world.start() for _ in range(3)]
    mail = await world.store.fetch(HERE, [0, 1])
    assert [each.id for each in mail.messages] == [ids[0], ids[1], ids[3], ids[4], to_me]
    again = await world.store.fetch(HERE, [0, 1], known={ids[3], to_me})
    assert [each.id for each in again.messages] == [ids[0], ids[1], ids[4]]
    capped = await world.store.fetch(HERE, [0, 1, 2], known={ids[0]}, most=2)
    assert [each.id for each in capped.messages] == ids[1:3]
    everything = await world.store.fetch(HERE, range(128), launching={runs[1]})
    assert everything.admitted == (runs[0], runs[2])
    assert (await world.store.fetch(HERE, range(128), most=1)).admitted == (runs[0],)
    assert near(mail.messages[0].sent_at, await world.store.now())


@SUITE.check
async def a_message_that_fails_waits_longer_each_time_and_is_parked(world: World) -> None:
    owner = await world.owner()
    number = await world.store.send(note("poison"))
    healthy = await world.store.send(note("healthy"))
    for tries in range(1, MOST_TRIES + 1):
        message = await world.store.postpone(owner.leases[1], number, "boom")
        assert message.tries == tries
        assert [each.id for each in (await world.store.fetch(HERE, [1])).messages] == [healthy]
        if tries < MOST_TRIES:
            assert message.parked is None
            assert near(message.not_before, await world.store.now() + 1000 * 2**tries)
            await world.advance(1000 * 2**tries)
            assert [each.id for each in (await world.store.fetch(HERE, [1])).messages] == [number, healthy]
        else:
            assert message.parked == "boom"
    await world.advance(1_000_000)
    assert [each.id for each in (await world.store.fetch(HERE, [1])).messages] == [healthy]
    parked = await world.store.parked_messages(Cut())
    assert [each.id for each in parked.elements] == [number]
    assert await world.store.release_message(number)
    assert not await world.store.release_message(number)
    assert not await world.store.release_message(999)
    released, _healthy = (await world.store.fetch(HERE, [1])).messages
    assert (released.id, released.tries, released.parked) == (number, 0, None)


@SUITE.check
async def a_clock_that_was_ahead_holds_no_message(world: World) -> None:
    owner = await world.owner()
    number = await world.store.send(note("m"))
    await world.advance(1_000_000)
    await world.store.postpone(owner.leases[1], number, "boom")
    assert not (await world.store.fetch(HERE, [1])).messages
    await world.advance(-1_000_000)
    assert [each.id for each in (await world.store.fetch(HERE, [1])).messages] == [number]


@SUITE.check
async def only_the_owner_postpones(world: World) -> None:
    owner = await world.owner()
    number = await world.store.send(note("m"))
    late = Lease(1, owner.leases[1].generation - 1)
    await refusal(Fenced, world.store.postpone(late, number, "late"))
    (message,) = (await world.store.fetch(HERE, [1])).messages
    assert message.tries == 0
    await refusal(Stale, world.store.postpone(owner.leases[1], 999, "gone"))


@SUITE.check
async def a_result_from_elsewhere_goes_to_the_runs_group(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    await world.store.join(THERE)
    run = await world.live(owner)
    result = result_of(AttemptKey(run, "s", 1))
    assert await world.store.report(THERE, result)
    (message,) = (await world.store.fetch(HERE, [await owner.group_of(run)])).messages
    assert message.body == result
    assert not await world.store.report(THERE, result_of(AttemptKey(RunKey("nowhere", 1, 1), "s", 1)))


@SUITE.check
async def the_dead_report_nothing(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    result = result_of(AttemptKey(run, "s", 1))
    assert not await world.store.report(THERE, result)  # it never joined
    await world.store.join(THERE)
    await world.store.bury(THERE, 1, expired=False)
    assert not await world.store.report(THERE, result)
    assert (await world.store.fetch(HERE, [await owner.group_of(run)])).messages == ()


@SUITE.check
async def an_answer_takes_its_question_along(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    await world.store.join(THERE)
    run = await world.live(owner)
    attempt = AttemptKey(run, "s", 1)
    for body in (Ask(attempt=attempt, launch=1), Cancel(attempt=attempt, launch=1)):
        number = await world.store.send(Letter(ref=body.kind, to_node=THERE, body=body))
        assert await world.store.report(THERE, result_of(attempt), answers=number)
        assert (await world.store.fetch(THERE, [])).messages == ()
        assert not await world.store.report(THERE, result_of(attempt), answers=number)
    group = await owner.group_of(run)
    assert len((await world.store.fetch(HERE, [group])).messages) == 2


@SUITE.check
async def pool_work_is_reported_once_by_who_has_it(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    await world.store.join(THERE)
    run = await world.live(owner)
    attempt = AttemptKey(run, "s", 1)
    group = await owner.group_of(run)
    assert not await world.store.report(THERE, result_of(attempt), take=1)
    await owner.decide(run, work=(Work(attempt=attempt, launch=1, pool="p", group=group),))
    assert not await world.store.report(THERE, result_of(attempt), take=0)
    taken = await world.store.take_work(THERE, "p")
    assert taken is not None
    assert not await world.store.report(owner.node, result_of(attempt), take=taken.take)
    assert not await world.store.report(THERE, result_of(attempt), take=taken.take + 1)
    assert await world.store.report(THERE, result_of(attempt), take=taken.take)
    assert not await world.store.report(THERE, result_of(attempt), take=taken.take)
    assert (await world.store.pool_work(WorkPage("p", Cut()))).elements == ()
    assert len((await world.store.fetch(HERE, [group])).messages) == 1


@SUITE.check
async def an_outcome_is_read_and_withdrawn(world: World) -> None:
    owner = await world.owner()
    act = Act(run=RunActed(run=RunKey("wf", 1, 1), action=RunAction.STOP, user="alice"))
    number = await world.store.send(Letter(ref="act-1", to_group=5, body=act))
    assert await world.store.outcome(number) is None
    outcome = Outcome(applied=True, attempt=AttemptKey(RunKey("wf", 1, 1), "s", 2))
    await owner.commit(5, Decided(answered={number: outcome}))
    assert await world.store.outcome(number) == outcome
    assert await world.store.send(Letter(ref="act-1", to_group=5, body=act)) == number
    assert await world.store.withdraw(number)
    await refusal(NotFound, world.store.outcome(number))


@SUITE.check
async def a_sweep_deletes_what_nobody_will_read(world: World) -> None:
    owner = await world.owner()
    for node in (THERE, NodeId("dead")):
        await world.store.join(node)
    await world.store.bury(NodeId("dead"), 1, expired=False)
    for node in (THERE, NodeId("dead"), NodeId("unknown")):
        await world.store.send(Letter(ref=node, to_node=node, body=Log(at=1)))
    act = Act(run=RunActed(run=RunKey("wf", 1, 1), action=RunAction.STOP, user="alice"))
    before = await world.store.now()
    answered = await world.store.send(Letter(ref="answered", to_group=5, body=act))
    waiting = await world.store.send(Letter(ref="waiting", to_group=5, body=act))
    await owner.commit(5, Decided(answered={answered: Outcome(applied=True)}))
    after = await world.store.now() + 1
    assert await world.store.sweep_outbox(before) == 2  # dead and unknown; the action is not old enough
    assert await world.store.sweep_outbox(after) == 1
    assert await world.store.sweep_outbox(after) == 0
    assert [each.id for each in (await world.store.fetch(HERE, [5])).messages] == [waiting]
    assert len((await world.store.fetch(THERE, [])).messages) == 1


@SUITE.check
async def what_waits_is_counted(world: World) -> None:
    assert await world.store.messages_waiting() == (0, None)
    before = await world.store.now()
    for ref in ("a", "b"):
        await world.store.send(Letter(ref=ref, to_group=1, body=Log(at=1)))
    count, oldest = await world.store.messages_waiting()
    assert count == 2
    assert near(oldest, before)
    assert (await world.store.messages_waiting(most=1))[0] == 1


@SUITE.check
async def what_is_answered_waits_no_more(world: World) -> None:
    owner = await world.owner()
    act = Act(run=RunActed(run=RunKey("wf", 1, 1), action=RunAction.STOP, user="alice"))
    done = await world.store.send(Letter(ref="done", to_group=5, body=act))
    assert (await world.store.messages_waiting())[0] == 1
    await owner.commit(5, Decided(answered={done: Outcome(applied=True)}))
    assert await world.store.messages_waiting() == (0, None)
