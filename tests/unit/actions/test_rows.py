"""Rows of the union table that actions can show, each under its number."""

from typing import Any

import pytest
from tests.unit.actions.world import ANN, BEGIN, CHAIN, NOOP, WORK, World, failing, flow, going_on

from stretto.actions.act_on_step import bypass_step, kill_step
from stretto.actions.deactivate import deactivate
from stretto.actions.delete_breakpoint import delete_breakpoint
from stretto.actions.delete_workflow import delete_workflow
from stretto.actions.pause import pause, resume
from stretto.actions.reading.breakpoints import list_paused
from stretto.actions.reading.instances import get_instance
from stretto.actions.reading.steps import get_attempt, get_step
from stretto.actions.reading.workflows import get_version
from stretto.actions.report_output import report_output
from stretto.actions.restart import restart
from stretto.actions.restart_step import restart_step
from stretto.actions.resume_attempt import resume_attempt
from stretto.actions.set_breakpoint import set_breakpoint
from stretto.actions.skip_step import skip_step
from stretto.actions.stop import stop
from stretto.actions.tag_permits import set_tag_permit
from stretto.engine.events import ResultState
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import InvalidRequest, NotFound, WrongState
from stretto.model.output_data import OutputDataRequest
from stretto.model.param import Parameter, ParamType
from stretto.model.permit import TagPermitRequest
from stretto.model.request import BreakpointRequest, InstanceRestartRequest, StepRestartRequest
from stretto.model.run_config import RunPolicy
from stretto.ports.history import FilteredRuns, RunFilter
from stretto.ports.paging import Cut
from stretto.ports.run_snapshot import NewestAttempts
from stretto.ports.triggers import FiresDue

INCOMPLETE = RunPolicy.RESTART_FROM_INCOMPLETE
RUN = RunKey("flow", 1, 1)
FIVE = (
    *(f"{{id: s{n}, type: Python, transition: {{successors: {{s{n + 1}: 'true'}}}}}}" for n in range(1, 5)),
    "{id: s5, type: Python}",
)
LOOP = (
    "foreach: {id: f, params: {loop_params: {value: {i: {value: [1, 2, 3], type: LONG_ARRAY}}, type: MAP}},"
    " steps: [{step: {id: g, type: Python}}]}"
)


def made(text: str = "", runtime: Any = going_on) -> World:
    world = World(runtime)
    world.publish(text or flow(*CHAIN))
    world.start()
    return world.settle()


def again(world: World) -> World:
    request = InstanceRestartRequest(restart_policy=INCOMPLETE)
    world.do(restart(world.store, ANN, "flow", 1, request))
    return world.settle()


def test_row_4_an_instance_keeps_the_version_it_started_with() -> None:
    world = made()
    world.publish(flow(NOOP))
    assert world.do(get_instance(world.store, ANN, "flow", 1)).workflow_version_id == 1
    assert world.start().workflow_version_id == 2
    assert world.start(version="1").workflow_version_id == 1


def test_row_5_without_an_active_version_no_trigger_is_due() -> None:
    world = World()
    world.publish(flow(NOOP, more="  time_triggers: [{type: CRON, cron: '* * * * *'}]\n"))
    later = BEGIN + 3_600_000
    assert len(world.do(world.store.time_triggers(FiresDue(range(128), later))).elements) == 1
    world.do(deactivate(world.store, ANN, "flow"))
    assert world.do(world.store.time_triggers(FiresDue(range(128), later))).elements == ()


def test_row_17_deleted_is_not_found_and_the_id_can_be_used_again() -> None:
    world = World()
    world.publish(flow(NOOP))
    world.start()
    world.settle()
    world.do(delete_workflow(world.store, ANN, "flow"))
    with pytest.raises(NotFound):
        world.do(get_version(world.store, ANN, "flow", "latest"))
    while world.do(world.store.purge("flow")):
        continue
    version = world.publish(flow(NOOP))
    assert version.metadata is not None
    assert version.metadata.workflow_version_id == 1
    assert world.start().workflow_instance_id == 2


def test_row_70_a_result_that_is_too_large_is_refused() -> None:
    world = made()
    text = "x" * 11_000_000
    request = OutputDataRequest(
        params={"big": Parameter(type=ParamType.STRING, value=text, evaluated_result=text)}
    )
    with pytest.raises(InvalidRequest, match="the limit is 4,194,304"):
        world.do(report_output(world.store, ANN, AttemptKey(RUN, "a", 1), request))
    assert world.settle().status() == "IN_PROGRESS"


def test_row_72_a_step_shows_its_own_tags_and_the_run_those_of_the_workflow() -> None:
    world = made(flow("{id: a, type: Python, tags: [step]}", more="  tags: [blue]\n"))
    step = world.do(get_step(world.store, ANN, "flow", 1, "a"))
    assert [tag.name for tag in step.tags or ()] == ["step"]
    found = world.do(world.store.runs(FilteredRuns(RunFilter(tag="blue"), Cut())))
    assert [row.key for row in found.elements] == [RUN]


def test_row_88_a_stop_ends_work_with_its_reason() -> None:
    world = made()
    world.do(stop(world.store, ANN, "flow", 1))
    assert world.settle().status() == "STOPPED"
    assert world.steps() == {"a": "STOPPED"}
    lines = str(world.do(get_instance(world.store, ANN, "flow", 1)).timeline)
    assert "User [ann] asked to stop run [flow][1][1]" in lines


def test_row_91_and_92_pause_and_resume() -> None:
    launched: list[str] = []

    def note(effect: Any) -> None:
        launched.append(effect.attempt.step_id)

    world = made(runtime=note)
    world.do(pause(world.store, ANN, "flow", 1))
    world.settle()
    world.report("a", ResultState.DONE)
    assert (world.status(), launched) == ("PAUSED", ["a"])
    world.do(resume(world.store, ANN, "flow", 1))
    world.settle()
    world.report("b", ResultState.DONE)
    world.report("c", ResultState.DONE)
    assert (world.status(), launched) == ("SUCCEEDED", ["a", "b", "c"])


def test_row_93_wrong_state_commands_change_nothing() -> None:
    world = made()
    before = world.row()
    with pytest.raises(WrongState) as caught:
        world.do(resume(world.store, ANN, "flow", 1))
    assert caught.value.status == 400
    assert world.settle().row() == before


def test_row_94_a_killed_step_fails_alone() -> None:
    world = made(flow("{id: a, type: Python}", "{id: b, type: Python}"))
    world.do(kill_step(world.store, ANN, "flow", 1, "a"))
    assert world.settle().steps() == {"a": "FATALLY_FAILED", "b": "RUNNING"}


def test_row_95_a_skipped_step_lets_the_run_succeed() -> None:
    world = made(runtime=failing("b"))
    world.do(skip_step(world.store, ANN, "flow", 1, "b"))
    assert world.settle().status() == "SUCCEEDED"


def test_row_96_a_bypassed_step_runs() -> None:
    world = made(flow("{id: a, type: Python, signal_dependencies: [{name: go}]}"))
    world.do(bypass_step(world.store, ANN, "flow", 1, "a"))
    assert world.settle().steps() == {"a": "RUNNING"}


def test_row_97_failed_at_3_of_5_the_second_run_runs_3_to_5() -> None:
    world = made(flow(*FIVE), failing("s3"))
    world.runtime = failing()
    again(world)
    rows = world.do(world.store.attempts(NewestAttempts((RUN._replace(run_id=2),))))
    assert [row.key.step_id for row in rows] == ["s3", "s4", "s5"]


def test_row_98_an_inner_restart_brings_the_parents_back() -> None:
    world = made(flow(LOOP), failing("g"))
    assert world.status() == "FAILED"
    (loop,) = world.do(world.store.loops(RUN))
    world.runtime = going_on
    request = StepRestartRequest(restart_policy=INCOMPLETE)
    world.do(restart_step(world.store, ANN, loop.inline_id, 1, "g", request))
    assert world.settle().status() == "IN_PROGRESS"


def test_row_99_a_breakpoint_holds_all_rounds() -> None:
    world = World()
    world.publish(flow(LOOP))
    world.do(set_breakpoint(world.store, ANN, BreakpointRequest(workflow_id="flow", step_id="g")))
    world.start()
    world.settle()
    held = world.do(list_paused(world.store, ANN, "flow", "g"))
    assert len(held) == 3
    run = RunKey(held[0].workflow_id, held[0].workflow_instance_id, held[0].workflow_run_id)
    world.do(resume_attempt(world.store, ANN, AttemptKey(run, "g", 1)))
    world.settle()
    assert len(world.do(list_paused(world.store, ANN, "flow", "g"))) == 2
    world.do(delete_breakpoint(world.store, ANN, "flow", "g"))
    assert world.settle().status() == "SUCCEEDED"


@pytest.mark.parametrize(
    ("mode", "other", "status"),
    [
        ("FAIL_AFTER_RUNNING", "RUNNING", "IN_PROGRESS"),
        ("FAIL_IMMEDIATELY", "STOPPED", "FAILED"),
        ("IGNORE_FAILURE", "RUNNING", "IN_PROGRESS"),
    ],
)
def test_row_100_failure_modes_of_a_killed_step(mode: str, other: str, status: str) -> None:
    world = made(flow(f"{{id: a, type: Python, failure_mode: {mode}}}", "{id: b, type: Python}"))
    world.do(kill_step(world.store, ANN, "flow", 1, "a"))
    world.settle()
    assert (world.steps()["b"], world.status()) == (other, status)


def test_row_101_attempts_are_kept() -> None:
    policy = "{error_retry_limit: 2, backoff: {type: FIXED_BACKOFF, error_retry_backoff_in_secs: 1}}"
    results = [ResultState.USER_ERROR, ResultState.USER_ERROR, ResultState.DONE]
    step = f"{{id: a, type: Python, retry_policy: {policy}}}"
    world = made(flow(step), lambda _effect: results.pop(0))
    world.advance(10_000)
    statuses = [
        world.do(get_attempt(world.store, ANN, "flow", 1, "1", "a", str(number))).runtime_state.status.value
        for number in (1, 2, 3)
    ]
    assert statuses == ["USER_FAILED", "USER_FAILED", "SUCCEEDED"]
    assert world.status() == "SUCCEEDED"


def test_row_103_a_workflow_times_out() -> None:
    world = made(flow(WORK, more="  timeout: 1\n"))
    world.advance(2_000)
    assert (world.status(), world.steps()) == ("TIMED_OUT", {"a": "TIMED_OUT"})


def test_row_104_steps_of_one_instance_wait_for_each_other() -> None:
    steps = [f"{{id: s{n}, type: Python}}" for n in range(20)]
    world = made(flow(*steps, more="  instance_step_concurrency: 5\n"))
    assert list(world.steps().values()).count("RUNNING") == 5


def test_row_105_one_permit_makes_two_steps_serial() -> None:
    world = World(going_on)
    world.do(set_tag_permit(world.store, ANN, TagPermitRequest(tag="db", max_allowed=1)))
    world.publish(flow("{id: a, type: Python, tags: [db]}", "{id: b, type: Python, tags: [db]}"))
    world.start()
    assert world.settle().steps() == {"a": "RUNNING", "b": "WAITING_FOR_PERMITS"}
    world.report("a", ResultState.DONE)
    assert world.steps() == {"a": "SUCCEEDED", "b": "RUNNING"}


def test_row_115_each_attempt_is_readable() -> None:
    world = made(flow("{id: a, type: Python}", "{id: b, type: Python}"))
    world.report("a", ResultState.FATAL_ERROR)
    world.do(restart_step(world.store, ANN, "flow", 1, "a", StepRestartRequest(restart_policy=INCOMPLETE)))
    world.settle()
    for attempt, status in (("1", "FATALLY_FAILED"), ("latest", "RUNNING")):
        view = world.do(get_attempt(world.store, ANN, "flow", 1, "latest", "a", attempt))
        assert view.runtime_state.status == status


def test_row_116_and_119_the_reason_of_a_retry_and_the_first_error_are_kept() -> None:
    world = made(flow(WORK))
    world.report("a", ResultState.USER_ERROR, message="boom")
    lines = str(world.do(get_attempt(world.store, ANN, "flow", 1, "1", "a", "1")).timeline)
    assert "boom" in lines
    assert "Retrying task in" in lines


def test_row_117_all_steps_succeeded_after_the_second_run() -> None:
    world = made(flow(*FIVE), failing("s3"))
    world.runtime = failing()
    again(world)
    view = world.do(get_instance(world.store, ANN, "flow", 1))
    assert view.aggregated_info is not None
    views = view.aggregated_info.step_aggregated_views
    assert {each.status.value for each in views.values()} == {"SUCCEEDED"}
    assert [each.workflow_run_id for each in views.values()] == [1, 1, 2, 2, 2]
    assert view.status == "SUCCEEDED"
