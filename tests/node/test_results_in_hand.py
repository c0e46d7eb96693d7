"""A result is in hand until it is stored, whatever was said before it."""

from tests.node.tank import GOING_ON, Tank, flow, work

from stretto.node.asks import Commit, FetchMail
from stretto.ports.runtime import Done


def test_a_result_that_comes_while_an_earlier_word_is_stored_is_not_lost() -> None:
    tank = Tank()
    one = tank.fish()
    one.runtime.answers["start a"] = [GOING_ON]
    tank.settle()
    run = tank.start(flow(work("a", "b"), work("b")))
    # The work says that it goes on; while that is on its way into the store, it ends, and the node must go.
    one.held = lambda ask: isinstance(ask, Commit) and ("start", "a", 1) in one.runtime.calls
    tank.settle()
    assert [type(ask) for ask in one.holding] == [Commit]
    one.report(run, "a", Done())
    one.node.stop()
    one.let_go()
    tank.settle()
    assert one.node.gone
    other = tank.fish()
    tank.advance(60_000)
    assert tank.status(run) == "SUCCEEDED"
    assert [call[:2] for call in other.runtime.calls] == [("start", "b")]


def test_what_is_launched_while_launches_are_looked_at_is_started_once() -> None:
    """A take-over finds a result in its mail: the next step begins in the same turn in which every launch is
    looked at, before its own work could.
    """
    tank = Tank()
    one = tank.fish()
    one.runtime.answers = {f"start {step}": [GOING_ON] for step in "ab"}
    tank.settle()
    run = tank.start(flow(work("a", "b"), work("b")))
    tank.settle()
    other = tank.fish()
    other.runtime.answers["start b"] = [GOING_ON]
    other.held = lambda ask: isinstance(ask, FetchMail)
    one.node.stop()  # hands the run over, and goes on with its work
    tank.settle()
    one.report(run, "a", Done())
    tank.settle()
    other.let_go()
    tank.advance(10_000)
    assert [call[:2] for call in other.runtime.calls] == [("start", "b")]
    other.report(run, "b", Done())
    tank.advance(10_000)
    assert tank.status(run) == "SUCCEEDED"
