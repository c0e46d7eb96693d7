"""Restarts of what stands below a step: the path leads to the place, and the policy goes with it."""

from typing import Any

import pytest
from msgspec.structs import replace
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.restarting import node_of, restarted
from tests.engine.shapes import (
    ITEMS,
    computed,
    edges,
    foreach,
    noop,
    number,
    numbers,
    result,
    step,
    subworkflow,
    text,
    while_,
    workflow,
)
from tests.engine.test_elsewhere import LITTLE, LONG, SUM

from stretto.engine.effects import StartChild, StartWork
from stretto.engine.elsewhere import answer, question_of
from stretto.engine.records import RunKey, RunRecord
from stretto.model.actions import StepAction
from stretto.model.param import ParamDefinition, ParamMode, ParamType
from stretto.model.run_config import RestartConfig, RestartNode, RunPolicy
from stretto.model.status import StepStatus
from stretto.model.step import TemplateStep

S = StepStatus
P = RunPolicy
OPEN = step("open", type="Wait")  # keeps the run going
BODY = (step("a", "b", params={"v": number(0)}), step("b", params={"w": computed("a__v + 1")}))


def failing(*places: tuple[int, str]):
    """Work that fails in these iterations at these steps; `a` leaves its iteration's number times ten."""

    def play(effect: StartWork) -> Work:
        at = effect.attempt.run.instance_id
        outputs = {"v": result(at * 10)} if effect.attempt.step_id == "a" else {}
        failed = (at, effect.attempt.step_id) in places
        return Work("FATAL_ERROR" if failed else "DONE", outputs={} if failed else outputs)

    return play


def started(driver: Driver, since: int = 0) -> list[tuple[int, int, str]]:
    """What was launched: iteration, run and step."""
    found = [each.attempt for each in driver.effects[since:] if isinstance(each, StartWork)]
    return [(*key.run[1:], key.step_id) for key in found]


def children(driver: Driver) -> list[tuple[RunKey, Any]]:
    made = [each for each in driver.effects if isinstance(each, StartChild)]
    return [(each.again.child, each.again.policy) for each in made if each.again is not None]


def again_in(driver: Driver, step_id: str, *path: RestartNode, **more: Any) -> int:
    """A user restarts something below a step of a run that goes on."""
    key = driver.flow.run.key
    node = RestartNode(workflow_id=key.workflow_id, instance_id=key.instance_id, step_id=step_id)
    since = len(driver.effects)
    config = RestartConfig(restart_path=(*path, node), **more)
    driver.step(step_id, StepAction.RESTART, restart=config).run(0)
    return since


# ------------------------------------------------------------------------------- loops, in the same run
def failed_loop(*steps: Any, runtime: Any = None) -> Driver:
    loop = foreach("l", ITEMS, *(steps or BODY), concurrency=5)
    driver = Driver(workflow(loop, OPEN), runtime=runtime or failing((2, "b"), (4, "b"))).start().run(0)
    assert driver.attempt("l").status is S.FATALLY_FAILED
    driver.runtime = failing()
    return driver


def test_without_a_path_what_is_incomplete_runs_again() -> None:
    driver = failed_loop()
    since = len(driver.effects)
    driver.step("l", StepAction.RESTART).run(0)
    assert started(driver, since) == [(2, 2, "b"), (4, 2, "b")]
    assert driver.attempt("l").status is S.SUCCEEDED
    params = {
        effect.attempt.run.instance_id: effect.params["w"].evaluated_result
        for effect in driver.effects[since:]
        if isinstance(effect, StartWork)
    }
    assert params == {2: 21, 4: 41}  # what `a` left in the run before can be read


def test_the_policy_of_what_is_off_the_path_may_be_from_the_beginning() -> None:
    driver = failed_loop()
    since = again_in(driver, "l", downstream_policy=P.RESTART_FROM_BEGINNING)
    assert len(started(driver, since)) == 10
    assert not driver.fetches  # nobody needs to know what was before
    assert {run.key.run_id for run in driver.iterations("l")} == {1, 2}


def test_along_the_path_only_the_iteration_that_is_meant_runs_again() -> None:
    driver = failed_loop()
    since = again_in(driver, "l", node_of(driver, "l", 4), restart_policy=P.RESTART_FROM_INCOMPLETE)
    assert started(driver, since) == [(4, 3, "b")]
    assert driver.attempt("l").status is S.FATALLY_FAILED  # the second is still what it was
    (run,) = [run for run in driver.iterations("l") if run.key.run_id == 3]
    assert run.policy is P.RESTART_FROM_INCOMPLETE
    assert run.restart is not None
    assert [node.instance_id for node in run.restart.restart_path] == [4]
    since = again_in(driver, "l", node_of(driver, "l", 2), restart_policy=P.RESTART_FROM_BEGINNING)
    assert started(driver, since) == [(2, 5, "a"), (2, 5, "b")]
    assert driver.attempt("l").status is S.SUCCEEDED


def test_a_step_inside_an_iteration_is_restarted_with_its_params() -> None:
    driver = failed_loop()
    params = {"a": {"v": number(7)}, "open": {"x": number(1)}}
    node = node_of(driver, "l", 3, "a")
    since = again_in(driver, "l", node, restart_policy=P.RESTART_FROM_SPECIFIC, step_restart_params=params)
    assert started(driver, since) == [(3, 3, "a"), (3, 3, "b")]
    (effect,) = [
        each for each in driver.effects[since:] if isinstance(each, StartWork) and each.attempt.step_id == "a"
    ]
    assert effect.params["v"].evaluated_result == 7


def test_a_path_that_leads_elsewhere_fails_the_step() -> None:
    driver = failed_loop()
    again_in(driver, "l", RestartNode(workflow_id="maestro_foreach_x", instance_id=1))
    assert driver.attempt("l").status is S.INTERNALLY_FAILED
    assert "does not match run request [maestro_foreach_x]" in str(driver.attempt("l").reason)


def test_an_iteration_is_skipped_past_a_step() -> None:
    driver = failed_loop()
    node = node_of(driver, "l", 2, "b")
    since = again_in(driver, "l", node, restart_policy=P.RESTART_FROM_SPECIFIC, skip_steps=("b",))
    assert started(driver, since) == []
    assert [run.status for run in driver.iterations("l") if run.key.run_id == 3] == ["SUCCEEDED"]


def test_other_roots_of_an_iteration_wait_for_a_user() -> None:
    driver = failed_loop(step("x"), step("y"), step("z"), runtime=failing((2, "x"), (2, "y")))
    driver.runtime = scripted(x=[FOREVER])
    since = again_in(driver, "l", node_of(driver, "l", 2, "x"), restart_policy=P.RESTART_FROM_SPECIFIC)
    assert started(driver, since) == [(2, 3, "x")]
    child = driver.child("l", 2)
    assert driver.statuses(child) == {"x": "STARTING", "y": "NOT_CREATED"}
    driver.step("y", StepAction.RESTART, run=child.run.key).run(0)
    assert driver.statuses(child)["y"] == "SUCCEEDED"


def test_the_request_changes_params_of_the_iteration() -> None:
    inside = ParamDefinition(type=ParamType.STRING, value="a$b")
    changed = {"i": number(99), "m": ParamDefinition(type=ParamType.MAP, value={"k": inside})}
    driver = failed_loop(step("a", params={"v": computed("i + 1")}), runtime=failing((2, "a")))
    again_in(
        driver,
        "l",
        node_of(driver, "l", 2),
        restart_policy=P.RESTART_FROM_BEGINNING,
        restart_params=changed,
    )
    (run,) = [run for run in driver.iterations("l") if run.key.run_id == 3]
    assert run.params["i"].evaluated_result == 99
    assert run.params["m"].evaluated_result == {"k": "a$b"}
    assert driver.attempt("l").status is S.SUCCEEDED


# ------------------------------------------------------------------------------- in the next run
def test_a_restart_of_the_root_restarts_what_is_incomplete_below() -> None:
    first = Driver(workflow(foreach("l", ITEMS, *BODY)), runtime=failing((2, "b"))).finish()
    again = restarted(first, P.RESTART_FROM_INCOMPLETE)
    again.runtime = failing((2, "b"))
    assert started(again.finish()) == [(2, 2, "b")]
    third = restarted(again, P.RESTART_FROM_INCOMPLETE)
    third.runtime = failing()
    assert started(third.finish()) == [(2, 3, "b")]
    assert third.status == "SUCCEEDED"


def test_what_was_never_launched_is_launched_for_the_first_time() -> None:
    loop = foreach("l", ITEMS, *BODY, concurrency=1)
    first = Driver(workflow(loop), runtime=failing((2, "b"))).finish()
    assert len(first.iterations("l")) == 2
    again = restarted(first, P.RESTART_FROM_INCOMPLETE)
    again.runtime = failing()
    again.finish()
    assert started(again)[:3] == [(2, 2, "b"), (3, 2, "a"), (3, 2, "b")]
    policies = {run.key.instance_id: run.policy for run in again.of(RunRecord) if run.key.workflow_id != "w"}
    assert policies == {2: P.RESTART_FROM_INCOMPLETE, **dict.fromkeys((3, 4, 5), P.RESTART_FROM_BEGINNING)}


def test_what_whoever_opened_the_run_did_not_say_is_fetched() -> None:
    read = computed(f"{LONG[:-9]} return s + params.getFromStep('before', 'v');")
    steps = (
        step("before", "l", params={"v": number(1)}),
        foreach("l", ITEMS, *BODY, after=("s",)),
        subworkflow("s", "kid", "z"),
        step("z", params={"r": read}),
    )
    runtime = failing((2, "b"))
    first = Driver(workflow(*steps), library={"kid": KID}, runtime=runtime, settings=LITTLE).finish()
    again = restarted(first, P.RESTART_FROM_INCOMPLETE)
    again.flow.earlier = None
    again.runtime = failing()
    again.start().run(0)
    assert again.fetches[0] == ("earlier", "w", 1, 2)
    assert started(again)[0] == (2, 2, "b")
    again.flow.earlier = None  # as if it had been loaded now
    again.send(answer(question_of(again.flow, again.attempt("z").key)))  # type: ignore[arg-type]
    again.run(0)
    again.send(answer(question_of(again.flow, again.attempt("z").key)))  # type: ignore[arg-type]
    assert again.run(0).value("z", "r") == SUM + 1
    broken = restarted(parent(), P.RESTART_FROM_INCOMPLETE)
    broken.flow.earlier = None
    broken.runtime = scripted()
    assert children(broken.finish()) == [(RunKey("kid", 1, 1), P.RESTART_FROM_INCOMPLETE)]


def test_params_for_a_step_reach_it_in_all_iterations() -> None:
    first = Driver(workflow(foreach("l", ITEMS, *BODY)), runtime=failing((2, "a"), (4, "a"))).finish()
    params = {"a": {"v": number(7)}}
    again = restarted(first, P.RESTART_FROM_INCOMPLETE, step_params=params)
    again.runtime = scripted()
    again.finish()
    values = [
        each.params["v"].evaluated_result
        for each in again.effects
        if isinstance(each, StartWork) and each.attempt.step_id == "a"
    ]
    assert values == [7, 7]


def test_a_path_goes_down_through_loops_in_loops() -> None:
    inner = foreach("inner", {"x": numbers(1, 2, 3)}, *BODY, concurrency=3)
    loop = foreach("outer", {"o": numbers(1, 2)}, step("before", "inner"), inner, concurrency=2)
    fail = lambda e: Work("FATAL_ERROR" if _at(e) == ("inner", 3, "b") else "DONE")  # noqa: E731

    def _at(effect: StartWork) -> tuple[str, int, str]:
        name = "inner" if effect.attempt.step_id in "ab" else "outer"
        return name, effect.attempt.run.instance_id, effect.attempt.step_id

    first = Driver(workflow(loop), runtime=fail).finish()
    iterations = sorted({run.key.workflow_id for run in first.iterations("inner")})
    second = next(
        run
        for run in first.iterations("inner")
        if run.initiator.ancestors[-1].instance_id == 2  # type: ignore[union-attr]
    )
    assert len(iterations) == 2
    path = (
        RestartNode(workflow_id=second.key.workflow_id, instance_id=3),
        node_of(first, "outer", 2, "inner"),
    )
    again = restarted(first, P.RESTART_FROM_SPECIFIC, "outer", path=path, inner=P.RESTART_FROM_INCOMPLETE)
    again.runtime = scripted()
    again.finish()
    launched = [each.attempt for each in again.effects if isinstance(each, StartWork)]
    assert [(key.run.workflow_id, key.run.instance_id, key.step_id) for key in launched] == [
        (second.key.workflow_id, 3, "b")
    ]
    assert again.status == "FAILED"  # the first of the outer ones is still what it was
    outer = [run for run in again.of(RunRecord) if run.key.workflow_id == path[1].workflow_id]
    assert [(run.key.instance_id, run.policy, run.covers) for run in outer] == [
        (2, P.RESTART_FROM_SPECIFIC, ("inner",))
    ]


def test_run_ids_below_a_loop_never_come_twice() -> None:
    """The inner loop is restarted by hand, so its ids are ahead of those of the loop around it."""
    inner = foreach("inner", {"x": numbers(1, 2)}, step("a"), concurrency=2)
    loop = foreach("outer", {"o": numbers(1)}, inner, step("hold", type="Wait"))
    first = Driver(workflow(loop), runtime=scripted(a=["FATAL_ERROR"])).start().run(0)
    around = first.child("outer").run.key
    for _ in range(3):
        first.step("inner", StepAction.RESTART, run=around).run(0)
    assert max(run.key.run_id for run in first.iterations("inner")) == 4
    first.step("hold", StepAction.STOP, run=around).run(0)
    assert first.attempt("outer").loop_run == 4
    for policy in (P.RESTART_FROM_BEGINNING, P.RESTART_FROM_INCOMPLETE):
        again = restarted(first, policy)
        again.runtime = scripted()
        again.start().run(0)
        assert {run.key.run_id for run in again.iterations("outer")} == {5}
        assert {run.key.run_id for run in again.iterations("inner")} == {5}


# ------------------------------------------------------------------------------- subworkflows
KID = workflow(step("k1", "k2"), step("k2"), step("k3"), id="kid")


def parent(*more: Any, works: dict[str, Any] | None = None) -> Driver:
    driver = Driver(
        workflow(subworkflow("s", "kid"), *more),
        library={"kid": KID},
        runtime=scripted(**(works or {"k2": ["FATAL_ERROR"]})),
    )
    return driver.start().run(0)


def test_a_subworkflow_step_goes_on_with_its_child() -> None:
    driver = parent(OPEN)
    assert driver.attempt("s").status is S.FATALLY_FAILED
    driver.runtime = scripted()
    driver.step("s", StepAction.RESTART).run(0)
    assert children(driver) == [(RunKey("kid", 1, 1), P.RESTART_FROM_INCOMPLETE)]
    assert driver.attempt("s").status is S.SUCCEEDED
    assert driver.attempt("s").child == RunKey("kid", 1, 2)
    assert driver.world.children[RunKey("kid", 1, 2)].statuses() == {"k2": "SUCCEEDED"}


def test_a_path_leads_into_the_child() -> None:
    driver = parent(OPEN)
    driver.runtime = scripted(k2=[FOREVER])
    node = RestartNode(workflow_id="kid", instance_id=1, step_id="k3")
    again_in(
        driver,
        "s",
        node,
        restart_policy=P.RESTART_FROM_SPECIFIC,
        downstream_policy=P.RESTART_FROM_BEGINNING,
        step_restart_params={"k3": {"x": number(5)}},
    )
    child = driver.world.children[RunKey("kid", 1, 2)]
    assert child.statuses() == {"k2": "NOT_CREATED", "k3": "SUCCEEDED"}
    assert child.value("k3", "x") == 5
    assert child.flow.run.policy is P.RESTART_FROM_SPECIFIC


@pytest.mark.parametrize("policy", [P.RESTART_FROM_INCOMPLETE, P.RESTART_FROM_BEGINNING])
def test_a_restart_of_the_parent_restarts_the_child(policy: RunPolicy) -> None:
    first = parent()
    assert first.status == "FAILED"
    again = restarted(first, policy)
    again.runtime = scripted()
    again.finish()
    assert children(again) == [(RunKey("kid", 1, 1), policy)]
    covered = set(again.world.children[RunKey("kid", 1, 2)].statuses())
    assert covered == ({"k2"} if policy is P.RESTART_FROM_INCOMPLETE else {"k1", "k2", "k3"})


def test_what_succeeded_runs_from_the_beginning_if_it_is_restarted_by_name() -> None:
    first = parent(step("z"), works={"z": ["FATAL_ERROR"]})
    again = restarted(first, P.RESTART_FROM_SPECIFIC, "s", downstream=P.RESTART_FROM_INCOMPLETE)
    again.runtime = scripted()
    again.finish()
    assert set(again.world.children[RunKey("kid", 1, 2)].statuses()) == {"k1", "k2", "k3"}


def test_a_step_that_names_another_workflow_now_begins_anew() -> None:
    library = {"kid": KID, "other": workflow(noop("o"), id="other")}
    named = subworkflow("s", "kid", params={"subworkflow_id": computed("name", ParamType.STRING)})
    free = replace(text("kid"), mode=ParamMode.MUTABLE)
    made = workflow(named, params={"name": free})
    first = Driver(made, library=library, runtime=scripted(k2=["FATAL_ERROR"])).finish()
    again = restarted(first, P.RESTART_FROM_INCOMPLETE, params={"name": text("other")}).finish()
    assert children(again) == []
    assert again.attempt("s").child == RunKey("other", 1, 1)


def test_a_child_that_was_never_known_is_looked_for_further_back() -> None:
    driver = parent(OPEN)
    driver._start_child = lambda _effect: None  # type: ignore[method-assign,assignment]
    driver.step("s", StepAction.RESTART).run(0)
    assert driver.attempt("s").child is None
    assert driver.attempt("s").earlier_child == RunKey("kid", 1, 1)


def test_loops_around_subworkflows_restart_the_child_of_each_iteration() -> None:
    loop = foreach("l", {"i": numbers(1, 2)}, subworkflow("s", "kid"), concurrency=2)
    for policy in (P.RESTART_FROM_INCOMPLETE, P.RESTART_FROM_BEGINNING):
        first = Driver(workflow(loop), library={"kid": KID}, runtime=scripted(k2=["FATAL_ERROR"])).finish()
        again = restarted(first, policy)
        again.runtime = scripted()
        again.finish()
        assert children(again) == [(RunKey("kid", 1, 1), policy), (RunKey("kid", 2, 1), policy)]
        assert again.status == "SUCCEEDED"


def test_a_redirect_begins_everything_anew() -> None:
    steps = (
        step("a", "s"),
        subworkflow("s", "kid", "l"),
        foreach("l", {"i": numbers(1)}, step("x"), after=("z",)),
        step("z"),
    )
    works = {"z": [Work(redirect="a"), Work()]}
    driver = Driver(workflow(*steps), library={"kid": KID}, runtime=scripted(**works)).finish()
    assert children(driver) == []
    assert sorted(driver.world.children) == [RunKey("kid", 1, 1), RunKey("kid", 2, 1)]
    assert [run.key[1:] for run in driver.iterations("l")] == [(1, 1), (1, 2)]


# ------------------------------------------------------------------------------- templates and whiles
def test_a_template_goes_on_where_it_was() -> None:
    for policy, wanted in (
        (P.RESTART_FROM_INCOMPLETE, ["k2"]),
        (P.RESTART_FROM_BEGINNING, ["k1", "k3", "k2"]),
    ):
        steps = (TemplateStep(id="t", sub_type="kid", transition=edges()),)
        driver = Driver(workflow(*steps), library={"kid": KID}, runtime=scripted(k2=["FATAL_ERROR"])).finish()
        again = restarted(driver, policy)
        again.runtime = scripted()
        again.finish()
        assert [name for _, _, name in started(again)] == wanted
        assert again.status == "SUCCEEDED"


def test_a_path_into_a_template_that_is_another_fails_the_step() -> None:
    steps = (TemplateStep(id="t", sub_type="kid", transition=edges()),)
    first = Driver(workflow(*steps), library={"kid": KID}, runtime=scripted(k2=["FATAL_ERROR"])).finish()
    path = (RestartNode(workflow_id="maestro_template_x", instance_id=1),)
    again = restarted(first, P.RESTART_FROM_SPECIFIC, "t", path=path).finish()
    assert again.attempt("t").status is S.FATALLY_FAILED
    assert "does not match run request [maestro_template_x]" in str(again.attempt("t").reason)


def test_steps_that_work_adds_are_added_anew() -> None:
    runtime = scripted(a=[Work(added=(step("x"),))], x=["FATAL_ERROR"])
    driver = Driver(workflow(step("a"), OPEN), runtime=runtime).start().run(0)
    for _ in range(2):
        driver.step("a", StepAction.RESTART).run(0)
    assert [run.key.run_id for run in driver.iterations("a")] == [1, 2, 3]
    driver.step("open", StepAction.STOP).run(0)
    again = restarted(driver, P.RESTART_FROM_INCOMPLETE)
    again.flow.earlier = None  # whoever opened it did not say
    again.finish()
    assert [run.key.run_id for run in again.iterations("a")] == [4]


COUNT = step("a", "b", params={"n": computed("n + 1")})
ROUNDS = while_("l", "n < 5", {"n": number(0)}, COUNT, step("b"))


def rounds(driver: Driver) -> list[tuple[int, int, int]]:
    runs = [run for run in driver.of(RunRecord) if run.key.workflow_id != "w"]
    return [(*run.key[1:], run.params["n"].evaluated_result) for run in runs]


def test_what_complete_steps_of_a_round_left_is_carried_over() -> None:
    fail = lambda e: Work("FATAL_ERROR" if e.attempt.run[1] == 3 and e.attempt.step_id == "b" else "DONE")  # noqa: E731
    first = Driver(workflow(ROUNDS), runtime=fail).finish()
    again = restarted(first, P.RESTART_FROM_INCOMPLETE)
    again.runtime = scripted()
    again.finish()
    assert rounds(again) == [(3, 2, 2), (4, 2, 3), (5, 2, 4)]
    assert started(again)[:2] == [(3, 2, "b"), (4, 2, "a")]


def test_a_while_is_restarted_from_a_round() -> None:
    first = Driver(workflow(ROUNDS), runtime=scripted()).finish()
    path = (node_of(first, "l", 2),)
    again = restarted(first, P.RESTART_FROM_SPECIFIC, "l", path=path, inner=P.RESTART_FROM_BEGINNING)
    again.finish()
    assert rounds(again) == [(2, 2, 1), (3, 2, 2), (4, 2, 3), (5, 2, 4)]
    again = restarted(first, P.RESTART_FROM_BEGINNING).finish()
    assert rounds(again)[0] == (1, 2, 0)
    beyond = restarted(first, P.RESTART_FROM_SPECIFIC, "l", path=(node_of(first, "l", 9),)).finish()
    assert beyond.attempt("l").status is S.INTERNALLY_FAILED
    assert "from iteration [9]: the last one was [5]" in str(beyond.attempt("l").reason)


def test_a_while_whose_last_round_was_complete_goes_round_it_once_more() -> None:
    made = while_("l", "n < 3 && 6 / (2 - n) > 0", {"n": number(0)}, COUNT, step("b"))
    first = Driver(workflow(made)).finish()
    assert first.attempt("l").status is S.FATALLY_FAILED
    again = restarted(first, P.RESTART_FROM_INCOMPLETE).finish()
    assert started(again) == [(2, 2, "a"), (2, 2, "b")]
    assert [run.policy for run in again.of(RunRecord)][1] is P.RESTART_FROM_BEGINNING


def test_rounds_with_subworkflows_restart_their_children() -> None:
    body = (subworkflow("s", "kid", "a"), step("a", params={"n": computed("n + 1")}))
    made = while_("l", "n < 2", {"n": number(0)}, *body)
    first = Driver(workflow(made), library={"kid": KID}).finish()
    again = restarted(first, P.RESTART_FROM_BEGINNING).finish()
    assert [child for child, _ in children(again)] == [RunKey("kid", 1, 1), RunKey("kid", 2, 1)]


def test_a_while_that_never_went_round_begins_with_the_first() -> None:
    made = while_("l", "n < p", {"n": number(0)}, step("a", params={"n": computed("n + 1")}))
    first = Driver(workflow(made, OPEN, params={"p": number(1)}), settings=None).start()
    first.step("l", StepAction.STOP).run(0)
    driver = first.step("l", StepAction.RESTART).run(0)
    assert driver.attempt("l").status is S.SUCCEEDED
