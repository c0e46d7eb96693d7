"""A child that is just being started: whoever ends its step waits for the answer to that start."""

import pytest
from tests.node.tank import ANN, GOING_ON, Fish, Tank, flow, work

from stretto.actions.pause import pause
from stretto.actions.publish import publish
from stretto.actions.resume_attempt import resume_attempt
from stretto.actions.set_breakpoint import set_breakpoint
from stretto.actions.stop import kill, stop
from stretto.definition.parse import Options, load
from stretto.engine.effects import LookForBreakpoint, StartChild
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import Unavailable
from stretto.model.request import BreakpointRequest
from stretto.node.asks import Ask, Carry
from stretto.ports.failures import OutcomeUnknown, Stale
from stretto.testing.faults import Moment, interfered

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


TROUBLES = {
    "none": (None, Moment.BEFORE),
    "refused": (Unavailable("away"), Moment.BEFORE),
    "unanswered": (OutcomeUnknown("lost"), Moment.AFTER),
    "odd": (RuntimeError("broken"), Moment.AFTER),
}


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_run_that_is_loaded_again_waits_for_the_start_of_its_child(trouble: str, ends: bool) -> None:
    """A commit of it is refused while the child is being started: what is in memory is forgotten, but for the
    start. Nobody looks for the child before that is over, and nobody starts it beside that.
    """
    tank = Tank()
    broken: dict[str, tuple[Exception | None, Moment]] = {}

    async def interfere(call: str, when: Moment) -> None:
        error, moment = broken.get(call, (None, when))
        if when is moment and error is not None:
            del broken[call]
            raise error

    fish = tank.fish(interfered(tank.store, interfere))
    fish.runtime.answers["start w"] = [GOING_ON]
    (kid,) = load(flow(work("w"), name="kid"), Options())
    tank.do(publish(tank.store, ANN, kid, hints=tank))
    tank.settle()
    fish.held = is_held
    run = tank.start(PARENT)
    tank.settle()
    (start,) = fish.holding
    if ends:
        tank.do(stop(tank.store, ANN, "parent", 1, hints=tank))
        tank.settle()
    broken["commit"] = Stale("a row has moved on"), Moment.BEFORE
    tank.do((kill if ends else pause)(tank.store, ANN, "parent", 1, hints=tank))
    tank.advance(5_000)
    assert not broken
    assert tank.steps(run) == {"call": "RUNNING"}
    assert fish.holding == [start]
    broken["transact"] = TROUBLES[trouble]
    fish.let_go()
    tank.advance(10_000)
    ended = ("FAILED", "STOPPED") if trouble == "odd" else ("PAUSED", "PAUSED")
    found = tank.status(run), tank.status(RunKey("kid", 1, 1))
    assert found == (("STOPPED", "STOPPED") if ends else ended)
