"""Nodes, beats, burials, claims."""

from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import Conflict
from stretto.ports.commit import Decided
from stretto.ports.groups import BEAT_LASTS, NodeState
from stretto.ports.messages import Ask, Letter, Log
from stretto.ports.paging import Cut
from stretto.ports.places import GROUPS
from stretto.ports.retention import Aged
from stretto.ports.rows import Lease, NodeId
from stretto.ports.suspicion import DEATHS_TO_BE_GUILTY, NONE, Suspect
from stretto.ports.work import Work, WorkPage
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.world import World, near, refusal

SUITE = Suite("groups")
A, B = NodeId("node-a"), NodeId("node-b")


def suspect(what: RunKey | int, at: str = "load") -> Suspect:
    return Suspect(what=what, at=at)


@SUITE.check
async def a_database_is_made_with_its_groups(world: World) -> None:
    groups = await world.store.groups()
    assert [each.group for each in groups] == list(range(GROUPS))
    assert all(each.owner is None and each.falls == 0 for each in groups)


@SUITE.check
async def a_node_joins_once_and_beats(world: World) -> None:
    heard = await world.store.join(A, address="host:1")
    (row,) = heard.nodes
    assert (row.node, row.state, row.beats, row.address) == (A, NodeState.ALIVE, 1, "host:1")
    assert near(row.expires_at, heard.now + BEAT_LASTS)
    await refusal(Conflict, world.store.join(A))
    await world.advance(2_000)
    again = await world.store.beat(A)
    assert again is not None
    assert again.now >= heard.now + 2_000
    assert again.nodes[0].beats == 2
    assert near(again.nodes[0].expires_at, again.now + BEAT_LASTS)
    assert await world.store.beat(B) is None


@SUITE.check
async def a_silent_node_is_buried_after_its_expiry(world: World) -> None:
    owner = await world.owner("node-a", most=3)
    await world.store.join(B)
    assert await world.store.bury(A, 1) is None  # not expired
    await world.advance(BEAT_LASTS + 1)
    assert await world.store.bury(A, 2) is None  # it is not the beat that was watched
    burial = await world.store.bury(A, 1)
    assert burial is not None
    assert burial.groups == (0, 1, 2)
    assert await world.store.bury(A, 1) is None  # it was buried before
    assert await world.store.bury(NodeId("nobody"), 1) is None
    assert await world.store.beat(A) is None
    rows = {each.node: each for each in await world.store.nodes()}
    assert rows[A].state is NodeState.DEAD
    assert rows[A].buried_at is not None
    for group in (await world.store.groups())[:3]:
        assert (group.owner, group.falls) == (None, 1)
        assert group.generation > owner.leases[group.group].generation
    assert await world.store.claim(A, 5) == []


@SUITE.check
async def who_knows_better_than_the_clock_buries_at_once(world: World) -> None:
    await world.store.join(A)
    assert await world.store.beat(A) is not None
    assert await world.store.bury(A, 1, expired=False) is None
    assert await world.store.bury(A, 2, expired=False) is not None


@SUITE.check
async def a_burial_deletes_mail_and_frees_work(world: World) -> None:
    await world.publish()
    owner = await world.owner("node-a")
    run = await world.live(owner)
    attempt = AttemptKey(run, "step", 1)
    group = await owner.group_of(run)
    work = Work(attempt=attempt, launch=1, pool="gpu", group=group)
    await owner.decide(run, work=(work,))
    await world.store.join(B)
    await world.store.send(Letter(ref="ask", to_node=B, body=Ask(attempt=attempt, launch=1)))
    await world.store.send(Letter(ref="log", to_group=group, body=Log(at=1)))
    taken = await world.store.take_work(B, "gpu")
    assert taken is not None
    assert await world.store.bury(B, 1, expired=False) is not None
    (free,) = (await world.store.pool_work(WorkPage("gpu", Cut()))).elements
    assert (free.taken_by, free.take) == (None, 1)
    mail = await world.store.fetch(B, [group])
    assert [each.ref for each in mail.messages] == ["log"]


@SUITE.check
async def what_three_owners_in_a_row_died_of_is_set_aside(world: World) -> None:
    await world.publish()
    owner = await world.owner("node-1")
    run = await world.start()
    group = await owner.group_of(run)
    other = (group + 1) % GROUPS
    message = await world.store.send(Letter(ref="x", to_group=other, body=Log(at=1)))
    third, fourth = (group + 2) % GROUPS, (group + 3) % GROUPS
    for death in (1, 2, 3):
        await world.store.note_suspects({owner.leases[group]: [suspect(RunKey("innocent", death, 1))]})
        notes = {
            owner.leases[group]: [suspect(run), suspect(RunKey("innocent", death, 1))],
            owner.leases[other]: [suspect(message)],
            owner.leases[third]: [suspect(RunKey("unknown", 1, 1))],
            owner.leases[fourth]: [suspect(999_999)],
        }
        for _ in range(2):  # whoever does not know whether it was heard says it again
            assert await world.store.note_suspects(notes) == frozenset()
        assert (await world.store.groups())[group].suspicion.noted[0] == suspect(run)
        burial = await world.store.bury(owner.node, 1, expired=False)
        assert burial is not None
        assert (burial.quarantined, burial.parked) == (((run,), (message,)) if death == 3 else ((), ()))
        owner = await world.owner(f"node-{death + 1}")
    assert (await world.row(run)).quarantined
    assert (await world.store.fetch(B, range(GROUPS))).admitted == ()
    assert (await world.store.fetch(B, [other])).messages == ()
    left = {each.what for row in await world.store.groups() for each in row.suspicion.accused}
    assert left == {RunKey("innocent", death, 1) for death in (1, 2, 3)}
    assert not any(row.suspicion.noted for row in await world.store.groups())


@SUITE.check
async def an_operation_that_has_returned_is_not_accused_any_more(world: World) -> None:
    await world.publish()
    run = await world.start()
    for death in range(1, 5):
        owner = await world.owner(f"node-{death}")
        lease = owner.leases[await owner.group_of(run)]
        if death == 3:
            await world.store.note_suspects({lease: [suspect(run)]})
            await world.store.note_suspects({lease: []})
        await world.store.note_suspects({lease: [suspect(run)]})
        burial = await world.store.bury(owner.node, 1, expired=False)
        assert burial is not None
        assert burial.quarantined == ()


@SUITE.check
async def a_suspect_that_has_ended_is_left_alone(world: World) -> None:
    """Nobody would let it out again: it stays what it became."""
    await world.publish()
    owner = await world.owner("node-0")
    run = await world.live(owner)
    await owner.end(run)
    for death in range(DEATHS_TO_BE_GUILTY):
        owner = owner if not death else await world.owner(f"node-{death}")
        await world.store.note_suspects({owner.leases[await owner.group_of(run)]: [suspect(run)]})
        burial = await world.store.bury(owner.node, 1, expired=False)
        assert burial is not None
        assert burial.quarantined == ()
    assert (await world.row(run)).quarantined is None


@SUITE.check
async def deaths_at_different_operations_do_not_add_up(world: World) -> None:
    """Nor is anything forgotten because a node leaves in order; but what that one was doing is innocent."""
    await world.publish()
    run = await world.start()
    for death in range(1, 7):
        owner = await world.owner(f"node-{death}")
        lease = owner.leases[await owner.group_of(run)]
        await world.store.note_suspects({lease: [suspect(run, at=f"event {death % 3}")]})
        burial = await world.store.bury(owner.node, 1, expired=False)
        assert burial is not None
        assert burial.quarantined == ()
    owner = await world.owner("node-7")
    lease = owner.leases[await owner.group_of(run)]
    await world.store.note_suspects({lease: [suspect(run, at="event 1")]})
    await world.store.leave(owner.node)
    left = (await world.store.groups())[lease.group].suspicion
    assert (left.noted, {(each.at, each.deaths) for each in left.accused}) == (
        (),
        {("event 0", 2), ("event 2", 2)},
    )


@SUITE.check
async def only_an_owner_names_a_suspect_or_calms(world: World) -> None:
    owner = await world.owner("node-a", most=1)
    (lease,) = owner.leases.values()
    late = Lease(lease.group, lease.generation - 1)
    assert await world.store.note_suspects({late: [suspect(5)]}) == {lease.group}
    assert (await world.store.groups())[lease.group].suspicion == NONE
    assert await world.store.note_suspects({}) == frozenset()
    assert await world.store.bury(A, 1, expired=False) is not None
    again = await world.owner("node-b", most=1)
    (mine,) = again.leases.values()
    await world.store.note_suspects({mine: [suspect(5)]})
    await world.store.calm([lease])
    assert (await world.store.groups())[0].falls == 1
    await world.store.calm([mine])
    calmed = (await world.store.groups())[0]
    assert (calmed.falls, calmed.suspicion, calmed.owner) == (0, NONE, B)


@SUITE.check
async def a_claim_takes_the_lowest_free_groups(world: World) -> None:
    await world.store.join(A)
    await world.store.join(B)
    first = await world.store.claim(A, 3)
    assert [each.group for each in first] == [0, 1, 2]
    assert [each.group for each in await world.store.claim(B, 2)] == [3, 4]
    rest = await world.store.claim(B, GROUPS)
    assert len(rest) == GROUPS - 5
    assert await world.store.claim(A, 1) == []
    assert await world.store.claim(NodeId("nobody"), 1) == []


@SUITE.check
async def each_claim_has_a_new_generation(world: World) -> None:
    owner = await world.owner("node-a", most=2)
    leases = list(owner.leases.values())
    assert await world.store.give_up(A, leases[:1]) == [0]
    assert await world.store.give_up(A, leases[:1]) == []
    assert await world.store.give_up(B, leases[1:]) == []
    await world.store.join(B)
    (lease,) = await world.store.claim(B, 1)
    assert lease.group == 0
    assert lease.generation > leases[0].generation


@SUITE.check
async def a_claim_again_bumps_what_is_ours(world: World) -> None:
    owner = await world.owner("node-a", most=2)
    first, second = owner.leases.values()
    assert await world.store.give_up(A, [second]) == [second.group]
    await world.store.join(B)
    await world.store.claim(B, 1)
    (again,) = await world.store.claim_again(A, [first, second])
    assert again.group == first.group
    assert again.generation > first.generation
    assert await world.store.claim_again(A, [first]) == []  # not the current one any more
    fenced = await owner.commit(first.group, Decided())
    assert fenced.fenced == {first.group}


@SUITE.check
async def a_leaving_node_claims_no_more_but_commits(world: World) -> None:
    owner = await world.owner("node-a", most=1)
    await world.store.start_leaving(A)
    await world.store.start_leaving(A)
    await world.store.start_leaving(NodeId("nobody"))
    (row,) = await world.store.nodes()
    assert row.state is NodeState.LEAVING
    assert await world.store.claim(A, 1) == []
    assert await world.store.beat(A) is not None
    assert not (await owner.commit(0, Decided())).fenced


@SUITE.check
async def who_leaves_leaves_nothing_behind(world: World) -> None:
    owner = await world.owner("node-a", most=1)
    attempt = AttemptKey(RunKey("wf", 1, 1), "s", 1)
    await world.store.send(Letter(ref="ask", to_node=A, body=Ask(attempt=attempt, launch=1)))
    await world.store.leave(A)
    await world.store.leave(A)
    assert await world.store.nodes() == []
    assert (await world.store.fetch(A, [])).messages == ()
    group = (await world.store.groups())[0]
    assert (group.owner, group.falls) == (None, 0)
    assert (await owner.commit(0, Decided())).fenced == {0}


@SUITE.check
async def the_dead_are_forgotten_in_time(world: World) -> None:
    for name in ("x", "y", "z"):
        await world.store.join(NodeId(name))
    before = await world.store.now()
    for name in ("x", "y"):
        await world.store.bury(NodeId(name), 1, expired=False)
    after = await world.store.now() + 1
    assert await world.store.prune(Aged.NODES, before) == 0
    assert await world.store.prune(Aged.NODES, after, most=1) == 1
    assert await world.store.prune(Aged.NODES, after) == 1
    assert [each.node for each in await world.store.nodes()] == ["z"]
