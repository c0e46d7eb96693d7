"""Runs that nobody looks after: readers are told so, and not that work goes on."""

import pytest
from tests.node.tank import ANN, GOING_ON, Tank, flow, work

from stretto.actions.parts.function_checks import known_functions
from stretto.actions.pause import pause
from stretto.actions.reading.cluster import list_nodes
from stretto.actions.reading.why import WhyRun, WhyStep, why_run, why_step
from stretto.engine.records import RunKey
from stretto.ports.groups import BEAT_LASTS, NodeState
from stretto.ports.rows import NodeId

NOBODY = "no process looks after run [flow][1][1]: it goes on once"
OVER = BEAT_LASTS + 1


def at_work(tank: Tank, **request: object) -> RunKey:
    fish = tank.fish()
    fish.runtime.answers = {"start a": [GOING_ON]}
    tank.settle()
    run = tank.start(flow(work("a", "b"), work("b")), **request)
    tank.advance(2_000)
    return run


def killed(tank: Tank) -> None:
    """The only process, until its lease is over. Nobody is left for whom time passes."""
    tank.crash(tank.fishes[0])
    tank.clock.millis += OVER


def why(tank: Tank, run: RunKey) -> tuple[WhyRun, WhyStep]:
    whole = tank.do(why_run(tank.store, ANN, run.workflow_id, run.instance_id))
    return whole, tank.do(why_step(tank.store, ANN, run.workflow_id, run.instance_id, "a"))


def states(tank: Tank) -> list[NodeState]:
    return [each.state for each in tank.do(list_nodes(tank.store, ANN))]


def test_of_a_run_whose_processes_are_killed_nothing_goes_on() -> None:
    tank = Tank()
    run = at_work(tank)
    before, step = why(tank, run)
    assert (before.blockers, step.sentence) == ((), "its work goes on")
    assert states(tank) == [NodeState.ALIVE]
    killed(tank)
    whole, step = why(tank, run)
    assert whole.sentence.startswith(NOBODY)
    assert [(each.kind.value, each.ref) for each in whole.blockers] == [("node", "flow/1/1")]
    assert step.sentence.startswith(NOBODY)
    assert [each.kind.value for each in step.blockers] == ["node"]
    for text in (step.sentence, *(str(each) for each in whole.steps)):
        assert "goes on" not in text.replace("it goes on once", "")
    assert states(tank) == [NodeState.SILENT]


def test_a_run_that_another_process_takes_over_says_so() -> None:
    tank = Tank()
    run = at_work(tank)
    killed(tank)
    tank.fish().held = lambda _ask: True  # it has joined, and claims in a moment
    tank.do(tank.store.join(NodeId("other")))
    whole, _step = why(tank, run)
    assert whole.sentence.startswith(
        "the process that looked after run [flow][1][1] is gone, and another one"
    )
    assert whole.blockers[0].moves_when == "another process takes it over, within seconds"
    assert states(tank) == [NodeState.SILENT, NodeState.ALIVE]


def test_whoever_sees_that_a_process_is_gone_need_not_wait_for_its_lease() -> None:
    tank = Tank()
    run = at_work(tank)
    tank.crash(tank.fishes[0])
    place = tank.store, ANN, run.workflow_id, run.instance_id
    assert tank.do(why_run(*place)).blockers == ()
    assert tank.do(why_run(*place, gone=lambda _address: True)).sentence.startswith(NOBODY)
    assert tank.do(why_step(*place, "a", gone=lambda _address: True)).sentence.startswith(NOBODY)


def test_of_a_run_that_was_handed_over_to_nobody_nothing_goes_on() -> None:
    tank = Tank()
    run = at_work(tank)
    tank.do(tank.store.leave(tank.fishes[0].node.id))
    tank.crash(tank.fishes[0])
    whole, _step = why(tank, run)
    assert whole.sentence.startswith(NOBODY)
    assert states(tank) == []


@pytest.mark.parametrize("gone", [True, False])
def test_a_run_that_waits_for_its_turn_needs_a_process_too(*, gone: bool) -> None:
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers = {"start a": [GOING_ON]}
    tank.settle()
    tank.start(flow(work("a"), strategy="SEQUENTIAL"))
    second = tank.start_again("flow")
    tank.advance(2_000)
    if gone:
        killed(tank)
    whole = tank.do(why_run(tank.store, ANN, *second[:2]))
    assert ("no process looks after run [flow][2][1]" in whole.sentence) is gone
    assert [each.kind.value for each in whole.blockers] == ["node", "strategy"][1 - gone :]


def test_a_paused_run_is_held_by_its_pause_alone() -> None:
    tank = Tank()
    run = at_work(tank)
    tank.do(pause(tank.store, ANN, *run, hints=tank))
    tank.advance(1_000)
    killed(tank)
    whole, _step = why(tank, run)
    assert "no process" not in whole.sentence
    assert [each.kind.value for each in whole.blockers] == ["pause"]


def test_functions_of_processes_that_were_killed_are_not_known() -> None:
    tank = Tank()
    fish = tank.fish()
    tank.settle()
    tank.do(tank.store.advertise(fish.node.id, {"load"}))
    assert tank.do(known_functions(tank.store)) == {"load"}
    killed(tank)
    assert tank.do(known_functions(tank.store)) == frozenset()
