"""Merging against a model that is slow and obvious: parameter by parameter, layer by layer, in plain ifs."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.params.make import map_of, number, string_map, text

from stretto.model.param import ParamDefinition, ParamMode, Params, ParamSource
from stretto.params import Fault, ParamError, Stage, StepLayers, merge, step_params

S = ParamSource
STRICTER = ["MUTABLE", "MUTABLE_ON_START_RESTART", "MUTABLE_ON_START", "IMMUTABLE", "CONSTANT"]
STAGES = [
    Stage(S.SYSTEM_DEFAULT),
    Stage(S.DEFINITION),
    Stage(S.LAUNCH),
    Stage.of_run(S.SUBWORKFLOW),
    Stage(S.RESTART, restart=True),
    Stage.of_run(S.FOREACH, restart=True),
    Stage(S.OUTPUT_PARAMETER),
]
NAMES = st.sampled_from(["a", "b", "c"])
MODES = st.none() | st.sampled_from(ParamMode)
VALUES = st.builds(lambda value, mode: text(value, mode=mode), st.sampled_from("xyz"), MODES)
LAYERS = st.lists(
    st.tuples(st.sampled_from(STAGES), st.dictionaries(NAMES, VALUES, max_size=3)), min_size=1, max_size=6
)


def may_change(stage: Stage, mode: str) -> bool:
    if stage.source is S.OUTPUT_PARAMETER:
        allowed = ["MUTABLE"]
    elif stage.restart:
        allowed = ["MUTABLE", "MUTABLE_ON_START_RESTART"]
    else:
        allowed = ["MUTABLE", "MUTABLE_ON_START_RESTART", "MUTABLE_ON_START"]
    return mode in allowed


def model(layers: Sequence[tuple[Stage, Params]]) -> dict[str, tuple[str, str]] | Fault:
    """Name -> (value, mode), or what goes wrong first."""
    state: dict[str, tuple[str, str]] = {}
    for stage, layer in layers:
        for name, param in layer.items():
            if name not in state:
                state[name] = (param.value, param.mode or "MUTABLE")
                continue
            value, mode = state[name]
            new_mode = str(param.mode or mode)
            if stage.upstream and STRICTER.index(new_mode) < STRICTER.index(mode):
                new_mode = mode
            changed = (param.value, new_mode) != (value, mode)
            if changed and stage.source is not S.SYSTEM_DEFAULT:
                if not may_change(stage, mode) or not may_change(stage, new_mode):
                    return Fault.NOT_CHANGEABLE
                if STRICTER.index(new_mode) < STRICTER.index(mode):
                    return Fault.WEAKER_MODE
            state[name] = (param.value, new_mode)
    return state


def outcome(layers: Sequence[tuple[Stage, Params]]) -> dict[str, tuple[str, str]] | Fault:
    """What the real code does."""
    merged: Params = {}
    try:
        for stage, layer in layers:
            merged = merge(merged, layer, stage)
    except ParamError as error:
        return error.fault
    return {name: (param.value, str(param.mode)) for name, param in merged.items()}


@given(LAYERS)
def test_layers_fold_as_the_model_says(layers: list[tuple[Stage, Params]]) -> None:
    assert outcome(layers) == model(layers)


# ------------------------------------------------------------------------------------------ shapes of maps
LEAVES = st.builds(number, st.integers(0, 9))
TREES = st.recursive(
    LEAVES, lambda inner: st.builds(map_of, st.dictionaries(NAMES, inner, max_size=3)), max_leaves=8
)
FORESTS = st.dictionaries(NAMES, TREES, max_size=3)


def plain(params: Params) -> dict[str, object]:
    return {
        name: plain(param.value) if isinstance(param.value, dict) else param.value
        for name, param in params.items()
    }


def overlaid(one: dict[str, object], other: dict[str, object]) -> dict[str, object]:
    both = dict(one)
    for name, value in other.items():
        below = both.get(name)
        if isinstance(value, dict) and isinstance(below, dict):
            both[name] = overlaid(below, value)
        elif name in both and isinstance(value, dict) != isinstance(below, dict):
            raise TypeError(name)
        else:
            both[name] = value
    return both


@given(FORESTS, FORESTS)
def test_maps_are_overlaid_at_every_depth(base: Params, layer: Params) -> None:
    definition = Stage(S.DEFINITION)
    below = merge({}, base, definition)
    try:
        wanted = overlaid(plain(base), plain(layer))
    except TypeError:
        with pytest.raises(ParamError) as raised:
            merge(below, layer, definition)
        assert raised.value.fault is Fault.WRONG_TYPE
        return
    merged = merge(below, layer, definition)
    assert plain(merged) == wanted
    assert list(merged) == list(dict.fromkeys([*base, *layer]))
    assert merge(merged, layer, definition) == merged


STRING_MAPS = st.dictionaries(NAMES, st.text(max_size=3))


@given(STRING_MAPS, STRING_MAPS, STRING_MAPS)
def test_string_maps_do_not_mind_how_they_are_grouped(
    a: dict[str, str], b: dict[str, str], c: dict[str, str]
) -> None:
    stage = Stage(S.SYSTEM)
    one, two, three = ({"p": string_map(texts)} for texts in (a, b, c))
    left = merge(merge(one, two, stage), three, stage)
    right = merge(one, merge(two, three, stage), stage)
    assert left["p"].value == right["p"].value == {**a, **b, **c}


# ---------------------------------------------------------------------------------------- layers of a step
ORDER = ("defaults", "type_defaults", "template", "injected", "definition", "run", "restart")
SAID = st.fixed_dictionaries({name: st.dictionaries(NAMES, st.just(name)) for name in ORDER})


@given(SAID)
def test_row_62_the_last_layer_that_names_a_parameter_wins(said: dict[str, dict[str, str]]) -> None:
    layers: dict[str, dict[str, ParamDefinition]] = {
        layer: {name: text(value) for name, value in params.items()} for layer, params in said.items()
    }
    merged = step_params(StepLayers(**layers))  # type: ignore[arg-type]
    wanted: dict[str, str] = {}
    for layer in ORDER:
        wanted.update(said[layer])
    assert {name: param.value for name, param in merged.items()} == wanted
