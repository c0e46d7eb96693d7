"""Answers to Wait steps and output of outside jobs: what the row tells is refused, the rest is accepted."""

import pytest
from tests.unit.actions.world import ANN, NODE, WORK, World, failing, flow, going_on

from stretto.actions.act_on_step import stop_step
from stretto.actions.answer_step import answer_step, check_waits
from stretto.actions.caller import Caller, Role
from stretto.actions.reading.approvals import list_approvals, state_of
from stretto.actions.report_output import check_works, report_output
from stretto.actions.stop import stop
from stretto.actions.update_properties import update_properties
from stretto.engine.records import AttemptKey, AttemptRecord, RunKey
from stretto.model.approval import Answer, ApprovalState, Asked
from stretto.model.errors import Forbidden, WrongState
from stretto.model.output_data import OutputDataRequest
from stretto.model.param import Parameter, ParamType
from stretto.model.properties import AccessControl, PropertiesUpdate
from stretto.model.request import CallbackRequest, PageRequest
from stretto.model.status import StepStatus
from stretto.model.step import AnyStep, TypedStep
from stretto.model.timeline import LogEvent
from stretto.model.user import User
from stretto.ports.approvals import ApprovalFilter
from stretto.ports.messages import Callback, Output

A = AttemptKey(RunKey("flow", 1, 1), "a", 1)
WAIT = TypedStep(id="a", type="Wait")
OTHER = TypedStep(id="a", type="NoOp")
S = StepStatus
YES = Answer(approved=True, time=5, user="ann")
NO = Answer(approved=False, time=6, user="bob")
BOB = Caller(user=User(name="bob"), roles=frozenset({Role.RUNNER}))


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
        (record(S.RUNNING), OTHER, "it is not a Wait step"),
        (record(S.STOPPED), None, "it has ended STOPPED"),
        (record(S.SUCCEEDED), WAIT, "it has ended SUCCEEDED"),
        (
            record(S.SUCCEEDED, answer=YES),
            WAIT,
            "it has ended SUCCEEDED, user [ann] has approved it at 1970-01-01T00:00:00+00:00",
        ),
        (
            record(S.FATALLY_FAILED, answer=NO),
            WAIT,
            "it has ended FATALLY_FAILED, user [bob] has refused it at 1970-01-01T00:00:00+00:00",
        ),
        (
            record(S.FINISHING, answer=YES),
            WAIT,
            "it is FINISHING, user [ann] has approved it at 1970-01-01T00:00:00+00:00",
        ),
        (record(S.WAITING_FOR_SIGNALS, ending=S.STOPPED), WAIT, "it is about to end STOPPED"),
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
    assert isinstance(answer.timeline_event, LogEvent)
    assert answer.timeline_event.message.startswith("Accepted: user [ann] approved")
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


# ------------------------------------------------------------------------------------------------- assignees
def for_somebody(*names: str) -> World:
    listed = ", ".join(names)
    return running(f"{{id: a, type: Wait, params: {{assignees: {{type: STRING_ARRAY, value: [{listed}]}}}}}}")


def test_only_who_is_asked_may_answer() -> None:
    world = for_somebody("cid", "eve")
    with pytest.raises(Forbidden) as refused:
        world.do(answer_step(world.store, BOB, A, CallbackRequest()))
    assert refused.value.message == "User [bob] may not answer: that is for [cid], [eve]"


@pytest.mark.parametrize(
    ("names", "name", "role"),
    [
        (["cid", "bob"], "bob", Role.RUNNER),
        (["'role:runner'"], "bob", Role.RUNNER),
        (["cid"], "ann", Role.RUNNER),  # the owner
        (["cid"], "dan", Role.ADMIN),
    ],
)
def test_who_is_asked_the_owner_and_admins_may_answer(names: list[str], name: str, role: Role) -> None:
    world = for_somebody(*names)
    caller = Caller(user=User(name=name), roles=frozenset({role}))
    world.do(answer_step(world.store, caller, A, CallbackRequest()))
    assert world.settle().status() == "SUCCEEDED"


def test_what_somebody_may_not_see_is_not_in_their_list() -> None:
    world = running()
    request = PageRequest(first=5)
    assert len(world.do(list_approvals(world.store, BOB, ApprovalFilter(), request)).elements) == 1
    hidden = PropertiesUpdate(access_control=AccessControl(viewers=("cid",)))
    world.do(update_properties(world.store, ANN, "flow", hidden))
    assert world.do(list_approvals(world.store, BOB, ApprovalFilter(), request)).elements == ()


def test_one_that_is_about_to_time_out_has_expired() -> None:
    asked = Asked()
    assert state_of(record(S.RUNNING, asks=asked)) is ApprovalState.OPEN
    assert state_of(record(S.RUNNING, asks=asked, decided=S.TIMEOUT_FAILED)) is ApprovalState.EXPIRED
    assert state_of(record(S.SKIPPED, asks=asked)) is ApprovalState.WITHDRAWN


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
