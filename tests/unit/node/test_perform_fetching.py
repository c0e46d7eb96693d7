"""What evaluations are missing, read from what other steps, runs and workflows left."""

from typing import Any

import pytest
from tests.unit.node.bench import Bench

from stretto.engine import effects as todo
from stretto.engine import events as happened
from stretto.engine.earlier import EarlierLoop, earlier_key
from stretto.engine.job_templates import TemplateKey
from stretto.engine.live_rollup import kept_leaves
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.actions import StepAction
from stretto.model.errors import Internal
from stretto.model.job_template import JobTemplate, JobTemplateDefinition, JobTemplateMetadata
from stretto.model.param import ParamType
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import TemplateStep
from stretto.model.user import User
from stretto.node import asks
from stretto.node.perform.earlier import Earlier
from stretto.node.perform.values import collected
from stretto.params import Collected
from stretto.ports.signals import NewSignal
from stretto.testing.shapes import (
    ITEMS,
    UNIQUE,
    computed,
    foreach,
    noop,
    number,
    result,
    step,
    subworkflow,
    text,
    while_,
    workflow,
)

FROM_LOOP = computed("return params.getFromForeach('l', 'x', 'v')[3];")


def fetched(bench: Bench, run: RunKey, key: object, step_id: str = "a") -> Any:
    """What the performer finds for one key that a step of a run asks for."""
    effect = todo.Fetch(attempt=AttemptKey(run, step_id, 1), keys=(key,))
    record = bench.row(run).record
    ask = asks.FetchValues(lease=bench.lease_of(run), root=bench.row(run).root, effect=effect, run=record)
    (event,) = bench.ask(ask)
    assert isinstance(event, happened.Fetched)
    assert event.attempt == effect.attempt
    return event.values[key]


# --------------------------------------------------------------------------------------------------- loops
def test_the_values_of_a_foreach_are_collected() -> None:
    bench = Bench()
    bench.publish(
        workflow(
            foreach("l", ITEMS, step("x", params={"v": computed("i * 2")}), after=("a",)),
            step("a", params={"q": FROM_LOOP}),
        )
    )
    run = bench.start()
    assert bench.run(run) == "SUCCEEDED"
    assert bench.value(run, "a", "q") == 8
    found = fetched(bench, run, ("foreach", "l", 1, "x", "v"))
    assert found == Collected(ParamType.LONG, {1: 2, 2: 4, 3: 6, 4: 8, 5: 10})
    assert fetched(bench, run, ("foreach", "l", 1, "x", "nothing")) is None
    assert fetched(bench, run, ("foreach", "l", 1, "nobody", "v")) is None
    assert fetched(bench, run, ("foreach", "nobody", 1, "x", "v")) is None


def test_values_of_a_loop_in_an_earlier_run_can_still_be_read() -> None:
    bench = Bench()
    bench.publish(
        workflow(
            foreach("l", ITEMS, step("x", params={"v": computed("i * 2")}), after=("a",)),
            step("a", params={"q": FROM_LOOP}),
        )
    )
    bench.worker.failing = {"a"}
    first = bench.start()
    assert bench.run(first) == "FAILED"
    bench.worker.failing = set()
    second = bench.restart(first)
    assert bench.run(second) == "SUCCEEDED"
    assert bench.value(second, "a", "q") == 8
    assert bench.worker.started.count("x") == 5
    assert fetched(bench, second, ("foreach", "nobody", 0, "x", "v")) is None


def test_an_iteration_that_ran_again_left_what_its_runs_left_together() -> None:
    bench = Bench()
    body = (step("x", "y", params={"v": computed("i * 2")}), step("y", params={"v": computed("i + 100")}))
    bench.publish(workflow(foreach("l", ITEMS, *body, concurrency=5)))
    bench.worker.failing = {"y"}
    first = bench.start()
    assert bench.run(first) == "FAILED"
    key = ("foreach", "l", 1, "y", "v")
    assert fetched(bench, first, key) == Collected(ParamType.LONG, {n: n + 100 for n in range(1, 6)})
    bench.worker.failing = set()
    second = bench.restart(first)
    assert bench.run(second) == "SUCCEEDED"
    assert bench.worker.started.count("x") == 5
    expected = Collected(ParamType.LONG, {n: n * 2 for n in range(1, 6)})
    assert fetched(bench, second, ("foreach", "l", 1, "x", "v")) == expected
    assert bench.do(collected(bench.store, second, "l", 1, ("x", "v"), page=2)) == expected


def test_a_loop_that_never_had_an_iteration_left_nothing() -> None:
    bench = Bench()
    bench.publish(
        workflow(foreach("l", {"i": computed("return new int[0];", ParamType.LONG_ARRAY)}, step("x")))
    )
    run = bench.start()
    assert bench.run(run) == "SUCCEEDED"
    assert fetched(bench, run, ("foreach", "l", 1, "x", "v")) is None


def test_a_restarted_foreach_keeps_what_succeeded() -> None:
    bench = Bench()
    bench.publish(workflow(foreach("l", ITEMS, step("x"), step("y"))))
    bench.worker.failing = {"x"}
    run = bench.start()
    assert bench.run(run) == "FAILED"
    inline = bench.do(bench.store.loops(run))[0].inline_id
    assert fetched(bench, run, ("iterations", inline, 1)) == EarlierLoop(rows={RunStatus.FAILED: ((1, 5),)})
    bench.worker.failing = set()
    bench.worker.started.clear()
    again = bench.restart(run)
    assert bench.run(again) == "SUCCEEDED"
    assert bench.worker.started == ["x"] * 5  # `y` was complete in each of them
    assert fetched(bench, run, ("iterations", inline, 1)) == EarlierLoop(
        rows={RunStatus.SUCCEEDED: ((1, 5),)}
    )
    assert fetched(bench, run, ("iterations", "maestro_foreach_none", 1)) is None


def test_iterations_and_runs_are_read_in_pages() -> None:
    bench = Bench()
    bench.publish(workflow(foreach("l", ITEMS, step("x"), concurrency=5), step("a")))
    bench.worker.failing = {"x"}
    run = bench.start()
    bench.run(run)
    for _ in range(2):
        run = bench.restart(run)
        bench.run(run)
    inline = bench.do(bench.store.loops(run))[0].inline_id
    known = bench.do(bench.store.version("w", 1))
    assert known is not None
    small, large = Earlier(bench.store, page=2), Earlier(bench.store)
    assert bench.do(small.loop(inline)) == bench.do(large.loop(inline))
    one = bench.do(small.run(known.workflow, *run[:2]))
    other = bench.do(large.run(known.workflow, *run[:2]))
    assert one is not None
    assert other is not None
    assert one.statuses == other.statuses == {"l": StepStatus.FATALLY_FAILED, "a": StepStatus.SUCCEEDED}
    assert one.run_id == 3
    assert one.loop_runs == {"l": 3}


def test_iterations_of_a_while_after_the_last_of_its_newest_run_do_not_count() -> None:
    bench = Bench()
    bench.publish(
        workflow(while_("m", "n < 4", {"n": number(0)}, step("y", params={"n": computed("n + 1")})))
    )
    run = bench.start()
    assert bench.run(run) == "SUCCEEDED"
    inline = bench.do(bench.store.loops(run))[0].inline_id
    assert fetched(bench, run, ("iterations", inline, 1)) == EarlierLoop(
        rows={RunStatus.SUCCEEDED: ((1, 4),)}
    )
    bench.worker.failing = {"y"}
    again = bench.restart(run, RunPolicy.RESTART_FROM_BEGINNING)
    assert bench.run(again) == "FAILED"
    assert fetched(bench, again, ("iterations", inline, 1)) == EarlierLoop(rows={RunStatus.FAILED: ((1, 1),)})
    bench.worker.failing = set()
    bench.worker.started.clear()
    last = bench.restart(again)
    assert bench.run(last) == "SUCCEEDED"
    assert bench.worker.started == ["y"] * 4


# -------------------------------------------------------------------------------------------- earlier runs
def test_what_an_instance_has_had() -> None:
    bench = Bench()
    bench.publish(workflow(noop("c"), id="child"))
    bench.publish(
        workflow(
            step("a", "b", params={"p": number(1)}),
            step("b", "s"),
            subworkflow("s", "child"),
            foreach("l", ITEMS, noop("x")),
        )
    )
    bench.worker.failing = {"b"}
    run = bench.start()
    assert bench.run(run) == "FAILED"
    known = bench.do(bench.store.version("w", 1))
    assert known is not None
    earlier = Earlier(bench.store)
    assert bench.do(earlier.run(known.workflow, "w", 1, 1)) is None
    assert bench.do(earlier.run(known.workflow, "w", 9)) is None
    found = bench.do(earlier.run(known.workflow, "w", 1))
    assert found is not None
    assert found.statuses == {
        "a": StepStatus.SUCCEEDED,
        "b": StepStatus.FATALLY_FAILED,
        "s": StepStatus.NOT_CREATED,
        "l": StepStatus.SUCCEEDED,
    }
    assert found.steps.keys() == {"a", "l"}
    assert found.steps["a"].params["p"].value == 1
    assert found.steps["l"].total_loop_count == 5
    assert (found.run_id, found.status, found.loop_runs) == (1, RunStatus.FAILED, {"l": 1})
    counted = kept_leaves(found, ())
    assert counted.counts == {StepStatus.SUCCEEDED: 6, StepStatus.FATALLY_FAILED: 1}
    assert found.loops["l"].total_leaf_count == 5
    assert not found.children
    bench.worker.failing = set()
    again = bench.restart(run)
    assert bench.run(again) == "SUCCEEDED"
    found = fetched(bench, again, earlier_key("w", 1, 3))
    assert found.children == {"s": RunKey("child", 1, 1)}
    assert fetched(bench, again, earlier_key("w", 1, 2)).run_id == 1
    assert found.steps["a"].step_instance_uuid != found.steps["b"].step_instance_uuid


def test_steps_that_were_added_while_a_run_went_on_are_found_in_its_rows() -> None:
    bench = Bench()
    bench.publish(workflow(noop("t1", "t2"), noop("t2"), id="template"))
    bench.publish(workflow(TemplateStep(id="t", sub_type="template")))
    run = bench.start()
    assert bench.run(run) == "SUCCEEDED"
    inline = bench.do(bench.store.loops(run))[0].inline_id
    found = fetched(bench, run, earlier_key(inline, 1))
    assert found.statuses == {"t1": StepStatus.SUCCEEDED, "t2": StepStatus.SUCCEEDED}


# ---------------------------------------------------------------------------------------------- the others
def test_parameters_of_a_subworkflow() -> None:
    bench = Bench()
    read = computed("return params.getFromSubworkflow('s', 'c', 'v');")
    bench.publish(workflow(step("c", params={"v": number(7)}), id="child"))
    bench.publish(workflow(subworkflow("s", "child", "a"), step("a", params={"q": read})))
    bench.worker.failing = {"a"}
    run = bench.start()
    assert bench.run(run) == "FAILED"
    assert bench.value(run, "a", "q") == 7
    assert fetched(bench, run, ("subworkflow", "s", 1, "c", "nothing")) is None
    assert fetched(bench, run, ("subworkflow", "s", 1, "nobody", "v")) is None
    assert fetched(bench, run, ("subworkflow", "s", 9, "c", "v")) is None
    assert fetched(bench, run, ("subworkflow", "nobody", 0, "c", "v")) is None
    bench.worker.failing = set()
    again = bench.restart(run)
    assert bench.run(again) == "SUCCEEDED"  # the step was complete in an earlier run
    assert bench.value(again, "a", "q") == 7


def test_parameters_of_a_signal() -> None:
    bench = Bench()
    bench.publish(workflow(noop("a")))
    run = bench.start()
    bench.do(bench.store.announce(NewSignal(name="s", instance_id="1", params={"p": 5})))
    bench.do(bench.store.announce(NewSignal(name="s", instance_id="2")))
    assert fetched(bench, run, ("signal", "s", 1, "p")) == 5
    assert fetched(bench, run, ("signal", "s", 1, "q")) is None
    assert fetched(bench, run, ("signal", "s", 2, "p")) is None
    assert fetched(bench, run, ("signal", "s", 3, "p")) is None


def test_job_templates() -> None:
    bench = Bench()
    definition = JobTemplateDefinition(
        job_type="spark", step_type="Python", version="default", params={"p": number(4)}
    )
    template = JobTemplate(
        metadata=JobTemplateMetadata(owner=User(name="ann"), status="ok", support="none"),
        definition=definition,
    )
    bench.do(bench.store.put_template(template))
    bench.publish(workflow(step("a", sub_type="spark")))
    run = bench.start()
    assert bench.run(run) == "SUCCEEDED"
    assert bench.value(run, "a", "p") == 4
    assert fetched(bench, run, ("template", TemplateKey("spark", "default"))) == definition
    assert fetched(bench, run, ("template", TemplateKey("spark", "2"))) is None


def test_workflows_that_are_templates() -> None:
    bench = Bench()
    bench.publish(workflow(noop("a"), id="t"))
    bench.publish(workflow(noop("b"), id="t"))
    bench.publish(workflow(noop("a")))
    run = bench.start()
    for version, expected in (("default", "b"), ("latest", "b"), ("1", "a")):
        found = fetched(bench, run, ("workflow", "t", version))
        assert [each.id for each in found.steps] == [expected]
    for key in (("workflow", "t", "9"), ("workflow", "nobody", "1"), ("workflow", "t", "?")):
        assert fetched(bench, run, key) is None
    assert fetched(bench, run, ("workflow", None, "default")) is None


def test_a_number_that_nobody_else_gets() -> None:
    bench = Bench()
    bench.publish(workflow(step("a", params={"u": UNIQUE})))
    run, other = bench.start(), bench.start()
    assert bench.run(run, other) == "SUCCEEDED"
    one = bench.value(run, "a", "u")
    assert one != bench.value(other, "a", "u")
    assert fetched(bench, run, ("unique", AttemptKey(run, "a", 1))) == one  # and the same again
    assert fetched(bench, run, ("unique", AttemptKey(run, "a", 2))) != one


def test_a_key_that_nobody_knows_is_our_fault() -> None:
    bench = Bench()
    bench.publish(workflow(noop("a")))
    with pytest.raises(Internal, match="nobody knows how to fetch"):
        fetched(bench, bench.start(), ("weather", "today"))


def test_what_is_missing_is_fetched_for_a_step_that_is_restarted_by_hand() -> None:
    bench = Bench()
    bench.publish(workflow(foreach("l", ITEMS, step("x"), concurrency=5), step("z")))
    bench.worker.failing = {"x"}
    bench.holding = (todo.StartWork,)
    run = bench.start()
    bench.launch(run)
    for effect in bench.held:
        if isinstance(effect, todo.StartWork) and effect.attempt.step_id != "z":
            bench.carry_out(run, effect)
    bench.settle()
    assert bench.statuses(run)["l"] == "FATALLY_FAILED"
    bench.worker.failing, bench.holding = set(), ()
    acted = happened.StepActed(attempt=AttemptKey(run, "l", 0), action=StepAction.RESTART, user="ann")
    bench.events.append((run, acted))
    bench.settle()
    assert bench.statuses(run)["l"] == "SUCCEEDED"
    assert bench.worker.started.count("x") == 10


def test_an_output_is_a_value_like_any_other() -> None:
    bench = Bench()
    bench.worker.outputs = {"x": {"v": result(9)}}
    bench.publish(
        workflow(
            foreach("l", ITEMS, step("x", params={"v": number(0), "w": text("t")}), after=("a",)),
            step("a", params={"q": FROM_LOOP}),
        )
    )
    run = bench.start()
    assert bench.run(run) == "SUCCEEDED"
    assert bench.value(run, "a", "q") == 9
