"""Whoever has something to look for after an action is told, after the commit and by name of the group."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.unit.actions.world import ANN, NODE, WORK, World, failing, flow, going_on

from stretto.actions.act_on_step import bypass_step, kill_step, stop_step
from stretto.actions.activate import activate
from stretto.actions.add_tag import add_tag
from stretto.actions.announce import announce
from stretto.actions.answer_step import answer_step
from stretto.actions.claim_ownership import claim_ownership
from stretto.actions.deactivate import deactivate
from stretto.actions.delete_breakpoint import delete_breakpoint
from stretto.actions.delete_workflow import delete_workflow
from stretto.actions.dequeue import dequeue
from stretto.actions.parts.messages import send
from stretto.actions.pause import pause, resume
from stretto.actions.publish import publish
from stretto.actions.remove_tag import remove_tag
from stretto.actions.report_output import report_output
from stretto.actions.restart import restart
from stretto.actions.restart_step import restart_step
from stretto.actions.resume_attempt import resume_attempt
from stretto.actions.set_breakpoint import set_breakpoint
from stretto.actions.skip_step import skip_step
from stretto.actions.start import start
from stretto.actions.stop import kill, stop
from stretto.actions.stop_workflow import kill_workflow, stop_workflow
from stretto.actions.tag_permits import delete_tag_permit, set_tag_permit
from stretto.actions.unblock import unblock, unblock_workflow
from stretto.actions.update_properties import update_properties
from stretto.definition import load
from stretto.definition.parse import Options
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.initiator import ManualInitiator
from stretto.model.output_data import OutputDataRequest
from stretto.model.permit import TagPermitRequest
from stretto.model.properties import PropertiesUpdate, RunStrategy, RunStrategyRule
from stretto.model.request import (
    BreakpointRequest,
    CallbackRequest,
    InstanceRestartRequest,
    SignalRequest,
    StartRequest,
    StepRestartRequest,
)
from stretto.model.run_config import RunPolicy
from stretto.model.tag import Tag
from stretto.ports.hints import SILENT, Hints
from stretto.ports.messages import Ask, Letter
from stretto.ports.rows import NodeId
from stretto.ports.run_snapshot import read_run
from stretto.store.memory.hints import MemoryHints

Work = Callable[[World, Hints], Coroutine[Any, Any, Any]]
INCOMPLETE = RunPolicy.RESTART_FROM_INCOMPLETE
START = StartRequest(initiator=ManualInitiator())
STEP = StepRestartRequest(restart_policy=INCOMPLETE)
A = AttemptKey(RunKey("flow", 1, 1), "a", 1)


def running(step: str = WORK, *, starts: int = 1, strategy: str = "PARALLEL", **more: Any) -> World:
    world = World(more.get("script", going_on))
    world.publish(flow(step, strategy=strategy))
    for _ in range(starts):
        world.start()
    return world.settle()


def queued() -> World:
    return running(starts=3, strategy="SEQUENTIAL")


def failed() -> World:
    return running(script=failing("a"), strategy="STRICT_SEQUENTIAL", starts=2)


def paused_at_a_breakpoint() -> World:
    world = World(going_on)
    world.publish(flow(WORK))
    request = BreakpointRequest(workflow_id="flow", step_id="a")
    world.do(set_breakpoint(world.store, ANN, request))
    world.start()
    return world.settle()


def held() -> World:
    world = running()
    world.do(pause(world.store, ANN, "flow", 1))
    return world.settle()


def waiting_for_gpu() -> World:
    world = World(going_on)
    world.do(set_tag_permit(world.store, ANN, TagPermitRequest(tag="gpu", max_allowed=0)))
    world.publish(flow("{id: a, type: Python, tags: [gpu]}"))
    world.start()
    return world.settle()


def tagged() -> World:
    world = running()
    world.do(add_tag(world.store, ANN, "flow", Tag(name="t")))
    return world.settle()


def inactive() -> World:
    world = running()
    world.do(deactivate(world.store, ANN, "flow"))
    return world.settle()


def left_in_the_queue() -> World:
    """A place is free, and nobody has looked yet."""
    world = queued()
    properties = world.store.look_at_queue

    async def nothing(_workflow_id: str) -> None:
        return None

    world.swap("look_at_queue", nothing)
    many = PropertiesUpdate(run_strategy=RunStrategy(rule=RunStrategyRule.PARALLEL))
    world.do(update_properties(world.store, ANN, "flow", many))
    world.swap("look_at_queue", properties)
    return world


def definition() -> Any:
    (found,) = load(flow(WORK), Options(rules=False))
    return found


TABLE: dict[str, tuple[Callable[[], World], Work]] = {
    "publish": (running, lambda w, h: publish(w.store, ANN, definition(), hints=h)),
    "activate": (inactive, lambda w, h: activate(w.store, ANN, "flow", "1", hints=h)),
    "deactivate": (running, lambda w, h: deactivate(w.store, ANN, "flow", hints=h)),
    "update": (running, lambda w, h: update_properties(w.store, ANN, "flow", PropertiesUpdate(), hints=h)),
    "add tag": (running, lambda w, h: add_tag(w.store, ANN, "flow", Tag(name="t"), hints=h)),
    "remove tag": (tagged, lambda w, h: remove_tag(w.store, ANN, "flow", "t", hints=h)),
    "claim": (running, lambda w, h: claim_ownership(w.store, ANN, "flow", hints=h)),
    "delete": (
        lambda: running(starts=0),
        lambda w, h: delete_workflow(w.store, ANN, "flow", hints=h),
    ),
    "start": (running, lambda w, h: start(w.store, ANN, "flow", "1", START, hints=h)),
    "start in a queue": (queued, lambda w, h: start(w.store, ANN, "flow", "1", START, hints=h)),
    "stop": (running, lambda w, h: stop(w.store, ANN, "flow", 1, hints=h)),
    "stop a queued one": (queued, lambda w, h: stop(w.store, ANN, "flow", 2, hints=h)),
    "kill": (running, lambda w, h: kill(w.store, ANN, "flow", 1, hints=h)),
    "pause": (running, lambda w, h: pause(w.store, ANN, "flow", 1, hints=h)),
    "resume": (held, lambda w, h: resume(w.store, ANN, "flow", 1, hints=h)),
    "stop all": (queued, lambda w, h: stop_workflow(w.store, ANN, "flow", hints=h)),
    "kill all": (queued, lambda w, h: kill_workflow(w.store, ANN, "flow", hints=h)),
    "unblock": (failed, lambda w, h: unblock(w.store, ANN, "flow", 1, hints=h)),
    "unblock all": (failed, lambda w, h: unblock_workflow(w.store, ANN, "flow", hints=h)),
    "dequeue": (left_in_the_queue, lambda w, h: dequeue(w.store, "flow", hints=h)),
    "restart": (
        failed,
        lambda w, h: restart(
            w.store, ANN, "flow", 1, InstanceRestartRequest(restart_policy=INCOMPLETE), hints=h
        ),
    ),
    "restart step": (failed, lambda w, h: restart_step(w.store, ANN, "flow", 1, "a", STEP, hints=h)),
    "stop step": (running, lambda w, h: stop_step(w.store, ANN, "flow", 1, "a", hints=h)),
    "kill step": (running, lambda w, h: kill_step(w.store, ANN, "flow", 1, "a", hints=h)),
    "bypass": (
        lambda: running("{id: a, type: NoOp, signal_dependencies: [{name: go}]}"),
        lambda w, h: bypass_step(w.store, ANN, "flow", 1, "a", hints=h),
    ),
    "skip": (running, lambda w, h: skip_step(w.store, ANN, "flow", 1, "a", hints=h)),
    "skip later": (failed, lambda w, h: skip_step(w.store, ANN, "flow", 1, "a", hints=h)),
    "answer": (
        lambda: running("{id: a, type: Wait}"),
        lambda w, h: answer_step(w.store, ANN, A, CallbackRequest(), hints=h),
    ),
    "output": (running, lambda w, h: report_output(w.store, ANN, A, OutputDataRequest(), hints=h)),
    "resume attempt": (paused_at_a_breakpoint, lambda w, h: resume_attempt(w.store, ANN, A, hints=h)),
    "delete breakpoint": (
        paused_at_a_breakpoint,
        lambda w, h: delete_breakpoint(w.store, ANN, "flow", "a", hints=h),
    ),
    "announce": (running, lambda w, h: announce(w.store, ANN, SignalRequest(name="go"), hints=h)),
    "permit": (
        waiting_for_gpu,
        lambda w, h: set_tag_permit(w.store, ANN, TagPermitRequest(tag="gpu", max_allowed=1), hints=h),
    ),
    "no permit": (waiting_for_gpu, lambda w, h: delete_tag_permit(w.store, ANN, "gpu", hints=h)),
}


def waiting(world: World) -> dict[object, int]:
    """Everything that some owner has to look for, with its group."""
    mail = world.do(world.store.fetch(NODE, range(128)))
    rows = [world.do(read_run(world.store, key)) for key in mail.admitted]
    found: dict[object, int] = {row.key: row.group for row in rows if row is not None}
    found.update({each.id: each.to_group for each in mail.messages if each.to_group is not None})
    return found


@pytest.mark.parametrize("name", TABLE)
def test_the_groups_that_have_something_to_look_for_are_told(name: str) -> None:
    make, work = TABLE[name]
    world = make()
    told: set[int] = set()
    hints = MemoryHints()
    hints.listen(lambda groups, _runs: told.update(groups))
    before = waiting(world)
    world.do(work(world, hints))
    news = {group for what, group in waiting(world).items() if what not in before}
    assert news
    assert news <= told


def test_a_letter_to_a_node_is_no_groups_business() -> None:
    world = World()
    told: list[frozenset[int]] = []
    hints = MemoryHints()
    hints.listen(lambda groups, _runs: told.append(groups))
    letter = Letter(ref="r", body=Ask(attempt=A, launch=1), to_node=NodeId("node-1"))
    assert world.do(send(world.store, letter, hints))
    assert told == []


def test_silence() -> None:
    heard: list[frozenset[int]] = []
    stop_listening = SILENT.listen(lambda groups, _runs: heard.append(groups))
    SILENT.hint([1])
    stop_listening()
    assert heard == []
