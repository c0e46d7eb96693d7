"""The order of the layers: of a fresh run, a restarted run, and a step."""

from typing import Any

import pytest
from tests.unit.params.make import done, expression, in_run, map_of, number, results, string_map, text

from stretto.model.param import (
    InternalParamMode,
    ParamDefinition,
    Parameter,
    ParamMode,
    Params,
    ParamSource,
    ParamType,
)
from stretto.params import (
    RESERVED_NAMES,
    STEP_DEFAULTS,
    TYPE_DEFAULTS,
    WORKFLOW_DEFAULTS,
    Fault,
    ParamError,
    ParamLimits,
    StepLayers,
    check_request,
    for_dry_run,
    merge_outputs,
    restarted_params,
    step_params,
    workflow_params,
)
from stretto.params.merge import settle

M, S, I = ParamMode, ParamSource, InternalParamMode  # noqa: E741


def values(params: Params, *names: str) -> dict[str, Any]:
    return {name: params[name].value for name in names}


# ------------------------------------------------------------------------------------------------ a run
def test_row_62_a_run_takes_defaults_then_the_definition_then_the_request() -> None:
    defaults = {"a": text("default"), "b": text("default"), "c": text("default")}
    definition = {"b": text("definition"), "c": text("definition")}
    params = workflow_params(definition, {"c": text("request")}, defaults=defaults)
    assert values(params, "a", "b", "c") == {"a": "default", "b": "definition", "c": "request"}
    assert [params[name].source for name in ("b", "c")] == [S.DEFINITION, S.LAUNCH]


def test_a_run_has_the_standard_defaults_but_no_empty_optional_ones() -> None:
    params = workflow_params({})
    assert params.keys() == WORKFLOW_DEFAULTS.keys() - {"job_template_version"}
    assert params["RUN_TS"].source is S.SYSTEM_DEFAULT
    assert params["owner"].internal_mode is None


def test_row_58_a_constant_can_not_be_overridden_at_start() -> None:
    with pytest.raises(ParamError) as raised:
        workflow_params({"region": text("eu", mode=M.CONSTANT)}, {"region": text("us")})
    assert (raised.value.status, raised.value.param) == (400, "region")


def test_row_63_reserved_parameters_of_a_run_are_not_settable() -> None:
    nothing: Params = {}
    for layer in ({"workflow_id": text("other")}, {"owner": text("me")}):
        for definition, run in ((layer, nothing), (nothing, layer)):
            with pytest.raises(ParamError) as raised:
                workflow_params(definition, run)
            assert raised.value.fault is Fault.NOT_CHANGEABLE


def test_a_child_gets_the_results_of_its_parent() -> None:
    parent = {"n": done("LONG", 5, value=None, expression="2 + 3", source=S.DEFINITION)}
    child = workflow_params({"n": text("0")}, parent, S.SUBWORKFLOW)
    assert results({"n": child["n"]}) == {"n": "5"}


def test_a_text_that_a_parent_computed_is_not_interpolated_again() -> None:
    parent = {"price": done("STRING", "$five", source=S.DEFINITION)}
    assert results(workflow_params({}, parent, S.FOREACH))["price"] == "$five"


# -------------------------------------------------------------------------------------------- a restart
PREVIOUS = {
    "kept": done("STRING", "$done", value=None, expression="'$' + 'done'", mode=M.MUTABLE),
    "again": done("LONG", 1, value=None, expression="40 + 2", mode=M.IMMUTABLE),
    "start": done("LONG", 7, mode=M.MUTABLE_ON_START),
    "AUTH_BLOB": done("STRING", "secret"),
    "tree": done("MAP", {"a": 1, "l": [1, 2], "m": {"x": "y"}}, expression="makeTree()", mode=M.MUTABLE),
}


def test_a_restart_keeps_results_and_evaluates_immutable_ones_again() -> None:
    params = restarted_params(PREVIOUS)
    assert results(params) == {
        "kept": "$done",
        "again": 42,
        "start": 7,
        "tree": {"a": 1, "l": [1, 2], "m": {"x": "y"}},
    }
    assert params["kept"].expression is None


def test_a_restart_may_change_what_its_mode_allows() -> None:
    run = {"kept": text("new")}
    restart = {"kept": text("newer"), "tree": map_of({"a": number(2), "m": map_of({"x": text("z")})})}
    found = results(restarted_params(PREVIOUS, run, restart=restart))
    assert found["kept"] == "newer"
    assert found["tree"] == {"a": 2, "l": [1, 2], "m": {"x": "z"}}
    with pytest.raises(ParamError, match="MUTABLE_ON_START"):
        restarted_params(PREVIOUS, {"start": number(8)})
    with pytest.raises(ParamError, match="MUTABLE_ON_START"):
        restarted_params(PREVIOUS, restart={"start": number(8)})


def test_a_restart_from_above_repeats_the_parents_results() -> None:
    same = {"start": done("LONG", 7, value=None, expression="3 + 4", source=S.DEFINITION)}
    assert results(restarted_params(PREVIOUS, same, S.SUBWORKFLOW))["start"] == 7


def test_a_stored_map_has_plain_members() -> None:
    found = results(restarted_params(PREVIOUS, restart={"tree": map_of({"a": number(2)})}))
    kept = restarted_params({"m": done("MAP", {"a": 1}, value={"a": number(1, mode=M.CONSTANT)})})
    assert found["tree"]["a"] == 2
    assert kept["m"].value["a"].mode is M.CONSTANT


# ----------------------------------------------------------------------------------------------- a step
def test_row_62_each_layer_of_a_step_wins_over_the_one_before_it() -> None:
    order = ("defaults", "type_defaults", "template", "injected", "definition", "run", "restart")
    for last in range(1, len(order) + 1):
        layers = {name: {"p": text(name)} for name in order[:last]}
        layers.setdefault("definition", {})
        assert step_params(StepLayers(**layers))["p"].value == order[last - 1]  # type: ignore[arg-type]


def test_request_parameters_that_a_step_does_not_define_come_before_its_own() -> None:
    params = step_params(StepLayers(definition={"b": text("own")}, run={"a": text("new"), "b": text("run")}))
    assert list(params) == ["a", "b"]
    assert values(params, "a", "b") == {"a": "new", "b": "run"}
    assert [param.source for param in params.values()] == [S.LAUNCH, S.LAUNCH]


def test_row_67_a_step_override_changes_only_that_step() -> None:
    run = workflow_params({"n": number(1)}, {"n": number(2)})
    one = step_params(StepLayers(definition={"k": number(1)}, run={"k": number(9)}))
    other = step_params(StepLayers(definition={"k": number(1)}))
    assert (run["n"].value, one["k"].value, other["k"].value) == (2, 9, 1)


def test_a_template_follows_the_parameters_of_the_run() -> None:
    workflow = {
        "script": done("STRING", "echo $HOME", source=S.LAUNCH, mode=M.CONSTANT),
        "other": done("LONG", 1),
    }
    params = step_params(
        StepLayers(definition={}, template={"script": text("echo"), "n": number(1)}, workflow=workflow)
    )
    assert params.keys() == {"script", "n"}
    assert results({"script": params["script"]}) == {"script": "echo $HOME"}
    assert params["script"].mode is M.MUTABLE


def test_row_63_reserved_parameters_of_a_step_are_not_settable() -> None:
    for name, reserved in STEP_DEFAULTS.items():
        mine = ParamDefinition(type=reserved.type, expression="1")
        for layers in ({"definition": {name: mine}}, {"definition": {}, "run": {name: mine}}):
            with pytest.raises(ParamError) as raised:
                step_params(StepLayers(defaults=STEP_DEFAULTS, **layers))  # type: ignore[arg-type]
            assert raised.value.fault is Fault.NOT_CHANGEABLE


def test_defaults_of_a_type_are_completed_by_the_step() -> None:
    http = {"http": map_of({"url": text("http://localhost")})}
    params = step_params(
        StepLayers(defaults=STEP_DEFAULTS, type_defaults=TYPE_DEFAULTS["Http"], definition=http)
    )
    assert list(params["http"].value) == ["url", "method", "headers"]
    assert params["status_code"].value == 200


def test_a_loop_can_not_get_other_values_in_a_restart() -> None:
    def loop(*numbers: int) -> Params:
        array = ParamDefinition(type=ParamType.LONG_ARRAY, value=numbers)
        return {"loop_params": map_of({"i": array})}

    layers = StepLayers(
        type_defaults=TYPE_DEFAULTS["foreach"],
        definition=loop(1, 2),
        run=loop(3),
        source=S.RESTART,
        restarting=True,
    )
    with pytest.raises(ParamError, match="MUTABLE_ON_START"):
        step_params(layers)


# ------------------------------------------------------------------------------------- settle, requests
def test_what_nobody_filled_is_dropped_or_refused() -> None:
    merged = {
        "gone": text(None, internal_mode=I.OPTIONAL),
        "empty": map_of({"x": text(None, internal_mode=I.OPTIONAL)}, internal_mode=I.OPTIONAL),
        "stays": string_map({}, internal_mode=I.OPTIONAL),
        "made": expression("MAP", "m", internal_mode=I.OPTIONAL),
    }
    assert settle(merged).keys() == {"stays", "made"}
    for mode in (None, I.REQUIRED, I.PROVIDED, I.RESERVED):
        with pytest.raises(ParamError, match=r"\[http.url\] is a required") as raised:
            settle({"http": map_of({"url": text(None, internal_mode=mode)})})
        assert raised.value.fault is Fault.REQUIRED


def test_a_request_has_bounds() -> None:
    check_request({f"p{i}": number(i) for i in range(128)})
    with pytest.raises(ParamError) as raised:
        check_request({"a": number(1), "b": number(2)}, ParamLimits(entries=1))
    assert raised.value.fault is Fault.TOO_MANY


def test_row_63_reserved_names_are_refused_together() -> None:
    assert len(RESERVED_NAMES) == 17
    with pytest.raises(ParamError, match=r"\[AUTH_BLOB\], \[params\]") as raised:
        check_request({"params": text("x"), "AUTH_BLOB": text("y"), "fine": text("z")})
    assert raised.value.fault is Fault.RESERVED_NAME


def test_a_request_can_not_say_where_a_value_comes_from() -> None:
    with pytest.raises(ParamError) as raised:
        check_request({"p": text("x", source=S.SYSTEM)})
    assert (raised.value.fault, raised.value.param) == (Fault.SYSTEM_FIELD, "p")


def test_a_dry_run_has_dates_for_a_backfill() -> None:
    definition = {"FROM_DATE": text("${x}"), "TO_DATE": number(1), "p": text("y")}
    assert values(for_dry_run(definition), *definition) == {"FROM_DATE": "20210101", "TO_DATE": 1, "p": "y"}


# ---------------------------------------------------------------------------------------------- outputs
def test_outputs_replace_values_and_merge_maps() -> None:
    step = {
        "rows": done("LONG", 0, value=None, expression="0"),
        "map": done("MAP", {"a": 1, "b": [1]}, value={"a": number(1)}),
        "env": done("STRING_MAP", {"a": "1"}),
        "other": done("STRING", "x"),
    }
    outputs = {"rows": text("12"), "map": map_of({"b": number(2)}), "env": done("STRING_MAP", {"b": "$2"})}
    with pytest.raises(ParamError, match=r"\[map.b\]"):
        merge_outputs(step, outputs, now_millis=9)
    outputs["map"] = map_of({"a": number(2), "c": text("$c")})
    found = merge_outputs(step, outputs, now_millis=9)
    assert {name: param.evaluated_result for name, param in found.items()} == {
        "rows": 12,
        "map": {"a": 2, "b": [1], "c": "$c"},
        "env": {"a": "1", "b": "$2"},
        "other": "x",
    }
    assert found["rows"].evaluated_time == found["map"].evaluated_time == 9
    assert found["other"] is step["other"]


def test_an_output_can_not_bring_its_own_rules() -> None:
    echoed = done("LONG", 5, mode=M.CONSTANT, source=S.DEFINITION, validator="@Negative")
    found = merge_outputs({"n": done("LONG", 1)}, {"n": echoed}, now_millis=1)["n"]
    assert (found.evaluated_result, found.mode, found.source) == (5, M.MUTABLE, S.OUTPUT_PARAMETER)


def test_an_output_obeys_the_rule_of_its_parameter() -> None:
    step: dict[str, Parameter] = {"n": done("LONG", 1, validator="@Positive")}
    with pytest.raises(ParamError) as raised:
        merge_outputs(step, {"n": number(-1)}, now_millis=1)
    assert (raised.value.fault, raised.value.param) == (Fault.VALIDATOR, "n")


def test_an_output_must_be_declared_and_have_a_value_of_some_size() -> None:
    with pytest.raises(ParamError, match=r"\[a\], \[b\]"):
        merge_outputs({}, {"a": number(1), "b": number(2)}, now_millis=1)
    with pytest.raises(ParamError, match="no value"):
        merge_outputs({"n": done("LONG", 1)}, {"n": expression("LONG", "1")}, now_millis=1)
    with pytest.raises(ParamError) as raised:
        merge_outputs({"s": done("STRING", "")}, {"s": text("x" * 500)}, 1, ParamLimits(size=400))
    assert raised.value.fault is Fault.TOO_LARGE


def test_members_that_are_data_are_bound_by_their_type() -> None:
    found = results({"m": map_of({"l": ParamDefinition(type=ParamType.LONG_ARRAY, value=())})}, in_run())
    assert found == {"m": {"l": []}}
