"""Lists of workflows: filters, tags, words, and what lists show of versions."""

from typing import Any

from stretto.actions.parts.workflow_change import Activation, Change, change_workflow
from stretto.model.properties import PropertiesSnapshot
from stretto.model.status import RunStatus
from stretto.model.tag import Tag
from stretto.model.trigger import CronTrigger
from stretto.model.user import User
from stretto.model.workflow import Criticality, Workflow, WorkflowVersion
from stretto.ports.paging import Cut
from stretto.ports.workflows import VersionHead, VersionKey, WorkflowFilter, read_workflow
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.world import ALICE, World

SUITE = Suite("workflow_lists")


@SUITE.check
async def workflows_are_listed_by_id_and_filtered(world: World) -> None:
    for name in ("b.two", "a.one", "b.one"):
        owner = User(name="bob" if name == "b.one" else "alice")
        tags = (Tag(name="hot"),) if name.startswith("b") else None
        await world.publish(name, properties=PropertiesSnapshot(owner=owner, tags=tags))
    await world.publish("c.none", properties=PropertiesSnapshot())

    async def ids(cut: Cut, wanted: WorkflowFilter) -> list[str]:
        return [each.workflow_id for each in (await world.store.workflows(cut, wanted)).elements]

    assert await ids(Cut(), WorkflowFilter()) == ["a.one", "b.one", "b.two", "c.none"]
    assert await ids(Cut(most=2, above="a.one"), WorkflowFilter()) == ["b.one", "b.two"]
    assert await ids(Cut(most=1, below="b.two"), WorkflowFilter()) == ["b.one"]
    assert await ids(Cut(), WorkflowFilter(prefix="b.")) == ["b.one", "b.two"]
    assert await ids(Cut(), WorkflowFilter(owner="alice")) == ["a.one", "b.two"]
    assert await ids(Cut(), WorkflowFilter(tag="hot", owner="bob")) == ["b.one"]
    more = PropertiesSnapshot(tags=(Tag(name="hotter"), Tag(name="cold"), Tag(name="hot")))
    await world.publish("c.none", properties=more)
    assert await world.store.workflow_tags("ho") == ["hot", "hotter"]
    assert await world.store.workflow_tags("", most=2) == ["cold", "hot"]
    assert await world.store.workflow_tags("hott") == ["hotter"]
    assert await world.store.workflow_tags("z") == []
    page = await world.store.workflows(Cut(most=1), WorkflowFilter(prefix="b."))
    assert (page.before, page.after) == (False, True)
    rows = await world.store.workflow_rows(["b.one", "a.one", "unknown"])
    assert rows == {each: await read_workflow(world.store, each) for each in ("a.one", "b.one")}


@SUITE.check
async def workflows_are_found_by_tags_of_their_default_version(world: World) -> None:
    async def found(tag: str) -> list[str]:
        page = await world.store.workflows(Cut(), WorkflowFilter(tag=tag))
        return [each.workflow_id for each in page.elements]

    async def change(**more: Any) -> None:
        await change_workflow(world.store, "wf", lambda _found: Change(answer=None, **more))

    def tagged(*names: str) -> WorkflowVersion:
        tags = tuple(Tag(name=name, attributes={"of": (1, 2)}) for name in names)
        return WorkflowVersion(workflow=Workflow(id="wf", tags=tags or None))

    both = PropertiesSnapshot(owner=ALICE, tags=(Tag(name="own"), Tag(name="both")))
    await world.publish("other", properties=PropertiesSnapshot(owner=ALICE, tags=(Tag(name="own"),)))
    await world.publish(version=tagged("first", "both"), properties=both)
    assert [await found(tag) for tag in ("first", "both", "own")] == [["wf"], ["wf"], ["other", "wf"]]
    assert await world.store.workflow_tags("") == ["both", "first", "own"]
    row = await read_workflow(world.store, "wf")
    assert row is not None
    key = VersionKey("wf", row.internal_id, 1)
    heads = await world.store.version_heads([key])
    assert heads[key].tags == tagged("first", "both").workflow.tags
    # A version that is not active has no say.
    await change(version=tagged("second"))
    assert [await found(tag) for tag in ("first", "second")] == [["wf"], []]
    await change(activation=Activation(version_id=2))
    assert [await found(tag) for tag in ("first", "second", "both")] == [[], ["wf"], ["wf"]]
    # Other properties keep what the definition says; without an active version the latest one counts.
    await change(properties=PropertiesSnapshot(owner=ALICE))
    assert [await found(tag) for tag in ("second", "both", "own")] == [["wf"], [], ["other"]]
    await change(version=tagged("third"))
    await change(activation=Activation(version_id=0))
    assert [await found(tag) for tag in ("second", "third")] == [[], ["wf"]]
    await change(version=tagged())
    assert [await found(tag) for tag in ("second", "third")] == [[], []]
    await change(activation=Activation(version_id=1))
    await change(timeline=())
    assert await world.store.workflow_tags("") == ["both", "first", "own"]


@SUITE.check
async def workflows_are_found_by_words_and_by_how_they_stand(world: World) -> None:
    for workflow_id in ("Load_eu", "load-us", "report"):
        await world.publish(workflow_id)
    await world.publish("report", activation=Activation(version_id=0))
    owner = await world.owner()
    hour = await world.store.now()
    hour -= hour % 3_600_000
    await owner.end(await world.live(owner, "report"), RunStatus.FAILED)
    await world.start("load-us")

    async def ids(**fields: Any) -> list[str]:
        return [
            row.workflow_id for row in (await world.store.workflows(Cut(), WorkflowFilter(**fields))).elements
        ]

    assert await ids(words=("LOAD",)) == ["Load_eu", "load-us"]
    assert await ids(words=("load", "u", "eu")) == ["Load_eu"]
    assert await ids(words=("_",)) == ["Load_eu"]  # no more than it says
    assert await ids(words=("%",)) == []
    assert await ids(words=("o",), prefix="l") == ["load-us"]
    assert await ids(active=True) == ["Load_eu", "load-us"]
    assert await ids(active=False) == ["report"]
    assert await ids(has=RunStatus.FAILED) == ["report"]
    assert await ids(has=RunStatus.FAILED, since=hour + 7_200_000) == []
    assert await ids(has=RunStatus.SUCCEEDED) == []
    assert await ids(has=RunStatus.CREATED) == ["load-us"]
    assert await ids(has=RunStatus.IN_PROGRESS) == []
    unended = await world.store.unended(["load-us", "report", "unknown"])
    assert unended == {"load-us": {RunStatus.CREATED: 1}}


@SUITE.check
async def heads_of_versions_come_without_their_steps(world: World) -> None:
    await world.publish()
    await world.publish("other")
    workflow = Workflow(
        id="other",
        name="Other",
        criticality=Criticality.HIGH,
        time_triggers=(CronTrigger(cron="0 0 * * *", timezone="UTC"),),
    )
    await world.publish("other", version=WorkflowVersion(workflow=workflow))
    rows = await world.store.workflow_rows(["wf", "other"])
    first = VersionKey("wf", rows["wf"].internal_id, 1)
    second = VersionKey("other", rows["other"].internal_id, 2)
    for _ in range(2):  # whether or not they are remembered
        heads = await world.store.version_heads([first, second, first._replace(version_id=9)])
        assert heads == {
            first: VersionHead(name="v1"),
            second: VersionHead(name="Other", criticality=Criticality.HIGH, time_triggers=1),
        }
    assert await world.store.version_heads([VersionKey("unknown", 1, 1)]) == {}
    assert await world.store.version_heads([]) == {}
