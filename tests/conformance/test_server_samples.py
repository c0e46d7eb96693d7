"""Maestro's server samples, run in virtual time to the outcome that the index of the corpus states."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.conformance.corpus import corpus
from tests.engine.driver import Driver, Work, attempts_of, definition_of, scripted
from tests.engine.shapes import result, text

from stretto.definition.parse import Options, load
from stretto.engine.effects import StartChild, StartWork
from stretto.engine.job_templates import TemplateKey
from stretto.engine.policies import retries_for
from stretto.engine.records import LoopRecord
from stretto.engine.retry import DEFAULT_RETRIES, Budget
from stretto.model.actions import StepAction
from stretto.model.artifact import DynamicOutputArtifact, RetryArtifact
from stretto.model.initiator import SignalInitiator
from stretto.model.job_template import JobTemplateRequest
from stretto.model.param import ParamType
from stretto.model.status import StepStatus
from stretto.model.wire import decode, loads
from stretto.model.workflow import Workflow
from stretto.params import ParamError

pytestmark = pytest.mark.conformance
FOLDER = corpus("maestro-data", "maestro-server", "src", "test", "resources")
NEEDS_NETWORK = {"sample-http-wf.yaml"}  # its outcome is that of the runtime for HTTP
S = StepStatus


def sample(name: str) -> Workflow:
    """A sample by its file name without ending."""
    folder = FOLDER / "jobtemplates" if name == "sample-shell-wf" else FOLDER / "samples"
    # The shell sample has what its type needs only in its job template, which a reader does not know.
    options = Options(rules=name != "sample-shell-wf")
    (definition,) = load((folder / f"{name}.json").read_text(encoding="utf-8"), options)
    return definition.workflow


def library() -> dict[str, Any]:
    names = [path.stem for path in (FOLDER / "samples").glob("*.json")]
    return {made.id: made for made in map(sample, names)}


def run(name: str, **more: Any) -> Driver:
    return Driver(sample(name), **more).finish()


def all_succeeded(driver: Driver) -> bool:
    return driver.status == "SUCCEEDED" and set(driver.statuses().values()) == {"SUCCEEDED"}


def begins_after(driver: Driver, step_id: str, *before: str) -> None:
    ends = [driver.attempt(each).end_time for each in before]
    assert (driver.attempt(step_id).create_time or 0) >= max(each for each in ends if each is not None)
    assert {each.sequence < driver.attempt(step_id).sequence for each in map(driver.attempt, before)} == {
        True
    }


def seconds(driver: Driver) -> float:
    run_record = driver.flow.run
    return (run_record.end_time - run_record.start_time) / 1_000  # type: ignore[operator]


CHECKS: dict[str, Callable[[], None]] = {}


def outcome(name: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def register(check: Callable[[], None]) -> Callable[[], None]:
        CHECKS[name] = check
        return check

    return register


@outcome("sample-conditional-wf")
def _() -> None:
    for driver in (run("sample-conditional-wf"), Driver(_yaml("sample-conditional-wf")).finish()):
        unmet = {"job.4", "job.5"}
        assert driver.status == "SUCCEEDED"
        assert {name for name, status in driver.statuses().items() if status == "UNSATISFIED"} == unmet
        assert {status for name, status in driver.statuses().items() if name not in unmet} == {"SUCCEEDED"}
        assert driver.value("job.3", "param2") == 15
        assert driver.value("job.7", "param5") in {15, "15"}


def _yaml(name: str) -> Workflow:
    return definition_of((FOLDER / "samples" / "yaml" / f"{name}.yaml").read_text(encoding="utf-8"))


@outcome("sample-dag-test-1")
def _() -> None:
    driver = run("sample-dag-test-1")
    assert all_succeeded(driver)
    assert len(driver.statuses()) == 6
    assert driver.flow.run.params["foo"].evaluated_result == "September"
    begins_after(driver, "job.3", "job.2", "job.5")
    begins_after(driver, "job.4", "job.3", "job.6")


@outcome("sample-dag-test-2")
def _() -> None:
    driver = run("sample-dag-test-2")
    assert all_succeeded(driver)
    assert 100 <= seconds(driver) <= 101
    for name in ("param1", "param2"):
        with pytest.raises(ParamError):
            Driver(sample("sample-dag-test-2"), run_params={name: text("mine")})


@outcome("sample-dag-test-3")
def _() -> None:
    driver = run("sample-dag-test-3")
    assert all_succeeded(driver)
    begins_after(driver, "job.2", "job1", "job3")
    begins_after(driver, "job4", "job.2", "job3")
    assert driver.value("job.2", "sleep_seconds") == 16
    assert driver.value("job.2", "param1") == "161"
    assert driver.value("job.2", "param2") == "15 + 1"


@outcome("sample-dag-test-4")
def _() -> None:
    driver = run("sample-dag-test-4")
    assert all_succeeded(driver)
    assert len(driver.statuses()) == 7
    begins_after(driver, "job.6", "job.3", "job.5")
    begins_after(driver, "job.7", "job.4", "job.6")


@outcome("sample-dag-test-5")
def _() -> None:
    def fresh() -> Driver:
        return Driver(sample("sample-dag-test-5")).start().run(600_000)

    driver = fresh()
    assert driver.attempt("job.1").status is S.WAITING_FOR_SIGNALS
    assert driver.flow.run.params["WF_RESTART_MODE"].evaluated_result == "run"
    date = driver.flow.run.params["DERIVED_RUN_DATE_UTC"].evaluated_result
    driver.world.announce("prod_db/foo/bar", vtts_utc_dateint=date)
    driver.world.announce("signal_b", key2="another")
    assert driver.run(0).attempt("job.1").status is S.WAITING_FOR_SIGNALS
    driver.world.announce("signal_b", key2="value2")
    assert driver.run().status == "SUCCEEDED"
    assert fresh().step("job.1", StepAction.BYPASS_STEP_DEPENDENCIES).run().status == "SUCCEEDED"


@outcome("sample-dag-test-6")
def _() -> None:
    driver = run("sample-dag-test-6")
    assert all_succeeded(driver)
    assert len(driver.statuses()) == 8


@outcome("sample-dag-test-7")
def _() -> None:
    driver = run("sample-dag-test-7")
    assert all_succeeded(driver)
    assert len(driver.flow.plan.sources) == 2
    begins_after(driver, "job.8", "job.7")


@outcome("sample-dag-test-8")
def _() -> None:
    driver = run("sample-dag-test-8")
    assert driver.status == "SUCCEEDED"
    assert driver.statuses() == {
        "job.1": "SUCCEEDED",
        "job.2": "SUCCEEDED",
        "job.3": "UNSATISFIED",
        "job.4": "SUCCEEDED",
        "job.5": "SUCCEEDED",
    }


@outcome("sample-dag-test-9")
def _() -> None:
    driver = run("sample-dag-test-9")
    assert all_succeeded(driver)
    begins_after(driver, "job.7", "job.4", "job.5", "job.6")
    begins_after(driver, "job.9", "job.7", "job.8")


@outcome("sample-dag-test-10")
def _() -> None:
    driver = run("sample-dag-test-10")
    assert driver.status == "TIMED_OUT"
    assert seconds(driver) == 100
    driver = Driver(sample("sample-dag-test-10"))
    driver.world.announce("signal_a", _step_dependency_sub_type="input_signal", foo="bar")
    driver.world.announce("signal_b", key2="value2")
    driver.finish()
    assert all_succeeded(driver)
    assert driver.value("job.2", "sleep_seconds") == 2
    assert (driver.value("job.2", "param1"), driver.value("job.2", "param2")) == ("21", "1 + 1")
    plans = {plan.id: plan for plan in driver.flow.plan.steps}
    retries = retries_for(driver.flow, plans["job3"], driver.now)
    assert (retries.user, retries.platform.limit, retries.timeout.limit) == (Budget(3, 100, 2, 1_800), 10, 2)
    started = driver.attempt("job3").start_time
    assert any(getattr(effect, "due", 0) == started + 10_000 for effect in driver.effects)  # type: ignore[operator]
    assert retries_for(driver.flow, plans["job.2"], driver.now) == DEFAULT_RETRIES


# --------------------------------------------------------------------------------------------------- loops
@outcome("sample-foreach-wf")
def _() -> None:
    driver = run("sample-foreach-wf")
    assert driver.status == "SUCCEEDED"
    (loop,) = driver.of(LoopRecord)
    assert loop.total == 9
    assert sum(loop.leaves.values()) == 54
    runs = driver.iterations(loop.key.step_id)
    names = list(dict(loop_values(driver)).keys())
    dates = [run.params[names[0]].evaluated_result for run in runs]
    assert [int(each) for each in dates] == list(range(20200101, 20200110))
    assert runs[0].key.workflow_id.startswith("maestro_foreach_")


def loop_values(driver: Driver) -> dict[str, Any]:
    loops = [
        record for record in driver.flow.attempts if record is not None and record.loop_total is not None
    ]
    return dict((loops[0].params or {})["loop_params"].evaluated_result)


@outcome("sample-large-foreach-wf")
def _() -> None:
    driver = Driver(sample("sample-large-foreach-wf"), check=False)
    driver.start()
    most = len(driver.live(driver.flow.plan.steps[0].id)) if driver.flow.children else 0
    driver.run()
    assert driver.status == "SUCCEEDED"
    (loop,) = driver.of(LoopRecord)
    assert loop.total == 1_098
    assert 20 < most <= 100  # as its author says
    found = [
        record.params["param2"].evaluated_result
        for record in sorted(driver.of(type(driver.flow.attempts[0])), key=lambda each: each.key)
        if "param2" in (record.params or {})
    ]
    assert found[:2] == ["20200101a", "20200102a"]


@outcome("sample-nested-foreach-wf")
def _() -> None:
    driver = run("sample-nested-foreach-wf")
    assert driver.status == "SUCCEEDED"
    loops = driver.of(LoopRecord)
    assert [loop.total for loop in loops if loop.key.run == driver.flow.run.key] == [6]
    assert sorted(loop.total for loop in loops if loop.key.run != driver.flow.run.key) == [0, 0, 1, 1, 2, 2]


@outcome("sample-while-wf")
def _() -> None:
    driver = run("sample-while-wf")
    assert driver.status == "SUCCEEDED"
    (loop,) = driver.of(LoopRecord)
    runs = driver.iterations(loop.key.step_id)
    values = [run.params["i"].evaluated_result for run in runs]
    assert [*values, loop.carried["i"].evaluated_result] == list(range(20200101, 20200107))
    assert len(runs) == 5


# ------------------------------------------------------------------------------------------- subworkflows
@outcome("sample-subworkflow-wf")
def _() -> None:
    driver = run("sample-subworkflow-wf", library=library())
    assert driver.status == "SUCCEEDED"
    starts = {each.attempt.step_id: each for each in driver.effects if isinstance(each, StartChild)}
    assert len(starts) == 6
    assert [name for name, each in starts.items() if not each.sync] == ["job3"]
    assert driver.attempt("job3").end_time == driver.attempt("job3").start_time
    assert set(starts["job5"].params) < set(starts["job1"].params)
    assert "RUN_TS" not in starts["job5"].params
    waited = [driver.attempt(name) for name in starts if name != "job3"]
    children = driver.world.children
    assert all(each.end_time == children[each.child].flow.run.end_time for each in waited)  # type: ignore[index]


@outcome("sample-nested-subworkflow-wf")
def _() -> None:
    driver = run("sample-nested-subworkflow-wf", library=library())
    assert driver.status == "SUCCEEDED"
    assert max(child.flow.run.initiator.depth for child in driver.world.children.values()) == 2


@outcome("sample-nested-foreach-subworkflow-wf")
def _() -> None:
    driver = run("sample-nested-foreach-subworkflow-wf", library=library())
    assert driver.status == "SUCCEEDED"
    assert [child.workflow.id for child in driver.world.children.values()] == ["sample-dag-test-3"] * 6


@outcome("sample-nested-subworkflow-foreach-wf")
def _() -> None:
    driver = run("sample-nested-subworkflow-foreach-wf", library=library())
    assert driver.status == "SUCCEEDED"
    totals = [child.of(LoopRecord)[0].total for child in driver.world.children.values()]
    assert totals == [9, 9, 9]


@outcome("sample-mixed-wf")
def _() -> None:
    driver = run("sample-mixed-wf", library=library())
    assert all_succeeded(driver)
    assert (
        len([child for child in driver.world.children.values() if child.flow.run.initiator.depth == 1]) == 3
    )


# ------------------------------------------------------------------------------------------------ triggers
@outcome("sample-signal-trigger-wf")
def _() -> None:
    given = {"foo": result("bar", ParamType.STRING)}  # what the trigger evaluated
    ids = {"signal_a": 1, "signal_b": 2}
    initiator = SignalInitiator(trigger_uuid="t", signal_id_map=ids, params=given)
    driver = Driver(sample("sample-signal-trigger-wf"), initiator=initiator)
    driver.world.announce("signal_a", foo="bat", watermark=12_345, updated_by="X")
    driver.world.announce("signal_b", bar="baz", watermark=22_222, posted_by="X")
    driver.start().run(60_000)
    assert driver.attempt("job.1").status is S.WAITING_FOR_SIGNALS
    wanted = driver.attempt("job.1").signals.dependencies  # type: ignore[union-attr]
    assert "db/test/table1" in [each.name for each in wanted]
    for each in wanted:
        values = {name: match.value for name, match in (each.match_params or {}).items()}
        driver.world.announce(each.name, **values)
    assert driver.run().status == "SUCCEEDED"
    assert driver.value("job.1", "param2") in {12_345, "12345"}


@outcome("sample-time-trigger-wf")
def _() -> None:
    assert all_succeeded(run("sample-time-trigger-wf"))


# ------------------------------------------------------------ what a cluster does, played by a script
@outcome("sample-kubernetes-wf")
def _() -> None:
    assert run("sample-kubernetes-wf").status == "SUCCEEDED"
    failed = Driver(sample("sample-kubernetes-wf"), runtime=lambda _effect: Work("USER_ERROR")).finish()
    assert failed.status == "FAILED"
    assert {
        len(attempts_of(failed, name))
        for name, status in failed.statuses().items()
        if status == "FATALLY_FAILED"
    } == {1}


@outcome("sample-kubernetes-nonretryable-wf")
def _() -> None:
    work = Work("USER_ERROR", artifacts={"maestro_retry": RetryArtifact(retryable=False)})
    driver = Driver(sample("sample-kubernetes-nonretryable-wf"), runtime=lambda _effect: work).finish()
    failed = [name for name, status in driver.statuses().items() if status == "FATALLY_FAILED"]
    assert [len(attempts_of(driver, name)) for name in failed] == [1]
    assert driver.status == "FAILED"


@outcome("sample-kubernetes-output-wf")
def _() -> None:
    table = result({"name": "demo_table"}, ParamType.MAP)
    work = Work(
        outputs={"foo": result("bar", ParamType.STRING)},
        artifacts={"maestro_dynamic_output": DynamicOutputArtifact(signal_outputs=[table])},
    )
    for name in ("sample-kubernetes-output-wf", "sample-kubernetes-env-wf"):
        driver = Driver(sample(name), runtime=lambda _effect: work).finish()
        assert driver.statuses()["end"] == "SUCCEEDED"
        assert [each.name for each in driver.world.signals] == ["demo_table"]
        idle = Driver(sample(name)).finish()
        assert idle.statuses()["end"] == "UNSATISFIED"


CHECKS["sample-kubernetes-env-wf"] = CHECKS["sample-kubernetes-output-wf"]


@outcome("sample-notebook-wf")
def _() -> None:
    for name in ("sample-notebook-wf", "sample-notebook-git-wf"):
        assert all_succeeded(run(name))


CHECKS["sample-notebook-git-wf"] = CHECKS["sample-notebook-wf"]


@outcome("sample-shell-wf")
def _() -> None:
    text_of_template = (FOLDER / "jobtemplates" / "sample-job-template-1.json").read_text(encoding="utf-8")
    request, problems = decode(JobTemplateRequest, loads(text_of_template))
    assert not problems
    driver = Driver(
        sample("sample-shell-wf"),
        runtime=scripted(**{"job.2": [Work(outputs={"foo": result("bar", ParamType.STRING)})]}),
    )
    driver.templates = {TemplateKey("shell", "v1"): request.definition}
    driver.finish()
    assert driver.status == "SUCCEEDED"
    params = driver.attempt("job.2").params or {}
    assert {"kubernetes", "notebook", "script"} <= set(params)
    template = (request.definition.params or {})["script"]
    assert params["script"].evaluated_result != template.value
    assert driver.value("job.2", "foo") == "bar"
    assert any(isinstance(effect, StartWork) for effect in driver.effects)


@pytest.mark.parametrize("name", CHECKS)
def test_sample(name: str) -> None:
    CHECKS[name]()


def test_every_sample_is_run() -> None:
    files = [*(FOLDER / "samples").rglob("*.*"), FOLDER / "jobtemplates" / "sample-shell-wf.json"]
    names = {path.stem for path in files if path.name not in NEEDS_NETWORK}
    assert names == set(CHECKS)
