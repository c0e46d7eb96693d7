"""What carries an end on, and can not be decided: nobody says it again, so it comes again a little later."""

import pytest
from tests.node.tank import GOING_ON, Tank, flow, work
from tests.node.test_faults import PARENT, act, broken_for
from tests.node.test_shared_room import wide

from stretto.engine import events as happened
from stretto.engine.records import RunKey
from stretto.engine.settings import EngineSettings
from stretto.node.asks import Carry
from stretto.node.settings import NodeSettings


def broken_once(monkeypatch: pytest.MonkeyPatch, kind: type) -> list[None]:
    """The first event of a kind can not be decided. Empty once that has happened."""
    left = [None]
    broken_for(monkeypatch, lambda event: isinstance(event, kind) and bool(left) and not left.clear())  # type: ignore[func-returns-value]
    return left


def test_the_end_of_a_large_loop_goes_on_after_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    tank = Tank(NodeSettings(engine=EngineSettings(records_per_decision=1), park_after=300))
    fish = tank.fish()
    fish.runtime.answers["start x"] = [GOING_ON]
    run = tank.settle().start(wide("a", 5))
    tank.advance(2_000)
    left = broken_once(monkeypatch, happened.Resumed)
    act(tank, run, happened.RunAction.STOP)
    assert not left
    assert tank.status(run) == "IN_PROGRESS"
    assert tank.row(run).due_at == 0  # also a node that takes over goes on with it
    tank.advance(20_000)
    assert tank.status(run) == "STOPPED"


def test_a_child_is_stopped_although_it_could_not_be_decided_that_it_has_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would not end by itself."""
    tank = Tank(park_after=300)
    fish = tank.fish()
    fish.runtime.answers["start a"] = [GOING_ON]
    tank.settle().start(flow(work("a"), name="kid"))
    tank.settle()
    fish.held = lambda ask: isinstance(ask, Carry)
    run = tank.start(PARENT.replace("sync: false", "sync: true"))
    tank.settle()
    act(tank, run, happened.RunAction.STOP)
    left = broken_once(monkeypatch, happened.ChildStarted)
    fish.let_go()
    tank.advance(5_000)
    assert not left
    assert tank.status(RunKey("kid", 2, 1)) == "IN_PROGRESS"
    tank.advance(20_000)
    assert (tank.status(run), tank.status(RunKey("kid", 2, 1))) == ("STOPPED", "STOPPED")
