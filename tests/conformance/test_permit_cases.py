"""Behaviour cases about who hands permits out. In Maestro that is one process with a copy of all rows in its
memory; here a grant is a transaction that any node may make, and keeps nothing. What must be the same: all
that happens to a tag or a step is followed by a look at the tags that it concerns, and at no others.
"""

from collections.abc import Callable
from typing import Any

import pytest
from tests.conformance.behaviour import Then
from tests.conformance.rule_cases import CASES
from tests.unit.actions.world import ANN, World, flow, going_on

from stretto.actions.tag_permits import delete_tag_permit, set_tag_permit
from stretto.engine.events import ResultState
from stretto.model.permit import TagPermitRequest
from stretto.node.perform import queues
from stretto.node.perform.queues import Queues
from stretto.node.settings import NodeSettings
from stretto.ports.hints import SILENT
from stretto.ports.paging import Cut
from stretto.ports.permits import HoldersOf, LineFor

pytestmark = pytest.mark.conformance
IDS = ("tag-action-codes", "tag-start-paging")
GROUPS = range(128)


class Watched(World):
    """A world that notes which tags somebody looked at."""

    def __init__(self, *limits: tuple[str, int]) -> None:
        super().__init__(going_on)
        self.looked: list[str] = []
        grant = self.store.grant

        async def watched(tags: Any, rule: Any) -> Any:
            self.looked += tags
            return await grant(tags, rule)

        self.swap("grant", watched)
        for tag, limit in limits:
            self.limit(tag, limit)

    def limit(self, tag: str, most: int) -> None:
        self.do(set_tag_permit(self.store, ANN, TagPermitRequest(tag=tag, max_allowed=most)))

    def waiting(self, tag: str) -> int:
        return len(self.do(self.store.permits(LineFor(tag, Cut()))).elements)

    def held(self, tag: str) -> int:
        return len(self.do(self.store.permits(HoldersOf(tag, Cut()))).elements)

    def sweep(self) -> None:
        self.do(Queues(self.store, SILENT).sweep(GROUPS, 0))

    def looks_of(self, happens: Callable[[], object]) -> set[str]:
        self.looked.clear()
        happens()
        self.settle()
        return set(self.looked)


def steps_with_tags(*tags: str) -> str:
    return flow(*(f"{{id: s{n}, type: Python, tags: [{tag}]}}" for n, tag in enumerate(tags)))


def check_codes(given: Any, then: Then) -> None:
    names = given["codes"].values()
    wanted = {name: then.take(name) for name in names}
    assert set(wanted) == {"default", "tag change", "step added", "tag delete", "step release"}
    world = Watched(("tag1", 0), ("tag2", 0), ("tag3", 0))
    world.publish(steps_with_tags("tag1", "tag2"))

    assert world.looks_of(world.start) == {"tag1", "tag2"}  # step added: its tags, and steps are read
    assert (world.waiting("tag1") + world.waiting("tag2") > 0) is (wanted["step added"][1] > 0)

    assert world.looks_of(lambda: world.limit("tag1", 1)) == {"tag1"}  # tag change: the tag is read
    assert (world.held("tag1") > 0) is (wanted["tag change"][0] > 0)

    assert world.looks_of(world.sweep) == {"tag2"}  # default: all that somebody waits for, and nothing else
    assert wanted["default"][:2] == [1, 1]
    assert wanted["default"][2:] == [0, 0]
    assert (world.held("tag1"), world.waiting("tag2")) == (1, 1)  # nothing was removed

    release = lambda: world.report("s0", ResultState.DONE)  # noqa: E731
    assert world.looks_of(release) == {"tag1"}  # step release: its rows are gone
    assert (world.held("tag1") == 0) is (wanted["step release"][3] > 0)

    gone = lambda: world.do(delete_tag_permit(world.store, ANN, "tag2"))  # noqa: E731
    assert world.looks_of(gone) == {"tag2"}  # tag delete: nobody need wait for it now
    assert (world.do(world.store.tag("tag2")) is None) is (wanted["tag delete"][2] > 0)
    assert world.steps()["s1"] == "RUNNING"

    assert then.take("next_poll") == "scan interval"
    assert NodeSettings().sweep_every == 15_000


def check_paging(given: Any, then: Then) -> None:
    """Whoever begins to look after tags reads them in parts, each from where the last one ended."""
    size = given["batch_size"]
    world = Watched(*((tag, 0) for tag in given["tags"]))
    world.publish(steps_with_tags(*given["tags"]))
    world.start()
    world.settle()
    cursors = [each.removeprefix("cursor ").strip('"') for each in then.take("tag_pages")]
    pages = [world.do(world.store.tags(Cut(most=size, above=at or None))) for at in cursors]
    assert [[each.tag for each in page.elements] for page in pages] == [given["tags"], []]
    assert not pages[0].after  # a full page says itself that nothing follows
    waiting = [world.do(world.store.permits(LineFor(tag, Cut(most=size)))) for tag in given["tags"]]
    assert sum(len(page.elements) for page in waiting) == given["steps"]
    assert len(waiting) == then.take("step_pages")
    batches: list[list[str]] = []
    grant = world.store.grant

    async def noted(tags: Any, rule: Any) -> Any:
        batches.append(list(tags))
        return await grant(tags, rule)

    world.swap("grant", noted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queues, "TAGS_AT_ONCE", size - 1)
        world.sweep()
    assert batches == [["tag1"], ["tag2"]]


CHECKS: dict[str, Callable[[Any, Then], None]] = {
    "tag-action-codes": check_codes,
    "tag-start-paging": check_paging,
}


@pytest.mark.parametrize("case_id", IDS)
def test_case(case_id: str) -> None:
    then = Then(CASES[case_id])
    CHECKS[case_id](CASES[case_id]["given"], then)
    then.assert_all_taken()
