"""Evaluation: order, lookup, interpolation, what is missing, and what is wrong."""

from decimal import Decimal

import msgspec
import pytest
from tests.unit.params.make import (
    NOW,
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
    string_map,
    strings,
    text,
)

from stretto.model.errors import Unprocessable
from stretto.model.param import ParamDefinition, ParamSource, ParamType
from stretto.model.wire import encode, to_json
from stretto.params import (
    Alone,
    Context,
    Evaluated,
    Fault,
    MissingKeys,
    Moment,
    ParamError,
    ParamLimits,
    RunFacts,
    Scope,
    StepFacts,
    evaluate,
    evaluate_one,
    evaluate_text,
    references_of,
    workflow_params,
)
from stretto.sel import Limits, Missing


def fault_of(params: dict[str, ParamDefinition], scope: Scope | None = None) -> ParamError:
    with pytest.raises(ParamError) as raised:
        evaluate(params, scope or in_run())
    return raised.value


# ------------------------------------------------------------------------------------------------ order
def test_a_parameter_is_evaluated_after_what_it_refers_to() -> None:
    params = {
        "c": expression("LONG", "a + b"),
        "b": expression("LONG", "a * 2"),
        "a": number(3),
        "t": text("${c} of $b"),
    }
    assert results(params) == {"c": 9, "b": 6, "a": 3, "t": "9 of 6"}
    assert list(results(params)) == list(params)


def test_a_chain_of_two_thousand_references_is_no_recursion() -> None:
    params = {f"p{i}": expression("LONG", f"p{i + 1} + 1") for i in range(2_000)}
    params["p2000"] = number(0)
    assert results(params)["p0"] == 2_000


def test_a_cycle_is_named() -> None:
    params = {
        "start": expression("LONG", "a"),
        "a": expression("LONG", "b"),
        "b": text("${c}"),
        "c": expression("LONG", "a"),
    }
    error = fault_of(params)
    assert error.fault is Fault.CYCLE
    assert error.details == ("a", "b", "c", "a")
    assert "a -> b -> c -> a" in error.message
    assert "workflow [wf]" in error.message
    own = fault_of({"p": expression("LONG", "p")}, in_step()).message
    assert "step [here]" in own
    assert "nothing outside of the step has the name [p]; declare `p` as a parameter, or bring it" in own
    assert "outside" not in fault_of({"p": expression("LONG", "p")}).message


def test_each_parameter_throws_its_own_dice_whatever_the_order() -> None:
    dice = {name: expression("DOUBLE", "Math.random()") for name in ("a", "b")}
    first = results(dice)
    assert first["a"] != first["b"]
    assert results({name: dice[name] for name in ("b", "a")}) == first


def test_the_time_of_evaluation_is_handed_in() -> None:
    found = evaluate({"now": expression("LONG", "System.currentTimeMillis()")}, in_run())
    assert isinstance(found, Evaluated)
    assert (found["now"].evaluated_result, found["now"].evaluated_time) == (NOW, NOW)


# -------------------------------------------------------------------------------------------- interpolation
def test_row_68_variables_are_replaced_in_texts_and_nowhere_else() -> None:
    params = {
        "n": number(3),
        "d": decimal("2"),
        "l": longs(1, 2),
        "m": map_of({"k": text("v$n"), "d": decimal("1.5")}),
        "s": text("$n ${d} $l ${m} $$n"),
        "a": strings("x", "$n"),
        "sm": string_map({"k$n": "v$n"}),
        "f": flag(True),
    }
    found = results(params)
    assert found["s"] == '3 2.0 [1,2] {"k":"v3","d":1.5} $n'
    assert found["a"] == ("x", "3")
    assert found["sm"] == {"k3": "v3"}
    assert found["f"] is True


def test_row_68_all_missing_names_come_in_one_error() -> None:
    error = fault_of({"a": text("$x and $y"), "b": expression("LONG", "z + a"), "c": text("$a")})
    assert error.fault is Fault.UNKNOWN_REFERENCE
    for name in ("[x]", "[y]", "[z]"):
        assert name in error.message
    assert "[c]" not in error.message  # it only waits for a


def test_params_is_a_name_like_others_in_a_text() -> None:
    assert "[params]" in fault_of({"a": text("${params}")}).message


def test_references_are_listed_in_order_each_once() -> None:
    param = map_of({"a": text("$x $y $x"), "b": expression("LONG", "y + z"), "c": number(1)})
    assert [reference.name for reference in references_of("m", param)] == ["x", "y", "z"]
    assert references_of("p", done("STRING", "$x")) == ()


def test_a_script_variable_takes_a_parameter_of_its_name_if_there_is_one() -> None:
    assert results({"total": number(5), "p": expression("LONG", "total += 1; return total;")})["p"] == 6
    assert results({"p": expression("LONG", "total = 1; total += 1; return total;")})["p"] == 2
    error = fault_of({"p": expression("STRING", "x += 1; return x;")})
    assert error.fault in {Fault.WRONG_TYPE, Fault.EXPRESSION}  # null + 1, not an unknown parameter


# ------------------------------------------------------------------------------------------------- maps
def test_members_hold_what_their_expressions_returned() -> None:
    members = {
        "n": expression("STRING", "1 + 1"),
        "inner": map_of({"l": strings("$x", "b"), "d": decimal("1.10")}),
        "made": done("STRING", "$not a variable"),
    }
    found = results({"x": text("a"), "m": map_of(members)})
    assert found["m"] == {
        "n": 2,
        "inner": {"l": ["a", "b"], "d": Decimal("1.10")},
        "made": "$not a variable",
    }


def test_a_map_is_bound_with_everything_in_it() -> None:
    params = {
        "m": map_of(
            {"d": decimal("1.5"), "l": longs(1, 2), "none": longs(), "inner": map_of({"x": text("y")})}
        ),
        "d": expression("DOUBLE", "m.get('d') * 2"),
        "l": expression("LONG", "m.get('l').length + m.get('none').length"),
        "x": expression("STRING", "m.get('inner').get('x')"),
    }
    found = results(params)
    assert (found["d"], found["l"], found["x"]) == (Decimal("3.0"), 2, "y")


def test_a_map_that_was_stored_is_bound_by_its_values() -> None:
    stored = {"s": ["a"], "l": [1], "d": [Decimal("1.5")], "b": [True], "none": [], "m": {"x": Decimal(1)}}
    scripts = {
        "s": "m.get('s')[0]",
        "l": "m.get('l')[0] + 1",
        "d": "m.get('d')[0] * 2",
        "b": "m.get('b')[0]",
        "none": "m.get('none').length",
        "m": "m.get('m').get('x')",
    }
    for key, script in scripts.items():
        kind = {"s": "STRING", "b": "BOOLEAN", "d": "DOUBLE", "m": "DOUBLE"}.get(key, "LONG")
        assert results({"m": done("MAP", stored), "p": expression(kind, script)})["p"] is not None


# -------------------------------------------------------------------------------------------------- steps
def test_a_step_sees_its_evaluated_parameters_then_the_runs_then_its_others() -> None:
    scope = in_step(workflow={"a": done("LONG", 1), "b": done("LONG", 2)})
    params = {
        "early": expression("LONG", "a"),  # not evaluated yet: the run's
        "a": number(10),
        "late": expression("LONG", "a"),  # evaluated: the step's
        "deep": expression("LONG", "only_here + b"),
        "only_here": number(5),
    }
    found = results(params, scope)
    assert (found["early"], found["late"], found["deep"]) == (1, 10, 7)


def test_params_means_all_parameters_of_the_run_to_a_step() -> None:
    workflow = {"a": done("LONG", 1)}
    seen = expression("BOOLEAN", "params.containsKey('a') && params.get('b') == null")
    assert results({"p": seen}, in_step(workflow=workflow)) == {"p": True}
    seen = expression("BOOLEAN", "params.containsKey('a')")
    assert results({"a": number(1), "p": seen})["p"] is False  # a run's expression must name it


def test_what_a_request_gives_to_a_step_is_read_instead_of_the_runs() -> None:
    given = {"source": ParamSource.RESTART}
    scope = in_step(workflow={"a": done("LONG", 1), "b": done("LONG", 2)})
    params = {
        "early": expression("LONG", "a"),
        "all": expression("LONG", "params.get('a') + params.get('b')"),
        "a": number(10, **given),
        "b": expression("LONG", "b + 5", **given),  # one that names itself reads the run's
    }
    found = results(params, scope)
    assert (found["early"], found["all"], found["b"]) == (10, 17, 7)
    own = {"a": expression("LONG", "params.get('a') + 1", **given)}
    assert results(own, scope)["a"] == 2


def test_params_waits_for_what_an_override_waits_for() -> None:
    late = expression("LONG", "up__out", source=ParamSource.LAUNCH)
    params = {"all": expression("LONG", "params.get('a')"), "a": late}
    found = evaluate(params, in_step(World(steps={"up": Missing("k")}), workflow={"a": done("LONG", 1)}))
    assert isinstance(found, MissingKeys)
    assert found.keys == ("k",)


def test_row_66_one_parameter_each_from_a_constant_the_run_and_a_parent() -> None:
    world = World(steps={"up": StepFacts(step_id="up", type="NoOp", params={"out": done("LONG", 3)})})
    params = {"c": number(1), "g": expression("LONG", "shared"), "u": expression("LONG", "up__out")}
    found = results(params, in_step(world, workflow={"shared": done("LONG", 2)}))
    assert found == {"c": 1, "g": 2, "u": 3}


def test_row_65_a_step_reads_what_an_earlier_one_has_and_nothing_else() -> None:
    step = StepFacts(step_id="a", type="NoOp", params={"result": done("LONG", 3), "raw": number(1)})
    scope = in_step(World(steps={"a": step}))
    assert results({"p": text("${a__result}")}, scope) == {"p": "3"}
    assert fault_of({"p": text("${a__input}")}, scope).fault is Fault.UNKNOWN_REFERENCE
    assert fault_of({"p": text("${a__raw}")}, scope).fault is Fault.NOT_EVALUATED


def test_a_step_may_name_itself() -> None:
    params = {"p": expression("LONG", "here__q + 1"), "q": number(1)}
    assert results(params, in_step()) == {"p": 2, "q": 1}
    assert fault_of({"p": text("${here__nothing}")}, in_step()).fault is Fault.UNKNOWN_REFERENCE


def test_underscores_that_run_together_are_read_by_the_steps_there_are() -> None:
    facts = {name: StepFacts(step_id=name, type="NoOp", params={}) for name in ("a", "a_", "b")}
    b = StepFacts(step_id="b", type="NoOp", params={"_x": done("LONG", 1)})
    assert results({"p": text("${b___x}")}, in_step(World(steps={"b": b}))) == {"p": "1"}
    assert results({"_x": number(2), "p": text("${c___x}")}, in_step(step="c"))["p"] == "2"
    for reference in ("${a___x}", "${z___x}"):
        error = fault_of({"p": text(reference)}, in_step(World(steps={**facts})))
        assert error.fault is Fault.AMBIGUOUS_REFERENCE


def test_a_name_of_no_step_is_a_signal() -> None:
    world = World(run=RunFacts(workflow_id="wf", initiator="SIGNAL"), signals={("table", "day"): 20_200_101})
    assert results({"p": text("${table__day}")}, in_step(world)) == {"p": "20200101"}
    assert results({"p": text("${table__day}")}, in_run(world)) == {"p": "20200101"}
    assert fault_of({"p": text("${table__hour}")}, in_step(world)).fault is Fault.UNKNOWN_REFERENCE


def test_the_separator_is_a_setting() -> None:
    assert results({"p": text("${here___q}"), "q": number(1)}, in_step(separator="___"))["p"] == "1"


# ------------------------------------------------------------------------------------------------ missing
def test_everything_that_must_be_fetched_is_asked_for_at_once() -> None:
    world = World(steps={"a": Missing("step a"), "b_": Missing("step b_")})
    params = {
        "p": text("${a__x}"),
        "q": expression("STRING", "params.getFromStep('a', 'y') + 'z'"),
        "r": text("$p"),
        "s": map_of({"t": expression("LONG", "params.getFromStep('b_', 'x')")}),
        "u": text("${b___x}"),
        "fine": number(1),
    }
    assert evaluate(params, in_step(world)) == MissingKeys(("step a", "step b_"))


def test_the_same_moment_gives_the_same_results_later() -> None:
    params = {"p": expression("STRING", "UUID.randomUUID().toString() + params.getFromStep('a', 'x')")}
    world = World(steps={"a": Missing("a")})
    assert evaluate(params, in_step(world)) == MissingKeys(("a",))
    world.steps["a"] = StepFacts(step_id="a", type="NoOp", params={"x": done("STRING", "!")})
    assert results(params, in_step(world)) == results(params, in_step(world))


def test_one_parameter_may_wait_too() -> None:
    world = World(steps={"a": Missing("a")})
    assert evaluate_one("p", text("${a__x}"), in_step(world)) == MissingKeys(("a",))
    assert evaluate_text("p", "${a__x}", in_step(world)) == MissingKeys(("a",))


def test_alone_there_is_nothing() -> None:
    run = RunFacts(workflow_id="wf")
    alone = Scope(context=Alone(run), moment=Moment(0), step=StepFacts(step_id="s", type="NoOp"))
    assert fault_of({"p": text("${a__x}")}, alone).fault is Fault.UNKNOWN_REFERENCE
    for script in (
        "params.getFromForeach('a', 'b', 'c')",
        "params.getFromSubworkflow('a', 'b', 'c')",
        "params.getFromSignalDependency('0', 'p')",
    ):
        assert fault_of({"p": expression("LONG", script)}, alone).fault is Fault.EXPRESSION
    by_signal: Context = Alone(RunFacts(workflow_id="wf", initiator="SIGNAL"))
    assert by_signal.foreach("a", "b", "c") is None
    assert by_signal.subworkflow("a", "b", "c") is None
    assert by_signal.signal("a", "b") is None
    assert evaluate({"p": expression("LONG", "params.nextUniqueId()")}, alone) == MissingKeys(
        ("next_unique_id",)
    )


# ------------------------------------------------------------------------------------------ text fields
def test_a_text_field_is_interpolated_with_the_parameters_of_the_run() -> None:
    assert evaluate_text("timeout", "${n} hours", in_run(), {"n": number(3)}) == "3 hours"
    with pytest.raises(Unprocessable, match=r"\[timeout\].*\[wf\]"):
        evaluate_text("timeout", "$nothing", in_run())


def test_a_parameter_without_content_is_not_evaluated() -> None:
    assert fault_of({"p": text(None)}).fault is Fault.NOT_EVALUATED
    assert fault_of({"p": map_of({"x": text(None)})}).fault is Fault.NOT_EVALUATED


# -------------------------------------------------------------------------------------------------- size
def test_a_set_can_be_too_large() -> None:
    """What counts is {"p":{"type":...,"evaluated_result":"x..."}}: the text counts once."""
    limits = ParamLimits(size=1_000)
    for length in (300, 850, 1_000):
        found = evaluate({"p": text("x" * length)}, in_run())
        assert isinstance(found, Evaluated)
        size = len(to_json({"p": encode(msgspec.structs.replace(found["p"], value=None))}))
        if size <= 1_000:
            assert isinstance(evaluate({"p": text("x" * length)}, in_run(), limits), Evaluated)
            continue
        with pytest.raises(ParamError, match=rf"\[{size}\]") as raised:
            evaluate({"p": text("x" * length)}, in_run(), limits)
        assert raised.value.fault is Fault.TOO_LARGE
        assert "setting `params.size`" in raised.value.message


@pytest.mark.parametrize(
    "param",
    [
        text("x" * 800),
        map_of({"a": text("x" * 800)}),
        ParamDefinition(type=ParamType.STRING_ARRAY, value=("x" * 400, "x" * 400)),
        ParamDefinition(type=ParamType.STRING_MAP, value={"k": "${y}" + "x" * 780}),
    ],
    ids=["text", "map", "array", "text map"],
)
def test_a_value_and_its_result_count_once(param: ParamDefinition) -> None:
    others = {"y": text("z")}
    found = evaluate({"p": param, **others}, in_run(), ParamLimits(size=1_100))
    assert isinstance(found, Evaluated)
    with pytest.raises(ParamError, match="total size"):
        evaluate({"p": param, **others}, in_run(), ParamLimits(size=800))


# ------------------------------------------------------------------------------------------------- limits
def test_row_59_expressions_give_months_dates_and_flags() -> None:
    params = {
        "month": expression("STRING", "new DateTime(RUN_TS).monthOfYear().getAsText()"),
        "day": expression("STRING", "new DateTime(RUN_TS).plusDays(7).toString('yyyy-MM-dd')"),
        "late": expression("BOOLEAN", "new DateTime(RUN_TS).getHourOfDay() > 20"),
        "path": text("s3://lake/${month}/${day}"),
    }
    found = results(workflow_params(params))
    assert (found["month"], found["day"], found["late"]) == ("September", "2019-09-27", True)
    assert found["path"] == "s3://lake/September/2019-09-27"


def test_row_60_an_endless_expression_ends_in_an_error_of_its_parameter() -> None:
    moment = Moment(NOW, limits=Limits(visit=10_000))
    error = fault_of({"p": expression("LONG", "while (true) { 1; }")}, Scope(context=World(), moment=moment))
    assert (error.fault, error.param, error.limit) == (Fault.EXPRESSION, "p", "visit")


def test_row_61_an_expression_reaches_nothing_outside() -> None:
    for script in ("System.exit(0)", "'x'.getClass()", "params.__class__", "''.__class__"):
        assert fault_of({"p": expression("STRING", script)}).fault is Fault.EXPRESSION
