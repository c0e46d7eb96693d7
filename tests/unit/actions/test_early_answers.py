"""Answers before the step asks: accepted where a step is to ask; refused elsewhere, and by a full run."""

import pytest
from tests.unit.actions.world import ANN, NODE, World, flow, going_on

from stretto.actions.answer_step import answer_step
from stretto.actions.caller import Caller, Role
from stretto.actions.parts.step_attempt import attempt_to_answer
from stretto.actions.preview import preview
from stretto.actions.restart import restart
from stretto.actions.stop import stop
from stretto.engine.events import ResultState
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import NotFound, WrongState
from stretto.model.request import CallbackRequest, InstanceRestartRequest
from stretto.model.run_config import RunPolicy
from stretto.model.timeline import LogEvent
from stretto.model.user import User
from stretto.ports.messages import Callback

RUN = RunKey("flow", 1, 1)
ASK = AttemptKey(RUN, "ask", 1)
STEPS = ("{id: work, type: Python, transition: {successors: {ask: 'true'}}}", "{id: ask, type: Wait}")
BOB = Caller(user=User(name="bob"), roles=frozenset({Role.RUNNER}))


def working(*steps: str) -> World:
    """A run that is not as far as its Wait step."""
    world = World(going_on)
    world.publish(flow(*(steps or STEPS)))
    world.start()
    return world.settle()


def finish_work(world: World) -> World:
    world.report("work", ResultState.DONE)
    return world


def answer(world: World, attempt: AttemptKey = ASK, caller: Caller = ANN, **said: object) -> None:
    most = said.pop("most_early", 100)
    request = CallbackRequest(**said)  # type: ignore[arg-type]
    world.do(answer_step(world.store, caller, attempt, request, most_early=most))  # type: ignore[arg-type]


def test_an_early_answer_is_accepted_and_counts_when_the_step_asks() -> None:
    world = working()
    answer(world)
    world.settle()
    assert [each.step_id for each in world.row().record.early] == ["ask"]
    finish_work(world)
    assert world.status() == "SUCCEEDED"


def test_the_same_request_is_accepted_again_before_and_after_the_step_asks() -> None:
    world = working()
    for _ in range(2):
        answer(world, request_id="r")
        world.settle()
    finish_work(world)
    answer(world, request_id="r")
    assert world.do(world.store.fetch(NODE, range(128))).messages == ()
    with pytest.raises(WrongState, match=r"it has ended SUCCEEDED, user \[ann\] has approved it"):
        answer(world, request_id="other")


def test_another_answer_to_the_same_attempt_is_refused() -> None:
    world = working()
    answer(world, request_id="r")
    world.settle()
    with pytest.raises(WrongState, match=r"is answered already, user \[ann\] has approved it"):
        answer(world, approved=False)


def test_a_full_run_refuses_and_says_how_many_it_keeps() -> None:
    world = working(STEPS[0].replace("'true'", "'true', other: 'true'"), STEPS[1], "{id: other, type: Wait}")
    answer(world)
    world.settle()
    with pytest.raises(WrongState) as refused:
        answer(world, AttemptKey(RUN, "other", 1), most_early=1)
    assert (
        refused.value.message == f"Run {RUN} keeps 1 answers to steps that do not ask yet, and takes no more"
    )
    assert "engine.early_answers" in (refused.value.hint or "")


def test_a_step_that_is_no_wait_step_asks_nobody() -> None:
    world = working(
        "{id: first, type: Python, transition: {successors: {work: 'true'}}}", "{id: work, type: Python}"
    )
    with pytest.raises(WrongState, match="it is not a Wait step"):
        answer(world, AttemptKey(RUN, "work", 1))


@pytest.mark.parametrize(
    ("step_id", "number", "hint"), [("nobody", 1, "iteration"), ("ask", 2, "newest attempt is 1")]
)
def test_an_attempt_that_will_not_be_is_not_found(step_id: str, number: int, hint: str) -> None:
    world = working()
    with pytest.raises(NotFound, match="Cannot find step attempt") as refused:
        answer(world, AttemptKey(RUN, step_id, number))
    assert hint in (refused.value.hint or "")


def test_a_run_that_has_ended_keeps_no_answers() -> None:
    world = working()
    answer(world)
    world.settle()
    world.do(stop(world.store, ANN, "flow", 1))
    world.settle()
    lines = [each.message for each in world.row().record.timeline if isinstance(each, LogEvent)]
    assert lines[-1] == "Dropped answers to steps that never asked: [ask] of user [ann]"
    with pytest.raises(WrongState, match="its run has ended STOPPED"):
        answer(world)


def test_who_was_not_asked_has_not_answered() -> None:
    ask = "{id: ask, type: Wait, params: {assignees: {type: STRING_ARRAY, value: [cid]}}}"
    world = working(STEPS[0], ask)
    answer(world, caller=BOB)
    finish_work(world.settle())
    assert world.steps()["ask"] == "RUNNING"
    answer(world, caller=Caller(user=User(name="cid"), roles=frozenset({Role.RUNNER})))
    assert world.settle().status() == "SUCCEEDED"


def test_a_preview_of_an_early_answer_keeps_nothing() -> None:
    world = working()
    world.do(preview(world.store, "CALLBACK", lambda store: answer_step(store, ANN, ASK, CallbackRequest())))
    assert not any(
        isinstance(each.body, Callback) for each in world.do(world.store.fetch(NODE, range(128))).messages
    )


# ------------------------------------------------------------------------------------------- which attempt
def meant(world: World, step_id: str = "ask") -> AttemptKey:
    return world.do(attempt_to_answer(world.store, "flow", 1, step_id))


def test_the_first_attempt_is_meant_until_there_is_one() -> None:
    world = working()
    assert meant(world) == ASK
    finish_work(world)
    assert meant(world) == ASK


def test_in_a_restarted_run_its_own_attempt_is_meant() -> None:
    world = finish_work(working())
    answer(world, approved=False)
    assert world.settle().status() == "FAILED"
    assert meant(world) == ASK
    request = InstanceRestartRequest(restart_policy=RunPolicy.RESTART_FROM_BEGINNING)
    world.do(restart(world.store, ANN, "flow", 1, request))
    world.settle()
    assert meant(world) == ASK._replace(run=RUN._replace(run_id=2))


def test_during_the_back_off_the_next_attempt_is_meant() -> None:
    backoff = "{type: FIXED_BACKOFF, timeout_retry_backoff_in_secs: 60}"
    retry = f"retry_policy: {{timeout_retry_limit: 1, backoff: {backoff}}}"
    world = working(f"{{id: ask, type: Wait, timeout: 1 minute, {retry}}}").advance(60_000)
    assert world.steps() == {"ask": "TIMEOUT_FAILED"}
    assert meant(world) == ASK._replace(number=2)
    answer(world, meant(world))
    assert world.settle().advance(60_000).status() == "SUCCEEDED"
