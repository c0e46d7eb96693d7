"""Functions of `params`, loops, validators, and what can be said without running anything."""

from decimal import Decimal
from typing import Any

import pytest
from tests.unit.params.make import (
    World,
    decimal,
    done,
    expression,
    flag,
    in_run,
    in_step,
    longs,
    map_of,
    number,
    results,
    strings,
    text,
)

from stretto.model.param import ParamDefinition, ParamType
from stretto.params import (
    Collected,
    Evaluated,
    Fault,
    MissingKeys,
    ParamError,
    RunFacts,
    Scope,
    StepFacts,
    evaluate,
    is_retryable,
    iteration_count,
    iteration_values,
    problems_of,
)
from stretto.sel import Missing


def call(script: str, world: World, kind: str = "STRING", scope: Scope | None = None) -> Any:
    found = evaluate({"p": expression(kind, script)}, scope or in_step(world))
    return found["p"].evaluated_result if isinstance(found, Evaluated) else found


def fails(script: str, world: World, scope: Scope | None = None) -> str:
    with pytest.raises(ParamError) as raised:
        call(script, world, scope=scope)
    assert raised.value.fault is Fault.EXPRESSION
    return raised.value.message


FOREACH = StepFacts(step_id="loop", type="foreach", total_loop_count=3)


def test_values_of_iterations_are_collected_with_gaps() -> None:
    world = World(steps={"loop": FOREACH}, loops={"loop/s/n": Collected(ParamType.LONG, {1: 5, 3: 7})})
    assert call("params.getFromForeach('loop', 's', 'n')", world, "LONG_ARRAY") == (5, 0, 7)
    world.loops["loop/s/n"] = Collected(ParamType.STRING, {2: "b"})
    assert call("params.getFromForeach('loop', 's', 'n')", world, "STRING_ARRAY") == (None, "b", None)
    world.loops["loop/s/n"] = Collected(ParamType.DOUBLE, {2: Decimal("1.5")})
    found = call("params.getFromForeach('loop', 's', 'n')", world, "DOUBLE_ARRAY")
    assert found == (Decimal("0.0"), Decimal("1.5"), Decimal("0.0"))


def test_a_loop_that_never_ran_gives_an_empty_array_of_any_type() -> None:
    world = World(steps={"loop": StepFacts(step_id="loop", type="FOREACH", total_loop_count=0)})
    assert call("params.getFromForeach('loop', 's', 'n')", world, "LONG_ARRAY") == ()


def test_what_is_not_in_memory_is_asked_for() -> None:
    child = StepFacts(step_id="child", type="subworkflow")
    world = World(
        run=RunFacts(workflow_id="wf", initiator="SIGNAL"),
        steps={"loop": FOREACH, "child": child, "far": Missing("far")},
        loops={"loop/s/n": Missing("loop")},
        children={"child/s/n": Missing("child")},
        signals={("t", "p"): Missing("t")},
        dependencies={(0, "p"): Missing("dep")},
    )
    for script, key in {
        "params.getFromForeach('loop', 's', 'n')": "loop",
        "params.getFromForeach('far', 's', 'n')": "far",
        "params.getFromSubworkflow('child', 's', 'n')": "child",
        "params.getFromSubworkflow('far', 's', 'n')": "far",
        "params.getFromSignal('t', 'p')": "t",
        "params.getFromSignalOrDefault('t', 'p', 'd')": "t",
        "params.getFromSignalDependency('0', 'p')": "dep",
    }.items():
        assert call(script, world) == MissingKeys((key,))


def test_functions_answer_from_what_is_in_memory() -> None:
    ended = StepFacts(step_id="a", type="NoOp", status="SUCCEEDED", end_time=7, params={"n": done("LONG", 3)})
    child = StepFacts(step_id="child", type="SUBWORKFLOW")
    failed = StepFacts(step_id="failed", type="NoOp", error={"type": "ValueError"})
    own = StepFacts(step_id="own", type="NoOp", params={"STRETTO_STEP_ERROR": done("LONG", 5)})
    world = World(
        run=RunFacts(workflow_id="wf", initiator="SIGNAL", signal_params={"day": 5}),
        steps={"a": ended, "child": child, "failed": failed, "own": own},
        children={"child/s/n": done("LONG", 4)},
        dependencies={(0, "p"): "x"},
    )
    for script, wanted in {
        "params.getFromStep('a', 'MAESTRO_STEP_STATUS')": "SUCCEEDED",
        "params.getFromStep('a', 'MAESTRO_STEP_END_TIME')": "7",
        "params.getFromStep('a', 'n')": "3",
        "params.getFromStep('a', 'STRETTO_STEP_ERROR')": "null",
        "params.getFromStep('failed', 'STRETTO_STEP_ERROR')": '{"type":"ValueError"}',
        "params.getFromStep('own', 'STRETTO_STEP_ERROR')": "5",
        "params.getFromSubworkflow('child', 's', 'n')": "4",
        "params.getFromSignal('day')": "5",
        "params.getFromSignalOrDefault('t', 'p', 'd')": "d",
        "params.getFromSignalDependency('0', 'p')": "x",
    }.items():
        assert call(script, world) == wanted


def test_functions_say_what_is_wrong() -> None:
    running = StepFacts(step_id="run", type="NoOp", params={"raw": number(1)})
    world = World(steps={"loop": FOREACH, "run": running})
    assert "no iteration" in fails("params.getFromForeach('loop', 's', 'n')", world)
    assert "no end time" in fails("params.getFromStep('run', 'MAESTRO_STEP_END_TIME')", world)
    assert "not evaluated" in fails("params.getFromStep('run', 'raw')", world)
    assert "no param" in fails("params.getFromStep('run', 'nothing')", world)
    assert "no function" in fails("params.getFromMoon('x')", world)
    assert "brought no param" in fails("params.getFromSignalDependency('one', 'p')", world)
    assert "no signal param" in fails("params.getFromSignal('p')", world)
    assert "no complete step" in fails("params.getFromStep('nowhere', 'p')", world)
    assert "instead of a subworkflow" in fails("params.getFromSubworkflow('loop', 's', 'n')", world)
    world.steps["new"] = StepFacts(step_id="new", type="foreach")
    assert "has not begun" in fails("params.getFromForeach('new', 's', 'n')", world)
    world.loops["loop/s/n"] = Collected(ParamType.LONG_ARRAY, {})
    assert "can not be collected" in fails("params.getFromForeach('loop', 's', 'n')", world)
    timed = World(run=RunFacts(workflow_id="wf", initiator="TIME"))
    assert "only if a user" in fails("params.getFromInstance('INITIATOR_RUNNER_NAME')", timed)


def test_a_dry_run_has_a_number_for_every_signal_of_a_trigger() -> None:
    run = RunFacts(workflow_id="wf", initiator="VALIDATION", trigger_signals=frozenset({"t"}))
    assert call("params.getFromSignal('t', 'p')", World(run), "LONG", in_run(World(run))) == 20_220_101
    assert call("params.getFromSignal('p')", World(run), "LONG") == 20_220_101
    assert "no signal trigger" in fails("params.getFromSignal('other', 'p')", World(run))


def test_a_dry_run_is_started_by_whoever_asks_for_it() -> None:
    run = RunFacts(workflow_id="wf", initiator="VALIDATION", runner="ann")
    expression = "params.getFromInstance('INITIATOR_RUNNER_NAME')"
    assert call(expression, World(run), scope=in_run(World(run))) == "ann"
    assert call(expression, World(run)) == "ann"


def test_some_facts_are_known_in_one_scope_only() -> None:
    world = World()
    assert call("params.getFromInstance('owner')", world, scope=in_run(world)) == "ann"
    assert "[owner]" in fails("params.getFromInstance('owner')", world)
    assert "[step_id]" in fails("params.getFromStep('step_id')", world, in_run(world))
    assert call("params.nextUniqueId()", world, "LONG") == 42
    assert call("params.getExecutionEnvironment()", world) == ""


# ------------------------------------------------------------------------------------------------- loops
def test_the_loop_parameter_that_is_written_first_varies_fastest() -> None:
    loop = done("MAP", {"i": [1, 2], "s": ["a", "b", "c"]}, evaluated_time=9)
    assert iteration_count(loop) == 6
    found = [
        {name: param.evaluated_result for name, param in iteration_values(loop, index).items()}
        for index in range(6)
    ]
    assert found[:3] == [{"i": 1, "s": "a"}, {"i": 2, "s": "a"}, {"i": 1, "s": "b"}]
    assert found[-1] == {"i": 2, "s": "c"}
    assert iteration_values(loop, 0)["i"].type is ParamType.LONG


def test_the_combinations_of_two_long_arrays_are_counted_and_not_made() -> None:
    """625 million of them: making them would take minutes, and tens of gigabytes."""
    ranges = expression("LONG_ARRAY", "Util.intsBetween(0, 25000, 1)")
    found = evaluate({"loop_params": map_of({"i": ranges, "j": ranges})}, in_run())
    assert isinstance(found, Evaluated)
    loop = found["loop_params"]
    assert iteration_count(loop) == 625_000_000
    last = iteration_values(loop, 624_999_998)
    assert {name: param.evaluated_result for name, param in last.items()} == {"i": 24_998, "j": 24_999}


def test_a_loop_runs_over_what_its_expressions_made() -> None:
    loop = map_of({"day": expression("LONG_ARRAY", "Util.intsBetween(1, 4, 1)"), "none": longs()})
    found = evaluate({"loop_params": loop}, in_run())
    assert isinstance(found, Evaluated)
    assert iteration_count(found["loop_params"]) == 0
    assert results({"l": map_of({"day": loop.value["day"]})}) == {"l": {"day": [1, 2, 3]}}


def test_loops_over_doubles_keep_their_digits_and_empty_ones_do_not_run() -> None:
    assert iteration_values(done("MAP", {"d": [0.1]}), 0)["d"].evaluated_result == Decimal("0.1")
    assert iteration_count(done("MAP", {"i": [1, 2], "none": []})) == 0
    with pytest.raises(ParamError, match=r"\[i\] must be an array"):
        iteration_count(done("MAP", {"i": 5}))


# -------------------------------------------------------------------------------------------- validators
HOLD = [
    (text("x"), "@NotNull"),
    (text("x"), "@NotEmpty @NotBlank"),
    (strings("a"), "@NotEmpty"),
    (number(1), "@Positive"),
    (number(0), "@PositiveOrZero"),
    (number(-1), "@Negative"),
    (number(0), "@NegativeOrZero"),
    (decimal("1.23"), "@Min(1.0)"),
    (number(5), "@Max( 5 )"),
    (decimal("0.1"), '@DecimalMin("0.1")'),
    (decimal("0.1"), '@DecimalMax(value="0.1")'),
    (text("abc"), "@Size(min=1, max=3)"),
    (longs(1), "@Size(1)"),
    (flag(True), "@AssertTrue"),
    (flag(False), "@AssertFalse"),
    (text("prod"), 'Maestro.enumCheck("test","prod")'),
    (text('a"b'), r'Maestro.enumCheck("a\"b")'),
    (number(0), 'Maestro.enumCheck("0", "1")'),
    (number(3), "param > 2"),
    (number(3), "p > 2 && param < 4;"),
    (longs(1, 2, 3), "param!=null && param.size() > 2"),
    (strings("param.size()"), "param[0] == 'param.size()' && p . size( ) == 1"),
    (map_of({"a": number(1), "b": number(2)}), "param != null && param.size() > 1"),
]
BREAK = [
    (text(""), "@NotEmpty"),
    (text(" "), "@NotBlank"),
    (number(0), "@Positive"),
    (decimal("0.99"), "@Min(1.0)"),
    (text("abcd"), "@Size(max=3)"),
    (text(""), "@Size(min=1)"),
    (number(1), "@NotNull @Negative"),
    (text("dev"), 'Maestro.enumCheck("test","prod")'),
    (longs(1, 2), "param!=null && param.size() > 2"),
    (number(1), "param > 2"),
]
SENSELESS = [
    (number(1), "@Nonsense"),
    (number(1), "@NotEmpty"),
    (text("x"), "@Min(1)"),
    (number(1), "@Min"),
    (number(1), "@Min(one)"),
    (number(1), "@Min(1, 2)"),
    (number(1), "@Positive(1)"),
    (text("x"), "@Size(about=3)"),
    (text("x"), "@Size(3;4)"),
    (text("x"), "@NotEmpty or else"),
    (text("x"), "Maestro.guess()"),
    (number(1), "param >"),
    (number(1), "param > other"),
]


def ruled(param: ParamDefinition, rule: str) -> dict[str, ParamDefinition]:
    return {"p": ParamDefinition(type=param.type, value=param.value, validator=rule)}


@pytest.mark.parametrize(("param", "rule"), HOLD)
def test_a_rule_that_holds_changes_nothing(param: ParamDefinition, rule: str) -> None:
    assert problems_of(ruled(param, rule)) == []
    assert "p" in results(ruled(param, rule))


@pytest.mark.parametrize(("param", "rule"), BREAK)
def test_a_rule_that_is_broken_names_the_parameter(param: ParamDefinition, rule: str) -> None:
    with pytest.raises(ParamError) as raised:
        evaluate(ruled(param, rule), in_run())
    assert (raised.value.fault, raised.value.param) == (Fault.VALIDATOR, "p")
    assert rule in raised.value.message


@pytest.mark.parametrize(("param", "rule"), SENSELESS)
def test_a_rule_that_makes_no_sense_is_a_problem_of_the_definition(param: ParamDefinition, rule: str) -> None:
    [problem] = problems_of(ruled(param, rule))
    assert (problem.code, problem.path) == ("bad-param", "p.validator")
    with pytest.raises(ParamError, match="makes no sense"):
        evaluate(ruled(param, rule), in_run())


def test_a_rule_must_say_yes_or_no() -> None:
    with pytest.raises(ParamError, match="true or false"):
        evaluate(ruled(number(1), "param + 1"), in_run())


def test_a_broken_rule_inside_a_map_is_a_warning() -> None:
    j = longs(1, 2, validator="param!=null && param.size() > 2")
    loop = map_of({"i": longs(1, 2, 3), "j": j, "m": map_of({"x": text("", validator="@NotEmpty")})})
    found = evaluate({"loop_params": loop}, in_run())
    assert isinstance(found, Evaluated)
    note = found["loop_params"].meta["warn"]
    assert "[j] of [loop_params]" in note
    assert "[x] of [loop_params.m]" in note


def test_a_map_made_by_an_expression_has_no_members_with_rules() -> None:
    made = expression("MAP", "m = new Map(); m.put('a', 1); return m;", validator="@NotEmpty")
    assert results({"m": made}) == {"m": {"a": 1}}


# --------------------------------------------------------------------------------- without running anything
def test_every_expression_that_can_not_be_read_is_a_problem_at_its_place() -> None:
    params = {
        "a": expression("LONG", "1 +"),
        "m": map_of({"b": expression("LONG", "(("), "c": number(1)}),
        "fine": expression("LONG", "1 + 1"),
        "asked": map_of(None),
    }
    problems = problems_of(params, (None, "params"))
    assert [problem.path for problem in problems] == ["params.a.expression", "params.m.value.b.expression"]
    assert {problem.code for problem in problems} == {"bad-expression"}


def test_the_work_itself_may_say_that_it_should_not_be_tried_again() -> None:
    assert not is_retryable({"maestro_retry": {"retryable": False}})
    assert is_retryable({"maestro_retry": {"retryable": True}})
    assert is_retryable({"maestro_retry": None})
    assert is_retryable({})


def test_only_known_fields_of_the_current_step_can_be_read() -> None:
    assert call("params.getFromStep('step_id')", World()) == "here"
    assert "can not read [secret]" in fails("params.getFromStep('secret')", World())
    assert "can not read [step_id]" in fails("params.getFromStep('step_id')", World(), in_run(World()))
