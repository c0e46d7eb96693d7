"""Behaviour cases about what users ask of a server; one test for each."""

import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from tests.conformance.behaviour import Case, Then, cases_of
from tests.conformance.rule_cases import CASES as RULE_CASES
from tests.conformance.rule_cases import NEEDS_MACHINE
from tests.unit.actions.world import ANN, CHAIN, NODE, NOOP, WORK, World, failing, flow, going_on

from stretto.actions.deactivate import deactivate
from stretto.actions.delete_breakpoint import delete_breakpoint
from stretto.actions.parts.overrides import check_overrides
from stretto.actions.parts.trigger_rows import trigger_id
from stretto.actions.pause import pause
from stretto.actions.restart import restart
from stretto.actions.restart_step import restart_step
from stretto.actions.set_breakpoint import set_breakpoint
from stretto.actions.start import start
from stretto.actions.stop import kill, stop
from stretto.actions.stop_workflow import BATCH, stop_workflow
from stretto.actions.tag_permits import delete_tag_permit, set_tag_permit
from stretto.actions.update_properties import update_properties
from stretto.engine.events import ResultState
from stretto.engine.permits import granted
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import StrettoError
from stretto.model.initiator import SignalInitiator, TimeInitiator
from stretto.model.permit import TagPermitRequest
from stretto.model.properties import PropertiesUpdate
from stretto.model.request import (
    BreakpointRequest,
    InstanceRestartRequest,
    StartRequest,
    StepRestartRequest,
)
from stretto.model.run_config import RunPolicy
from stretto.model.workflow import Workflow
from stretto.ports.breakpoints import PausedAt
from stretto.ports.commit import Decided, GroupPart, PermitAsk
from stretto.ports.failures import Stale
from stretto.ports.messages import Act
from stretto.ports.paging import Cut, Slice
from stretto.ports.permits import HoldersOf, LineFor, PermitRow
from stretto.ports.run_snapshot import read_attempt

pytestmark = pytest.mark.conformance

OURS = ("restart-request", "step-skip", "breakpoint", "tag-permit")
ALLOCATOR = {"tag-action-codes", "tag-start-paging"}  # `test_permit_cases` has them
CASES: dict[str, Case] = cases_of("instance-action") | {
    case_id: case
    for case_id, case in RULE_CASES.items()
    if case["area"] in OURS and case_id in NEEDS_MACHINE and case_id not in ALLOCATOR
}
CHECKS: dict[str, Callable[[Any, Then], None]] = {}
INCOMPLETE = RunPolicy.RESTART_FROM_INCOMPLETE
TRIGGERS = (
    "  time_triggers: [{type: CRON, cron: '0 * * * *'}]\n  signal_triggers: [{definitions: {go: {}}}]\n"
)
LOOP = (
    "foreach: {id: job.3, params: {loop_params: {value: {i: {value: [1, 2], type: LONG_ARRAY}}, type: MAP}},"
    " steps: [{step: {id: job.4, type: NoOp}}]}"
)


def case(case_id: str) -> Callable[[Callable[[Any, Then], None]], Callable[[Any, Then], None]]:
    def register(check: Callable[[Any, Then], None]) -> Callable[[Any, Then], None]:
        CHECKS[case_id] = check
        return check

    return register


def test_every_case_has_its_check() -> None:
    assert sorted(CHECKS) == sorted(CASES)


@pytest.mark.parametrize("case_id", CASES)
def test_case(case_id: str) -> None:
    then = Then(CASES[case_id])
    CHECKS[case_id](CASES[case_id]["given"], then)
    then.assert_all_taken()


def refused(world: World, work: Any) -> str:
    with pytest.raises(StrettoError) as caught:
        world.do(work)
    return caught.value.message


# ------------------------------------------------------------------------------------------------- instances
@case("stop-queued-vs-running")
def check_stop(given: Any, then: Then) -> None:
    assert [each["status"] for each in given["instances"]] == ["CREATED", "IN_PROGRESS", "PAUSED"]
    effects = then.take("effect")
    completed = then.take("completed")
    for action, status in ((stop, "STOPPED"), (kill, "FAILED")):
        world = World(going_on)
        world.publish(flow(WORK, strategy="SEQUENTIAL"))
        world.start()
        world.settle()
        world.start()
        world.start()
        world.do(pause(world.store, ANN, "flow", 3))
        answers = [world.do(action(world.store, ANN, "flow", each)) for each in (2, 1, 3)]
        assert [each.completed for each in answers] == completed
        assert {world.status(instance_id=each) for each in (2, 3)} == {status}
        assert effects[:2] == ["row set STOPPED (KILL: FAILED) at once", "actions written for the steps"]
        (act,) = [each for each in messages(world) if isinstance(each, Act)]
        assert act.run is not None
    assert effects[2] == "row set at once"


def messages(world: World) -> list[Any]:
    return [message.body for message in world.do(world.store.fetch("node-1", range(128))).messages]  # type: ignore[arg-type]


@case("stop-not-latest-run")
def check_not_latest(given: Any, then: Then) -> None:
    world = World(failing("a"))
    world.publish(flow(WORK))
    world.start()
    world.settle()
    world.do(restart(world.store, ANN, "flow", 1, InstanceRestartRequest(restart_policy=INCOMPLETE)))
    assert world.row().key.run_id == given["latest_run"]
    assert then.take("error") in refused(world, stop(world.store, ANN, "flow", 1, 1))


@case("stop-terminal-instance")
def check_terminal(given: Any, then: Then) -> None:
    expected = then.take("error")
    for status in given["status"]:
        world = World(going_on)
        world.publish(flow(WORK, name="test-id", more="  timeout: 1\n"))
        world.start("test-id")
        world.settle()
        if status == "TIMED_OUT":
            world.advance(2_000)
        else:
            ended = ResultState.FATAL_ERROR if status == "FAILED" else ResultState.DONE
            world.report("a", ended, "test-id")
        assert world.status("test-id") == status
        assert expected.replace("<status>", status) in refused(world, stop(world.store, ANN, "test-id", 1))


@case("stop-already-stopped-is-noop")
def check_noop(given: Any, then: Then) -> None:
    world = World(going_on)
    world.publish(flow(WORK))
    world.start()
    world.settle()
    world.do(stop(world.store, ANN, "flow", 1))
    assert world.settle().status() == given["run_status"]
    before = (world.row(), messages(world))
    assert world.do(stop(world.store, ANN, "flow", 1)).completed is then.take("completed")
    assert (world.row(), messages(world)) == before
    assert then.take("writes") == 0


@case("restart-non-terminal")
def check_restart(given: Any, then: Then) -> None:
    world = World(going_on)
    world.publish(flow(WORK, name="test-workflow"))
    world.start("test-workflow")
    assert world.settle().status("test-workflow") == given["status"]
    request = InstanceRestartRequest(restart_policy=INCOMPLETE)
    assert then.take("error") in refused(world, restart(world.store, ANN, "test-workflow", 1, request))


@case("workflow-stop-batches")
def check_batches(given: Any, then: Then) -> None:
    queued, running = sum(given["queued_batches_terminated"]), given["running_batch"]
    world = World(going_on)
    world.publish(flow(WORK).replace("rule: PARALLEL", f"rule: PARALLEL, workflow_concurrency: {running}"))
    for _ in range(queued + running):
        world.start()
    assert given["queued_batches_terminated"][0] == BATCH
    assert world.do(stop_workflow(world.store, ANN, "flow")).message == then.take("message")


# ---------------------------------------------------------------------------------------------------- starts
@case("start-unknown-step-run-params")
def check_unknown_step(given: Any, then: Then) -> None:
    assert given["dag_steps"] == []
    with pytest.raises(StrettoError) as caught:
        check_overrides(Workflow(id="flow"), given["step_run_params"])
    assert caught.value.message.startswith(then.take("error_prefix"))


@case("start-response-codes")
def check_codes(given: Any, then: Then) -> None:
    world = World(going_on)
    world.publish(flow(WORK, strategy="FIRST_ONLY"))
    codes = dict(zip(given["run_strategy_code"], then.take("response_status"), strict=True))
    answers = {
        1: world.start(request_id="a"),
        0: world.start(request_id="a"),
        -1: world.start(request_id="b"),
    }
    # Maestro's wire has CREATED for what its code calls WORKFLOW_RUN_CREATED.
    assert {code: codes[code].removeprefix("WORKFLOW_RUN_") for code in codes} == {
        code: answer.status.value for code, answer in answers.items()
    }


@case("trigger-start-requires-active-and-uuid")
def check_triggers(given: Any, then: Then) -> None:
    inactive, mismatch, disabled = then.take("errors")
    for kind in given["initiator"]:
        world = World()
        world.publish(flow(NOOP, name="sample-minimal-wf", more=TRIGGERS))
        made = SignalInitiator if kind == "SIGNAL" else TimeInitiator
        version = world.do(world.store.version("sample-minimal-wf", 1))
        assert version is not None
        workflow = version.workflow
        trigger = (workflow.signal_triggers if kind == "SIGNAL" else workflow.time_triggers or ())[0]  # type: ignore[index]
        own = made(trigger_uuid=trigger_id(workflow.id, trigger))
        said = [
            attempt(world, made(trigger_uuid="other"), "1"),
            attempt(world, own, "1", off=True),
            attempt(world, own, "1", inactive=True),
        ]
        assert inactive.removesuffix(" ...") in said[2]
        assert mismatch.removeprefix("conflict: ") in said[0]
        assert disabled.removeprefix("unprocessable: ").replace("[X]", f"[{kind}]") in said[1]


def attempt(world: World, initiator: Any, version: str, *, off: bool = False, inactive: bool = False) -> str:
    store, name = world.store, "sample-minimal-wf"
    if off:
        update = PropertiesUpdate(time_trigger_disabled=True, signal_trigger_disabled=True)
        world.do(update_properties(store, ANN, name, update))
    if inactive:
        world.do(deactivate(store, ANN, name))
    return refused(world, start(store, ANN, name, version, StartRequest(initiator=initiator)))


# -------------------------------------------------------------------------------------------------- restarts
@case("restart-running-instance-new-attempt")
def check_new_attempt(given: Any, then: Then) -> None:
    world = World(going_on)
    world.publish(flow("{id: job1, type: Python}", "{id: job2, type: Python}"))
    world.start()
    world.settle()
    world.report("job1", ResultState.FATAL_ERROR)
    assert world.status() == given["workflow"]
    request = StepRestartRequest(restart_policy=INCOMPLETE)
    answer = world.do(restart_step(world.store, ANN, "flow", 1, "job1", request))
    # Maestro's wire has CREATED, with the attempt, for what its code calls STEP_ATTEMPT_CREATED.
    assert f"STEP_ATTEMPT_{answer.status}" == then.take("response")
    assert (answer.workflow_run_id, answer.step_attempt_id) == (1, 2)
    (act,) = messages(world)
    assert then.take("via").split()[0] == act.step.action


# ------------------------------------------------------------------------------------------------ debug stops
def held(text: str, step_id: str, starts: int = 1) -> World:
    world = World()
    world.publish(text)
    hold(world, step_id)
    for _ in range(starts):
        world.start()
    return world.settle()


def hold(world: World, step_id: str) -> None:
    world.do(set_breakpoint(world.store, ANN, BreakpointRequest(workflow_id="flow", step_id=step_id)))


def release(world: World, step_id: str, *, resume: bool = True) -> Any:
    event: Any = world.do(delete_breakpoint(world.store, ANN, "flow", step_id, resume=resume)).timeline_event
    return int(re.findall(r"\[(\d+)\] step attempts?", event.message)[0])


@case("breakpoint-pause-match")
def check_pause(given: Any, then: Then) -> None:
    assert given["breakpoint"] == [0, 0, 0, 0]
    world = held(flow(*CHAIN), "a")
    assert (world.steps() == {"a": "PAUSED"}) is then.take("pauses")
    assert (world.settle().steps() != {"a": "PAUSED"}) is then.take("should_resume_while_paused")
    release(world, "a")
    assert (world.settle().status() == "SUCCEEDED") is then.take("should_resume_after_delete")
    world.start()
    assert (world.settle().status(instance_id=2) != "SUCCEEDED") is then.take("pauses_after_delete")


@case("breakpoint-delete-resume-flag")
def check_resume_flag(given: Any, then: Then) -> None:
    world = held(flow(WORK), "a", given["paused_attempts"])
    counts = [release(world, "a", resume=False)]
    hold(world, "a")
    counts.append(release(world, "a"))
    assert counts == then.take("resumed_counts")


@case("breakpoint-foreach-delete")
def check_iterations(given: Any, then: Then) -> None:
    world = held(flow(LOOP), "job.4")
    assert given["paused_iterations"] == 2
    assert release(world, "job.4") == then.take("resumed")
    assert world.settle().status() == "SUCCEEDED"


@case("breakpoint-delete-batches")
def check_delete_batches(given: Any, then: Then) -> None:
    world = held(flow(WORK), "a", given["paused"])
    paused = world.store.paused

    async def in_batches(selection: PausedAt) -> Any:
        cut = msgspec.structs.replace(selection.cut, most=given["batch_limit"])
        return await paused(selection._replace(cut=cut))

    world.swap("paused", in_batches)
    assert release(world, "a") == then.take("resumed")


# --------------------------------------------------------------------------------------------------- permits
@case("tag-acquire")
def check_acquire(given: Any, then: Then) -> None:
    """A grant that was not committed is made again, and the step is told once."""
    world = World(going_on)
    world.do(set_tag_permit(world.store, ANN, TagPermitRequest(tag="tag1", max_allowed=0)))
    world.publish(flow("{id: a, type: Python, tags: [tag1]}"))
    world.start()
    world.settle()
    grant = world.store.grant
    tries: list[int] = []

    async def fails_first(*args: Any) -> Any:
        tries.append(1)
        if len(tries) == 1:
            raise Stale("the first one is lost")
        return await grant(*args)

    world.swap("grant", fails_first)
    limit = TagPermitRequest(tag="tag1", max_allowed=given["tag1_limit"])
    world.do(set_tag_permit(world.store, ANN, limit))
    assert len(tries) - 1 == then.take("mark_attempts")  # the last look finds nobody
    assert len(messages(world)) == then.take("step_wakeups")
    assert world.settle().steps() == {"a": "RUNNING"}


@case("tag-step-lifecycle")
def check_lifecycle(given: Any, then: Then) -> None:
    """The same places, in our words: no row, a row that waits, a row that is granted, no row."""
    assert given["step"]
    world = World(going_on)
    world.do(set_tag_permit(world.store, ANN, TagPermitRequest(tag="tag1", max_allowed=0)))
    world.publish(flow("{id: a, type: Python, tags: [tag1]}"))

    def rows(which: str) -> tuple[PermitRow, ...]:
        selection = LineFor("tag1", Cut()) if which == "waiters" else HoldersOf("tag1", Cut())
        found: Slice[PermitRow] = world.do(world.store.permits(selection))
        return found.elements

    assert (rows("waiters"), rows("holders"), then.take("status_before")) == ((), (), -1)
    world.start()
    world.settle()
    assert (len(rows("waiters")) == 1) is then.take("insert")
    (waiter,) = rows("waiters")
    row = world.row()
    again = PermitAsk(attempt=waiter.attempt, limits={"tag1": None}, since=waiter.since + 5)
    part = GroupPart(lease=world.leases[row.group], decisions=(Decided(root=row.key, permits=(again,)),))
    world.do(world.store.commit(NODE, [part]))
    assert (rows("waiters") != (waiter,)) is then.take("insert_again")  # the first asking counts
    goes = world.settle().do(world.store.grant(["tag1"], granted)).attempts
    assert bool(goes) is then.take("acquire_before_queue")
    # Maestro gives out numbers when it queues. Ours stand in line by criticality and by the time they asked.
    attempt = world.do(read_attempt(world.store, waiter.attempt))
    assert attempt is not None
    assert (attempt.record.status, waiter.since) == ("WAITING_FOR_PERMITS", attempt.record.wait_permit_time)
    assert then.take("queued") == {"seq": 11, "status": 6}
    world.do(set_tag_permit(world.store, ANN, TagPermitRequest(tag="tag1", max_allowed=1)))
    assert [row.granted for row in rows("holders")] == [True]
    assert then.take("acquired_status") == 7
    assert world.settle().steps() == {"a": "RUNNING"}
    (holder,) = rows("holders")
    assert holder.attempt == AttemptKey(RunKey("flow", 1, 1), "a", 1)
    world.report("a", ResultState.DONE)
    assert (rows("holders"), len(then.take("removed"))) == ((), 1)
    world.do(delete_tag_permit(world.store, ANN, "tag1"))
    assert (rows("waiters"), then.take("status_after")) == ((), -1)
