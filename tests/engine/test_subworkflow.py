"""Subworkflow: another run does the work, and its end is the end of the step."""

import pytest
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.shapes import computed, noop, number, result, step, subworkflow, workflow

from stretto.engine.effects import StartChild, StopChild
from stretto.engine.events import ChildEnded, ChildRefused, ChildStarted, RunAction
from stretto.engine.records import RunKey
from stretto.engine.settings import EngineSettings
from stretto.model.actions import StepAction
from stretto.model.artifact import SubworkflowArtifact
from stretto.model.status import RunStatus, StepStatus

S = StepStatus
KID = {"kid": workflow(step("toil", params={"v": number(1)}), id="kid", params={"x": number(0)})}
CHILD = RunKey("kid", 7, 1)


def parent(*steps: object, **more: object) -> Driver:
    return Driver(workflow(*steps, params={"x": number(5)}), library=KID, **more)  # type: ignore[arg-type]


def alone(**fields: object) -> Driver:
    """A step that has asked for its child, of which nothing is known yet."""
    driver = Driver(workflow(subworkflow("s", "kid", "b", **fields), noop("b")))
    driver._start_child = lambda _effect: None  # type: ignore[method-assign,assignment]
    return driver.start()


@pytest.mark.parametrize(
    ("state", "status", "run"),
    [
        ("DONE", "SUCCEEDED", "SUCCEEDED"),
        ("FATAL_ERROR", "FATALLY_FAILED", "FAILED"),
        ("STOPPED", "STOPPED", "STOPPED"),
        ("TIMED_OUT", "TIMED_OUT", "TIMED_OUT"),
    ],
)
def test_the_step_ends_like_its_child(state: str, status: str, run: str) -> None:
    driver = parent(
        subworkflow("s", "kid", "b"), noop("b"), runtime=scripted(toil=[Work(state, 1_000)])
    ).finish()
    assert driver.statuses()["s"] == status
    assert driver.status == run
    assert (driver.attempt("s").reason is None) is (state == "DONE")


def test_params_go_down_and_values_come_up() -> None:
    read = computed("return params.getFromSubworkflow('s', 'toil', 'v');")
    s = subworkflow("s", "kid", "b", params={"y": computed("x + 1")})
    b = step("b", params={"v": read}, type="NoOp")
    runtime = scripted(toil=[Work(outputs={"v": result(42)})])
    driver = parent(s, b, runtime=runtime).finish()
    (effect,) = [each for each in driver.effects if isinstance(each, StartChild)]
    values = {name: each.evaluated_result for name, each in effect.params.items()}  # type: ignore[attr-defined]
    assert (values["x"], values["y"]) == (5, 6)
    assert "subworkflow_id" not in effect.params
    assert (effect.workflow_id, effect.version, effect.sync) == ("kid", "latest", True)
    assert driver.value("b", "v") == 42
    artifact = driver.attempt("s").artifacts["maestro_subworkflow"]
    assert isinstance(artifact, SubworkflowArtifact)
    assert artifact.subworkflow_instance_id == 1
    explicit = subworkflow("s", "kid", explicit_params=True, params={"y": number(1)})
    (effect,) = [each for each in parent(explicit).finish().effects if isinstance(each, StartChild)]
    assert set(effect.params) == {"y"}


def test_what_runs_on_its_own_is_done_when_it_is_launched() -> None:
    driver = parent(subworkflow("s", "kid", "b", sync=False), noop("b"), runtime=scripted(toil=[FOREVER]))
    driver.start().run(0)
    assert driver.status == "SUCCEEDED"
    (child,) = driver.world.children.values()
    assert child.status == "IN_PROGRESS"


def test_a_child_that_can_not_be_fails_the_step() -> None:
    driver = Driver(workflow(subworkflow("s", "nobody"))).finish()
    assert driver.attempt("s").status is S.FATALLY_FAILED
    assert driver.attempt("s").reason == "no workflow nobody"
    deep = parent(subworkflow("s", "kid"), settings=EngineSettings(depth=1)).finish()
    assert "is not less than the depth limit: 1" in str(deep.attempt("s").reason)


def test_the_end_may_be_known_before_the_start() -> None:
    driver = alone()
    key = driver.attempt("s").key
    driver.send(ChildEnded(attempt=key, child=CHILD, status=RunStatus.SUCCEEDED))
    assert driver.status == "SUCCEEDED"
    assert driver.attempt("s").child == CHILD
    assert not driver.send(ChildStarted(attempt=key, child=CHILD, version_id=1, uuid="u")).changes


def test_messages_about_another_child_or_twice_do_not_count() -> None:
    driver = alone()
    key = driver.attempt("s").key
    driver.send(ChildStarted(attempt=key, child=CHILD, version_id=1, uuid="u"))
    assert driver.lines("s") == ["Started a subworkflow with uuid: u"]
    assert "its subworkflow [kid][7][1] runs" in str(driver.why("s"))
    assert not driver.send(ChildStarted(attempt=key, child=CHILD, version_id=1, uuid="u")).changes
    other = ChildEnded(attempt=key, child=CHILD._replace(run_id=2), status=RunStatus.FAILED)
    assert not driver.send(other).changes
    old = key._replace(number=9)
    assert not driver.send(ChildEnded(attempt=old, child=CHILD, status=RunStatus.FAILED)).changes
    assert not driver.send(ChildRefused(attempt=old, message="no")).changes


@pytest.mark.parametrize("action", [StepAction.STOP, StepAction.KILL, StepAction.SKIP])
def test_stopping_the_step_waits_for_the_child(action: StepAction) -> None:
    driver = parent(subworkflow("s", "kid"), runtime=scripted(toil=[FOREVER])).start().run(0)
    (child,) = driver.world.children.values()
    child.stubborn = True
    driver.step("s", action).run(1_000)
    assert driver.attempt("s").status is S.RUNNING
    child.report("toil").run()
    assert child.status == "STOPPED"
    ends = {StepAction.STOP: "STOPPED", StepAction.KILL: "FATALLY_FAILED", StepAction.SKIP: "SKIPPED"}
    assert driver.statuses() == {"s": ends[action]}


def test_a_child_that_is_not_known_yet_is_stopped_when_it_is() -> None:
    driver = alone().act(RunAction.STOP)
    key = driver.attempt("s").key
    assert driver.effects[-1] == StopChild(attempt=key, child=None, user="stop by ann")
    driver.send(ChildStarted(attempt=key, child=CHILD, version_id=1, uuid="u"))
    assert driver.effects[-1] == StopChild(attempt=key, child=CHILD, user="stop by ann")
    driver.send(ChildEnded(attempt=key, child=CHILD, status=RunStatus.SUCCEEDED))
    assert driver.status == "STOPPED"


def test_a_child_that_never_came_to_be_ends_the_wait_for_it() -> None:
    driver = alone().act(RunAction.STOP)
    driver.send(ChildRefused(attempt=driver.attempt("s").key, message="there is none"))
    assert driver.status == "STOPPED"


def test_a_child_that_is_known_is_not_refused_any_more() -> None:
    """An asking whose answer was lost is repeated, and both answers come."""
    driver = alone()
    key = driver.attempt("s").key
    driver.send(ChildStarted(attempt=key, child=CHILD, version_id=1, uuid="u"))
    assert not driver.send(ChildRefused(attempt=key, message="no")).changes
    driver.send(ChildEnded(attempt=key, child=CHILD, status=RunStatus.SUCCEEDED))
    assert driver.status == "SUCCEEDED"


def test_a_child_that_runs_on_its_own_is_not_stopped_with_the_step() -> None:
    driver = alone(sync=False).act(RunAction.STOP)
    assert not any(isinstance(effect, StopChild) for effect in driver.effects)
    driver.send(ChildStarted(attempt=driver.attempt("s").key, child=CHILD, version_id=1, uuid="u"))
    assert driver.status == "STOPPED"


def test_a_step_that_is_done_is_not_stopped_any_more() -> None:
    s = subworkflow("s", "kid", ("b", "params.nextUniqueId() > 0"))
    driver = parent(s, noop("b"))
    driver.fetching = False
    driver.start().run(0)
    assert driver.attempt("s").status is S.FINISHING
    driver.step("s", StepAction.STOP)
    assert driver.status == "STOPPED"


def test_depth_counts_over_workflows() -> None:
    library = {"kid": workflow(subworkflow("again", "kid"), id="kid")}
    driver = Driver(
        workflow(subworkflow("s", "kid")), library=library, settings=EngineSettings(depth=4)
    ).finish()
    assert driver.status == "FAILED"
    assert len(driver.world.children) == 3
