"""A result is in hand until it is stored, whatever was said before it."""

from tests.node.tank import GOING_ON, Tank, flow, work

from stretto.node.asks import Commit
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
