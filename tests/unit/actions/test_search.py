"""A few characters, and what somebody may mean by them."""

from typing import Any

import pytest
from tests.unit.actions.test_lists import EVE, keep, with_runs
from tests.unit.actions.world import ANN, NOOP, World, flow

from stretto.actions.add_tag import add_tag
from stretto.actions.announce import announce
from stretto.actions.caller import Caller
from stretto.actions.reading.search import LONGEST, MOST, Findings, just_before, search
from stretto.actions.restart import restart
from stretto.actions.tag_permits import set_tag_permit
from stretto.model.errors import Forbidden, InvalidRequest
from stretto.model.permit import TagPermitRequest
from stretto.model.request import InstanceRestartRequest, SignalRequest
from stretto.model.run_config import RunPolicy
from stretto.model.tag import Tag
from stretto.model.user import User


def found(world: World, text: str, caller: Caller = ANN) -> Findings:
    return world.do(search(world.store, caller, text))


def ids(findings: Findings) -> list[str]:
    return [line.workflow_id for line in findings.workflows]


def runs(findings: Findings) -> list[tuple[Any, ...]]:
    return [(run.workflow_id, run.workflow_instance_id, run.workflow_run_id) for run in findings.runs]


def test_workflows_by_how_they_begin_and_by_words() -> None:
    world = World()
    for name in ("load-eu", "eu-report", "eu-load", "other"):
        world.publish(flow(NOOP, name=name))
    assert ids(found(world, "eu")) == ["eu-load", "eu-report", "load-eu"]
    assert ids(found(world, " LOAD eu  ")) == ["eu-load", "load-eu"]
    assert ids(found(world, "eu load x y z and more")) == []
    keep(world, "eu-load")
    assert ids(found(world, "eu", EVE)) == ["eu-report", "load-eu"]
    for number in range(MOST + 2):
        world.publish(flow(NOOP, name=f"many-{number:02}"))
    assert len(found(world, "many").workflows) == MOST


def test_runs_by_their_names() -> None:
    world = with_runs()
    request = InstanceRestartRequest(restart_policy=RunPolicy.RESTART_FROM_BEGINNING, request_id="again-1")
    world.do(restart(world.store, ANN, "bad", 1, request))
    world.settle()
    assert runs(found(world, "bad/1")) == [("bad", 1, 2), ("bad", 1, 1)]
    assert runs(found(world, "bad/1/1:x/2")) == [("bad", 1, 1)]
    assert runs(found(world, "again-1")) == [("bad", 1, 2)]
    assert ("good", 2, 1) in runs(found(world, "good:2:1"))  # a correlation id
    for nothing in ("bad/9", "bad/1/9", "bad/", "nowhere/1"):
        assert runs(found(world, nothing)) == []
    keep(world, "bad")
    assert runs(found(world, "bad/1", EVE)) == []


def test_tags_and_signals_by_how_they_begin() -> None:
    world = World()
    world.publish(flow(NOOP, name="tagged"))
    for name in ("gpu-night", "cpu"):
        world.do(add_tag(world.store, ANN, "tagged", Tag(name=name)))
    for tag in ("gpu", "gpt", "h"):
        world.do(set_tag_permit(world.store, ANN, TagPermitRequest(tag=tag, max_allowed=1)))
    for name in ("a/b", "a/c", "gpu"):
        world.do(announce(world.store, ANN, SignalRequest(name=name)))
    both = found(world, "gpu")
    assert (both.tags, both.signals) == (("gpu", "gpu-night"), ("gpu",))
    assert found(world, "a/").signals == ("a/b", "a/c")
    assert found(world, "a/b").signals == ("a/b",)


def test_something_must_be_looked_for_by_somebody() -> None:
    for text in ("", "   ", "x" * (LONGEST + 1)):
        with pytest.raises(InvalidRequest):
            found(World(), text)
    with pytest.raises(Forbidden):
        found(World(), "x", Caller(user=User(name="x"), roles=frozenset()))


@pytest.mark.parametrize("text", ["a", "ab", "\ue000", "\0", "\U0010ffff"])
def test_just_before(text: str) -> None:
    before = just_before(text)
    assert before.encode()
    assert before < text or text == "\0"
