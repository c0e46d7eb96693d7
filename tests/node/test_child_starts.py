"""A child that is just being started: whoever ends its step waits for the answer to that start."""

from tests.node.tank import ANN, Fish, Tank, flow, work

from stretto.actions.publish import publish
from stretto.actions.resume_attempt import resume_attempt
from stretto.actions.set_breakpoint import set_breakpoint
from stretto.actions.stop import stop
from stretto.definition.parse import Options, load
from stretto.engine.effects import LookForBreakpoint, StartChild
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.request import BreakpointRequest
from stretto.node.asks import Ask, Carry

CALL = (
    "    - subworkflow: {id: call, params: {subworkflow_id: {type: STRING, value: kid}, "
    "subworkflow_version: {type: STRING, value: latest}}}\n"
)
PARENT = f"properties: {{owner: ann}}\nworkflow:\n  id: parent\n  steps:\n{CALL}"


def is_held(ask: Ask) -> bool:
    return isinstance(ask, Carry) and isinstance(ask.effect, LookForBreakpoint | StartChild)


def answer(fish: Fish, kind: type) -> None:
    """Answer what was held of one kind."""
    (ask,) = [each for each in fish.holding if isinstance(each, Carry) and isinstance(each.effect, kind)]
    fish.holding.remove(ask)
    fish.answer(ask)


def test_the_answer_to_something_else_does_not_end_the_start_of_a_child() -> None:
    """The look for a breakpoint is answered while the start is under way; then the run is stopped."""
    tank = Tank()
    (kid,) = load(flow(work("w"), name="kid"), Options())
    (parent,) = load(PARENT, Options())
    for definition in (kid, parent):
        tank.do(publish(tank.store, ANN, definition, hints=tank))
    request = BreakpointRequest(workflow_id="parent", step_id="call")
    tank.do(set_breakpoint(tank.store, ANN, request))
    fish = tank.fish()
    tank.settle()
    fish.held = is_held
    run = tank.start_again("parent")
    tank.settle()
    assert tank.steps(run) == {"call": "PAUSED"}
    tank.do(resume_attempt(tank.store, ANN, AttemptKey(run, "call", 1), hints=tank))
    tank.settle()
    assert tank.steps(run) == {"call": "RUNNING"}
    answer(fish, LookForBreakpoint)
    tank.settle()
    tank.do(stop(tank.store, ANN, "parent", 1, hints=tank))
    tank.settle()
    assert tank.status(run) == "IN_PROGRESS"  # maybe there is a child
    answer(fish, StartChild)
    tank.advance(10_000)
    assert tank.status(run) == "STOPPED"
    assert tank.status(RunKey("kid", 1, 1)) == "STOPPED"
