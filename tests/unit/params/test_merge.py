"""The fold: what a layer may do to the layer below it."""

from decimal import Decimal

import pytest
from tests.unit.params.make import (
    decimal,
    done,
    expression,
    flag,
    longs,
    map_of,
    number,
    string_map,
    strings,
    text,
)

from stretto.model.param import (
    InternalParamMode,
    ParamDefinition,
    Parameter,
    ParamMode,
    ParamSource,
    ParamType,
)
from stretto.model.tag import Tag
from stretto.params import Fault, ParamError, Stage, merge
from stretto.params.modes import AT_RESTART, STRICTNESS, UPSTREAM_SOURCES, stricter

M, S = ParamMode, ParamSource
DEFINITION = Stage(S.DEFINITION)
LAUNCH = Stage(S.LAUNCH)
SYSTEM = Stage(S.SYSTEM_DEFAULT)
CHILD = Stage.of_run(S.SUBWORKFLOW)


def fault_of(base: ParamDefinition, layer: ParamDefinition, stage: Stage) -> tuple[Fault, str]:
    with pytest.raises(ParamError) as raised:
        merge({"p": base}, {"p": layer}, stage)
    assert f"[{raised.value.param}]" in raised.value.message
    return raised.value.fault, raised.value.param


def merged(base: ParamDefinition, layer: ParamDefinition, stage: Stage = DEFINITION) -> ParamDefinition:
    return merge({"p": base}, {"p": layer}, stage)["p"]


# ------------------------------------------------------------------------------------------- new names
def test_a_new_parameter_gets_tags_a_mode_and_the_source_of_the_stage() -> None:
    param = merge({}, {"p": text("x", meta={"note": "gone"})}, DEFINITION)["p"]
    assert (param.tags, param.mode, param.source, param.meta) == ((), M.MUTABLE, S.DEFINITION, {})


def test_a_new_system_parameter_keeps_its_own_source() -> None:
    assert merge({}, {"p": text("x", source=S.SYSTEM)}, SYSTEM)["p"].source is S.SYSTEM
    assert merge({}, {"p": text("x")}, SYSTEM)["p"].source is S.SYSTEM_DEFAULT


def test_a_user_can_not_set_the_source_of_a_new_parameter() -> None:
    with pytest.raises(ParamError, match="source") as raised:
        merge({}, {"p": text("x", source=S.SYSTEM)}, LAUNCH)
    assert raised.value.fault is Fault.SYSTEM_FIELD


def test_a_parent_hands_down_parameters_with_any_source() -> None:
    assert merge({}, {"p": text("x", source=S.DEFINITION)}, CHILD)["p"].source is S.SUBWORKFLOW


def test_members_of_a_new_map_are_at_least_as_strict_as_the_map() -> None:
    members = {"a": text("x"), "b": map_of({"c": text("y", mode=M.CONSTANT)})}
    param = merge({}, {"m": map_of(members, mode=M.IMMUTABLE)}, DEFINITION)["m"]
    assert param.value["a"].mode is M.IMMUTABLE
    assert param.value["b"].value["c"].mode is M.CONSTANT


def test_an_evaluated_map_is_taken_as_it_is() -> None:
    given = done("MAP", {"a": 1}, value={"a": number(1)})
    assert merge({}, {"m": given}, CHILD)["m"].value == {"a": number(1)}


def test_neither_argument_changes_and_known_names_keep_their_place() -> None:
    base, layer = {"a": text("1"), "b": text("2")}, {"c": text("3"), "a": text("4")}
    before = dict(base), dict(layer)
    assert list(merge(base, layer, DEFINITION)) == ["a", "b", "c"]
    assert (base, layer) == before


# --------------------------------------------------------------------------------------------- contents
def test_a_value_replaces_an_expression_and_the_other_way_round() -> None:
    param = merged(expression("STRING", "'x'"), text("y"))
    assert (param.value, param.expression) == ("y", None)
    param = merged(text("y"), expression("STRING", "'x'"))
    assert (param.value, param.expression) == (None, "'x'")


def test_an_expression_of_another_type_is_kept_for_the_type_of_the_base() -> None:
    param = merged(text("y"), expression("LONG", "1 + 1"))
    assert (param.type, param.expression) == (ParamType.STRING, "1 + 1")


def test_a_layer_that_only_asks_leaves_the_value() -> None:
    wanted = text(None, internal_mode=InternalParamMode.REQUIRED)
    param = merged(text("y"), wanted, SYSTEM)
    assert (param.value, param.internal_mode) == ("y", InternalParamMode.REQUIRED)


def test_string_maps_are_overlaid_key_by_key() -> None:
    assert merged(string_map({"a": "1", "b": "2"}), string_map({"b": "3"})).value == {"a": "1", "b": "3"}
    assert merged(expression("STRING_MAP", "m"), string_map({"b": "3"})).value == {"b": "3"}


def test_an_overlay_of_results_keeps_a_result_only_if_both_have_one() -> None:
    both = merged(done("STRING_MAP", {"a": "$x"}), done("STRING_MAP", {"b": "$y"}))
    assert isinstance(both, Parameter)
    assert both.evaluated_result == {"a": "$x", "b": "$y"}
    one = merged(string_map({"a": "${x}"}), done("STRING_MAP", {"b": "$y"}))
    assert not isinstance(one, Parameter)
    assert one.value == {"a": "${x}", "b": "$$y"}  # the result must not be interpolated once more


def test_maps_are_merged_member_by_member() -> None:
    base = map_of({"a": text("1"), "m": map_of({"x": number(1)})})
    layer = map_of({"b": text("2"), "m": map_of({"x": number(2), "y": number(3)})})
    param = merged(base, layer)
    assert list(param.value) == ["a", "m", "b"]
    assert {name: member.value for name, member in param.value["m"].value.items()} == {"x": 2, "y": 3}


def test_a_map_without_members_yet_takes_those_of_the_layer() -> None:
    asked = map_of(None, internal_mode=InternalParamMode.REQUIRED)
    assert merged(asked, map_of({"a": text("1")})).value["a"].value == "1"


def test_a_member_may_be_stricter_than_its_map_and_is_then_fixed() -> None:
    base = map_of({"a": text("1", mode=M.CONSTANT)})
    assert fault_of(base, map_of({"a": text("2")}), DEFINITION) == (Fault.NOT_CHANGEABLE, "p.a")


def test_the_mode_of_a_map_guards_its_members() -> None:
    base = map_of({"a": text("1")}, mode=M.CONSTANT)
    assert fault_of(base, map_of({"a": text("2")}), DEFINITION) == (Fault.NOT_CHANGEABLE, "p.a")


def test_members_can_not_be_merged_into_anything_but_a_literal_map() -> None:
    layer = map_of({"a": text("2")})
    assert fault_of(expression("MAP", "m"), layer, DEFINITION)[0] is Fault.NOT_A_LITERAL
    assert fault_of(string_map({}), layer, DEFINITION)[0] is Fault.WRONG_TYPE


def test_an_expression_may_replace_a_literal_map() -> None:
    assert merged(map_of({"a": text("1")}), expression("MAP", "m")).expression == "m"


# ------------------------------------------------------------------------------------------------ casts
@pytest.mark.parametrize(
    ("base", "layer", "wanted"),
    [
        (text(""), number(1), "1"),
        (text(""), decimal("1.50"), "1.5"),
        (text(""), flag(True), "true"),
        (decimal("0"), number(7), Decimal(7)),
        (decimal("0"), text("7.25"), Decimal("7.25")),
        (number(0), text("-7"), -7),
        (flag(False), text("tRUE"), True),
        (strings(), longs(1, 2), ("1", "2")),
        (ParamDefinition(type=ParamType.DOUBLE_ARRAY, value=()), longs(1), (Decimal(1),)),
    ],
)
def test_row_57_a_value_is_cast_into_the_type_of_the_base(
    base: ParamDefinition, layer: ParamDefinition, wanted: object
) -> None:
    param = merged(base, layer)
    assert (param.type, param.value) == (base.type, wanted)


@pytest.mark.parametrize(
    ("base", "layer"),
    [
        (number(0), text("abc")),
        (number(0), text("9223372036854775808")),
        (number(0), decimal("1.0")),
        (flag(True), text("yes")),
        (decimal("0"), text("NaN")),
        (longs(1), strings("1")),
        (string_map({}), text("x")),
    ],
)
def test_row_57_a_value_of_another_type_is_refused(base: ParamDefinition, layer: ParamDefinition) -> None:
    assert fault_of(base, layer, LAUNCH) == (Fault.WRONG_TYPE, "p")


def test_a_result_is_cast_together_with_its_value() -> None:
    param = merged(text(""), done("LONG", 5), CHILD)
    assert isinstance(param, Parameter)
    assert (param.value, param.evaluated_result) == ("5", "5")


# ------------------------------------------------------------------------------------------------ modes
def test_the_modes_are_ordered_by_strictness() -> None:
    assert sorted(STRICTNESS, key=lambda mode: STRICTNESS[mode]) == list(ParamMode)
    assert stricter(M.CONSTANT, M.MUTABLE) is stricter(M.MUTABLE, M.CONSTANT) is M.CONSTANT


CHANGES = {
    LAUNCH: {M.MUTABLE, M.MUTABLE_ON_START_RESTART, M.MUTABLE_ON_START},
    Stage(S.RESTART): AT_RESTART,
    Stage(S.DEFINITION, restart=True): AT_RESTART,
    Stage(S.OUTPUT_PARAMETER): {M.MUTABLE},
    SYSTEM: set(ParamMode),
}


@pytest.mark.parametrize("mode", ParamMode)
@pytest.mark.parametrize("stage", CHANGES, ids=lambda stage: f"{stage.source}-{stage.restart}")
def test_row_58_the_mode_decides_who_may_change_a_value(stage: Stage, mode: ParamMode) -> None:
    if mode in CHANGES[stage]:
        assert merged(text("x", mode=mode), text("y"), stage).value == "y"
    else:
        assert fault_of(text("x", mode=mode), text("y"), stage) == (Fault.NOT_CHANGEABLE, "p")


@pytest.mark.parametrize("mode", ParamMode)
def test_row_58_an_equal_value_is_always_accepted(mode: ParamMode) -> None:
    assert merged(text("1", mode=mode), number(1), Stage(S.RESTART, restart=True)).value == "1"


def test_a_mode_can_become_stricter_but_not_beyond_what_the_stage_may_change() -> None:
    assert merged(text("x"), text("x", mode=M.MUTABLE_ON_START)).mode is M.MUTABLE_ON_START
    assert fault_of(text("x"), text("x", mode=M.CONSTANT), DEFINITION)[0] is Fault.NOT_CHANGEABLE
    weaker = text("y", mode=M.MUTABLE)
    assert fault_of(text("x", mode=M.MUTABLE_ON_START), weaker, DEFINITION)[0] is Fault.WEAKER_MODE


def test_row_63_a_reserved_parameter_is_constant() -> None:
    reserved = text("x", internal_mode=InternalParamMode.RESERVED)
    assert fault_of(reserved, text("y"), DEFINITION) == (Fault.NOT_CHANGEABLE, "p")


def test_a_user_can_not_set_what_belongs_to_the_system() -> None:
    optional = text("y", internal_mode=InternalParamMode.OPTIONAL)
    assert fault_of(text("x"), optional, DEFINITION)[0] is Fault.SYSTEM_FIELD
    assert fault_of(text("x"), text("y", source=S.SYSTEM), DEFINITION)[0] is Fault.SYSTEM_FIELD


# ------------------------------------------------------------------------------------------- from above
@pytest.mark.parametrize("source", UPSTREAM_SOURCES)
def test_a_weaker_mode_of_a_parent_is_ignored(source: ParamSource) -> None:
    base = text("x", mode=M.MUTABLE_ON_START)
    param = merged(base, text("y", mode=M.MUTABLE, source=S.DEFINITION), Stage.of_run(source))
    assert (param.value, param.mode, param.source) == ("y", M.MUTABLE_ON_START, source)


def test_what_a_parent_did_not_define_itself_goes_through() -> None:
    layer = text("y", source=S.SYSTEM_DEFAULT)
    assert merged(text("x", mode=M.CONSTANT), layer, CHILD).value == "y"
    assert fault_of(text("x", mode=M.CONSTANT), text("y"), CHILD)[0] is Fault.NOT_CHANGEABLE


def test_a_childs_own_facts_are_not_its_parents() -> None:
    fact = text("child", mode=M.CONSTANT, source=S.SYSTEM_DEFAULT)
    assert merged(fact, text("parent", source=S.SYSTEM_DEFAULT), CHILD) is fact
    assert fault_of(fact, text("mine", source=S.DEFINITION), CHILD)[0] is Fault.NOT_CHANGEABLE
    assert merged(fact, text("system"), SYSTEM).value == "system"


def test_who_repeats_a_value_does_not_become_its_source() -> None:
    base = text("x", source=S.SYSTEM_DEFAULT)
    assert merged(base, text("x"), CHILD).source is S.SYSTEM_DEFAULT
    assert merged(base, text("x"), SYSTEM).source is S.SYSTEM_DEFAULT
    assert merged(base, text("x"), LAUNCH).source is S.LAUNCH
    assert merged(text("x"), text("x"), CHILD).source is S.SUBWORKFLOW


def test_a_map_that_is_repeated_is_unchanged_whatever_its_marks() -> None:
    base = map_of({"a": text("1")}, mode=M.MUTABLE_ON_START)
    restart = Stage(S.RESTART, restart=True)
    assert merged(base, map_of({"a": text("1")}), restart).value["a"].value == "1"
    assert fault_of(base, map_of({"b": text("1")}), restart) == (Fault.NOT_CHANGEABLE, "p")


# ------------------------------------------------------------------------------------------- tags, rules
def test_tags_are_united_and_a_validator_is_kept_unless_there_is_a_new_one() -> None:
    one, two = Tag(name="one"), Tag(name="two")
    base = text("x", tags=(one,), validator="@NotEmpty")
    param = merged(base, text("x", tags=(one, two)))
    assert (param.tags, param.validator) == ((one, two), "@NotEmpty")
    assert merged(base, text("x", validator="@NotBlank")).validator == "@NotBlank"
