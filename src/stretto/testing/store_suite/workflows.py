"""Versions, properties, activation, deletion."""

from collections import Counter
from functools import partial

from stretto.actions.parts.workflow_change import Activation, Change, change_workflow, check_deletable
from stretto.model.errors import Conflict, InvalidRequest, NotFound, WrongState
from stretto.model.event import ChangeEvent
from stretto.model.properties import PropertiesSnapshot, RunStrategyRule
from stretto.model.runs import RunCounts
from stretto.model.status import RunStatus
from stretto.model.timeline import WorkflowChange
from stretto.model.user import User
from stretto.model.workflow import Workflow, WorkflowVersion
from stretto.ports.admission import TransactionScope, WorkflowDecision
from stretto.ports.messages import Log
from stretto.ports.paging import Cut
from stretto.ports.places import group_of_workflow
from stretto.ports.retention import Aged
from stretto.ports.rows import NodeId
from stretto.ports.run_snapshot import read_run
from stretto.ports.workflows import TOTALS_EVERY, Found, WorkflowFilter, read_workflow
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.owner import event
from stretto.testing.store_suite.world import ALICE, World, near, refusal

SUITE = Suite("workflows")


def near_slot(begin: int, moment: int) -> bool:
    """Whether it is the time in which totals are counted now, or the one that began since."""
    return begin - TOTALS_EVERY <= moment < begin + TOTALS_EVERY


def gone(found: Found) -> ChangeEvent:
    check_deletable("wf", found)
    return event("gone")


@SUITE.check
async def versions_are_numbered_from_one(world: World) -> None:
    for number in (1, 2, 3):
        await world.publish()
        row = await read_workflow(world.store, "wf")
        assert row is not None
        assert row.latest_version == row.active_version == number
        version = await world.store.version("wf", number)
        assert version is not None
        assert version.workflow.name == f"v{number}"
    assert await world.store.version("wf", 4) is None
    assert await world.store.version("other", 1) is None


@SUITE.check
async def a_change_that_is_refused_leaves_nothing(world: World) -> None:
    await world.publish()
    before = await read_workflow(world.store, "wf")

    def refuse(found: Found) -> Change[object]:
        raise WrongState(f"version {found.row and found.row.latest_version} is enough")

    error = await refusal(WrongState, change_workflow(world.store, "wf", refuse))
    assert error.message == "version 1 is enough"
    assert await read_workflow(world.store, "wf") == before
    unknown = change_workflow(world.store, "wf", lambda _found: _activate(9))
    await refusal(NotFound, unknown)
    assert await read_workflow(world.store, "wf") == before


def _always(change: Change[None], _found: Found) -> Change[None]:
    return change


def _activate(number: int) -> Change[None]:
    return Change(answer=None, activation=Activation(version_id=number, by=User(name="bob")))


@SUITE.check
async def a_new_workflow_needs_a_version_and_properties(world: World) -> None:
    version = WorkflowVersion(workflow=Workflow(id="wf"))
    nothing: Change[None] = Change(answer=None)
    half: Change[None] = Change(answer=None, version=version)
    await refusal(InvalidRequest, change_workflow(world.store, "wf", partial(_always, nothing)))
    await refusal(InvalidRequest, change_workflow(world.store, "wf", partial(_always, half)))
    assert await read_workflow(world.store, "wf") is None


@SUITE.check
async def activation_says_who_and_when(world: World) -> None:
    await world.publish()
    await world.publish(activation=None)
    row = await read_workflow(world.store, "wf")
    assert row is not None
    assert (row.active_version, row.latest_version, row.activated_by) == (1, 2, ALICE)
    await change_workflow(world.store, "wf", lambda _found: _activate(2))
    row = await read_workflow(world.store, "wf")
    assert row is not None
    assert row.activated_by == User(name="bob")
    assert near(row.activate_time, await world.store.now())
    await change_workflow(world.store, "wf", lambda _found: _activate(0))
    row = await read_workflow(world.store, "wf")
    assert row is not None
    assert (row.active_version, row.activated_by) == (0, User(name="bob"))
    assert near(row.activate_time, await world.store.now())


@SUITE.check
async def what_a_change_finds_is_what_stands(world: World) -> None:
    seen: list[Found] = []

    def look(found: Found) -> Change[object]:
        seen.append(found)
        return Change(answer="seen", properties=PropertiesSnapshot(owner=ALICE))

    await refusal(InvalidRequest, change_workflow(world.store, "wf", look))
    await world.publish()
    await world.start()
    await world.start(admit=False)
    await world.start(status=RunStatus.FAILED)
    assert await change_workflow(world.store, "wf", look) == "seen"
    new, known = seen
    assert new.row is None
    assert known.row is not None
    assert known.internal_id == known.row.internal_id
    assert known.counts == RunCounts(1, 1, 1)
    assert known.row.next_instance_id == 4


@SUITE.check
async def properties_have_a_history_without_collisions(world: World) -> None:
    await world.publish()  # all of these may come within one millisecond
    for name in ("b", "c"):
        change: Change[None] = Change(answer=None, properties=PropertiesSnapshot(owner=User(name=name)))
        await change_workflow(world.store, "wf", partial(_always, change))
    history = await world.store.properties_history("wf", Cut())
    assert [each.owner and each.owner.name for each in history.elements] == ["c", "b", "alice"]
    times = [each.create_time or 0 for each in history.elements]
    assert times == sorted(set(times), reverse=True)
    assert {each.workflow_id for each in history.elements} == {"wf"}
    row = await read_workflow(world.store, "wf")
    assert row is not None
    assert row.properties == history.elements[0]
    assert row.strategy.rule is RunStrategyRule.SEQUENTIAL  # nothing was said: the default


@SUITE.check
async def versions_are_paged_newest_first(world: World) -> None:
    for _ in range(5):
        await world.publish()

    async def names(cut: Cut) -> tuple[list[str | None], bool, bool]:
        page = await world.store.versions("wf", cut)
        return [each.workflow.name for each in page.elements], page.before, page.after

    assert await names(Cut(most=2)) == (["v5", "v4"], False, True)
    assert await names(Cut(most=2, below=4)) == (["v3", "v2"], True, True)
    assert await names(Cut(most=2, below=2)) == (["v1"], True, False)
    assert await names(Cut(most=2, above=0)) == (["v2", "v1"], True, False)
    assert await names(Cut(most=2, above=3)) == (["v5", "v4"], False, True)
    assert await names(Cut(most=2, below=1)) == ([], False, False)
    assert await names(Cut(most=2, above=5)) == ([], False, False)


@SUITE.check
async def the_timeline_is_newest_first_and_bounded(world: World) -> None:
    for number in range(4):
        change = WorkflowChange(author=ALICE, log=f"change {number}", timestamp=number)
        await world.publish(timeline=(change,))
    lines = await world.store.workflow_timeline("wf", most=3)
    assert [each.log for each in lines] == ["change 3", "change 2", "change 1"]
    assert await world.store.workflow_timeline("unknown") == []
    told = WorkflowChange(author=ALICE, log="told by a transaction", timestamp=9)
    await world.store.transact(
        "wf", TransactionScope(), lambda _found: WorkflowDecision(answer=None, timeline=(told,))
    )
    assert (await world.store.workflow_timeline("wf"))[0] == told


@SUITE.check
async def events_of_a_change_reach_the_home_group(world: World) -> None:
    await world.publish(events=(event("published"),))
    home = group_of_workflow("wf")
    mail = await world.store.fetch(NodeId("x"), [home])
    (message,) = mail.messages
    assert isinstance(message.body, Log)
    assert message.body.events == (event("published"),)
    assert message.to_group == home


@SUITE.check
async def the_overview_counts_what_has_not_ended(world: World) -> None:
    assert await world.store.workflow_overview("wf") is None
    await world.publish()
    empty = await world.store.workflow_overview("wf")
    assert empty is not None
    assert (dict(empty.statuses), empty.failed, empty.latest_instance_id) == ({}, 0, None)
    owner = await world.owner()
    await world.live(owner)
    await world.start()
    await world.start(admit=False)
    await world.start(status=RunStatus.FAILED)
    await world.start(status=RunStatus.STOPPED)
    overview = await world.store.workflow_overview("wf")
    assert overview is not None
    assert dict(overview.statuses) == {RunStatus.CREATED: 2, RunStatus.IN_PROGRESS: 1}
    assert (overview.failed, overview.latest_instance_id) == (1, 5)


@SUITE.check
async def a_workflow_with_unfinished_runs_is_not_deleted(world: World) -> None:
    await refusal(NotFound, world.store.delete_workflow("wf", gone))
    await world.publish()
    await world.start(admit=False)
    await refusal(WrongState, world.store.delete_workflow("wf", gone))
    assert await read_workflow(world.store, "wf") is not None


@SUITE.check
async def a_deleted_workflow_is_found_by_nobody(world: World) -> None:
    await world.publish(timeline=(WorkflowChange(author=ALICE, log="made", timestamp=1),))
    run = await world.start(status=RunStatus.SUCCEEDED)
    row = await world.store.delete_workflow("wf", gone)
    assert row.workflow_id == "wf"
    store = world.store
    assert await read_workflow(store, "wf") is None
    assert await store.workflow_rows(["wf"]) == {}
    assert await store.version("wf", 1) is None
    assert (await store.versions("wf", Cut())).elements == ()
    assert (await store.properties_history("wf", Cut())).elements == ()
    assert await store.workflow_timeline("wf") == []
    assert await store.workflow_overview("wf") is None
    assert (await store.workflows(Cut(), WorkflowFilter())).elements == ()
    assert await store.look_at_queue("wf") is None
    await refusal(NotFound, world.start())
    await refusal(NotFound, store.delete_workflow("wf", gone))
    assert await refusal(Conflict, world.publish()) is not None
    mail = await store.fetch(NodeId("x"), [group_of_workflow("wf")])
    assert [each.body.events for each in mail.messages if isinstance(each.body, Log)][-1] == (event("gone"),)
    assert await read_run(store, run) is not None  # until it is purged


@SUITE.check
async def a_purged_id_can_be_used_again(world: World) -> None:
    await world.publish()
    first = await read_workflow(world.store, "wf")
    await world.start(status=RunStatus.SUCCEEDED)
    await world.store.delete_workflow("wf", gone)
    while await world.store.purge("wf", most=1):
        pass
    await world.publish()
    again = await read_workflow(world.store, "wf")
    assert first is not None
    assert again is not None
    assert again.latest_version == 1
    assert again.next_instance_id == 2  # instance ids go on
    assert again.internal_id != first.internal_id


@SUITE.check
async def hourly_outcomes_are_counters(world: World) -> None:
    await world.publish()
    await world.publish("other")
    owner = await world.owner()
    before = await world.store.now()
    await owner.end(await world.live(owner))
    await owner.end(await world.live(owner), RunStatus.FAILED)
    await world.start(status=RunStatus.STOPPED)
    await world.start("other", status=RunStatus.STOPPED)
    hour = before - before % 3_600_000
    found = (await world.store.outcomes(["wf"], since=hour))[0]
    assert found.hour == hour
    assert dict(found.statuses) == {
        RunStatus.SUCCEEDED: 1,
        RunStatus.FAILED: 1,
        RunStatus.STOPPED: 1,
    }
    assert await world.store.outcomes(["wf"], since=hour + 3_600_000) == []
    totals = await world.store.totals(hour, hour + 7_200_000)
    summed = Counter(each for total in totals for each in Counter(total.statuses).elements())
    assert summed == {RunStatus.SUCCEEDED: 1, RunStatus.FAILED: 1, RunStatus.STOPPED: 2}
    assert all(total.begin % TOTALS_EVERY == 0 and near_slot(total.begin, before) for total in totals)
    (whole,) = await world.store.totals(hour, hour + 7_200_000, 7_200_000)
    assert (whole.begin, whole.statuses) == (hour, summed)
    assert await world.store.totals(0, hour) == []
    assert await world.store.prune(Aged.OUTCOMES, hour, most=10) == 0
    later = hour + 7_200_000
    assert await world.store.prune(Aged.OUTCOMES, later, most=1) == 1
    assert await world.store.prune(Aged.OUTCOMES, later, most=10) == 1 + len(totals)
    assert await world.store.totals(0, later) == []


@SUITE.check
async def stored_versions_do_not_change(world: World) -> None:
    await world.publish()
    first = await world.store.version("wf", 1)
    await world.publish()
    assert await world.store.version("wf", 1) == first
