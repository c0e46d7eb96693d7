"""Answers to Wait steps and output of outside jobs: what the row tells is refused, the rest is accepted."""

import pytest
from tests.unit.actions.world import ANN, NODE, WORK, World, failing, flow, going_on

from stretto.actions.act_on_step import stop_step
from stretto.actions.answer_step import answer_step, check_waits
from stretto.actions.report_output import check_works, report_output
from stretto.actions.stop import stop
from stretto.engine.records import AttemptKey, AttemptRecord, RunKey
from stretto.model.errors import WrongState
from stretto.model.output_data import OutputDataRequest
from stretto.model.param import Parameter, ParamType
from stretto.model.request import CallbackRequest
from stretto.model.status import StepStatus
from stretto.model.step import AnyStep, TypedStep
from stretto.model.timeline import ActionEvent
from stretto.ports.messages import Callback, Output

A = AttemptKey(RunKey("flow", 1, 1), "a", 1)
WAIT = TypedStep(id="a", type="Wait")
OTHER = TypedStep(id="a", type="NoOp")
S = StepStatus


def running(step: str = "{id: a, type: Wait}") -> World:
    world = World(going_on)
    world.publish(flow(step))
    world.start()
    return world.settle()


def record(status: StepStatus, **fields: object) -> AttemptRecord:
    return AttemptRecord(key=A, sequence=1, status=status, **fields)  # type: ignore[arg-type]


# --------------------------------------------------------------------------------------------------- answers
@pytest.mark.parametrize(
    ("given", "step", "said"),
    [
        (record(S.RUNNING), OTHER, "it is no Wait step"),
        (record(S.STOPPED), None, "it has ended STOPPED"),
        (record(S.SUCCEEDED), WAIT, "it has ended SUCCEEDED"),
        (record(S.WAITING_FOR_SIGNALS), WAIT, "it is WAITING_FOR_SIGNALS"),
        (record(S.RUNNING, ending=S.STOPPED), WAIT, "it is about to end STOPPED"),
        (record(S.RUNNING, decided=S.SUCCEEDED), WAIT, "it is about to end SUCCEEDED"),
    ],
)
def test_what_does_not_wait_is_told_at_once(given: AttemptRecord, step: AnyStep | None, said: str) -> None:
    with pytest.raises(WrongState) as caught:
        check_waits(given, step)
    assert caught.value.message == f"Step attempt {A} does not wait for an answer: {said}"


def test_a_step_that_was_added_while_the_run_went_on_is_its_owners_business() -> None:
    check_waits(record(S.RUNNING), None)


def test_an_answer_is_accepted() -> None:
    world = running()
    answer = world.do(answer_step(world.store, ANN, A, CallbackRequest()))
    assert isinstance(answer.timeline_event, ActionEvent)
    assert (answer.timeline_event.message or "").startswith("Accepted: user [ann] approved")
    assert world.settle().status() == "SUCCEEDED"


def test_the_same_answer_again_is_the_same_one() -> None:
    world = running()
    for request_id in ("x", "x", "y", None):
        world.do(answer_step(world.store, ANN, A, CallbackRequest(request_id=request_id)))
    mail = world.do(world.store.fetch(NODE, range(128))).messages
    assert [isinstance(each.body, Callback) for each in mail] == [True] * 3


def test_of_two_answers_the_first_counts_and_the_other_is_dropped() -> None:
    world = running()
    world.do(answer_step(world.store, ANN, A, CallbackRequest()))
    world.do(answer_step(world.store, ANN, A, CallbackRequest(approved=False)))  # accepted, too
    assert world.settle().status() == "SUCCEEDED"
    assert world.do(world.store.fetch(NODE, range(128))).messages == ()
    with pytest.raises(WrongState, match="it has ended SUCCEEDED"):
        world.do(answer_step(world.store, ANN, A, CallbackRequest()))


def test_of_a_stop_and_an_answer_the_first_counts() -> None:
    world = running()
    world.do(stop_step(world.store, ANN, "flow", 1, "a"))
    world.do(answer_step(world.store, ANN, A, CallbackRequest()))
    assert world.settle().steps() == {"a": "STOPPED"}
    assert world.do(world.store.fetch(NODE, range(128))).messages == ()


# ---------------------------------------------------------------------------------------------------- output
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (record(S.STOPPED, launch=1), "it has ended STOPPED"),
        (record(S.RUNNING, launch=1, ending=S.STOPPED), "it is about to end STOPPED"),
        (record(S.WAITING_FOR_PERMITS), "it has no work under way, it is WAITING_FOR_PERMITS"),
    ],
)
def test_what_has_no_work_takes_no_output(given: AttemptRecord, said: str) -> None:
    with pytest.raises(WrongState) as caught:
        check_works(given)
    assert caught.value.message == f"Step attempt {A} takes no output: {said}"


def output(value: int) -> OutputDataRequest:
    param = Parameter(type=ParamType.LONG, value=value, evaluated_result=value)
    return OutputDataRequest(external_job_id="job-1", params={"x": param})


def test_each_report_of_a_job_counts_and_none_twice() -> None:
    world = running(WORK)
    for value in (1, 2, 1):
        world.do(report_output(world.store, ANN, A, output(value)))
    bodies = [each.body for each in world.do(world.store.fetch(NODE, range(128))).messages]
    assert [each.params["x"].value for each in bodies if isinstance(each, Output)] == [1, 2]


def test_output_that_comes_too_late_is_refused_or_dropped() -> None:
    world = running(WORK)
    world.do(stop(world.store, ANN, "flow", 1))
    world.do(report_output(world.store, ANN, A, output(1)))  # nobody knows here that it is being stopped
    assert world.settle().status() == "STOPPED"
    assert world.do(world.store.fetch(NODE, range(128))).messages == ()
    with pytest.raises(WrongState, match="it has ended STOPPED"):
        world.do(report_output(world.store, ANN, A, output(2)))


def test_a_step_that_failed_takes_no_output() -> None:
    world = World(failing("a"))
    world.publish(flow(WORK))
    world.start()
    world.settle()
    with pytest.raises(WrongState, match="it has ended FATALLY_FAILED"):
        world.do(report_output(world.store, ANN, A, output(1)))
