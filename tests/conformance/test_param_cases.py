"""The behaviour cases about merging parameters and about output data, one test for each."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest
from tests.conformance.behaviour import Case, Then, cases_of, check_error
from tests.conformance.param_host import definition, definitions
from tests.conformance.test_params import plain

from stretto.model.param import (
    InternalParamMode,
    ParamDefinition,
    Parameter,
    ParamMode,
    Params,
    ParamSource,
    ParamType,
)
from stretto.model.tag import Tag
from stretto.params import (
    TYPE_DEFAULTS,
    ParamError,
    Stage,
    StepLayers,
    is_retryable,
    merge,
    merge_outputs,
    step_params,
)
from stretto.params.merge import settle
from stretto.params.values import kind_of

pytestmark = pytest.mark.conformance

CASES = cases_of("param-merge", "output-data")
PROSE: dict[str, Callable[[Case, Then], None]] = {}


def prose(case_id: str) -> Callable[[Callable[[Case, Then], None]], Callable[[Case, Then], None]]:
    """Marks the function that understands a case whose `given` is prose."""

    def register(check: Callable[[Case, Then], None]) -> Callable[[Case, Then], None]:
        PROSE[case_id] = check
        return check

    return register


@pytest.mark.parametrize("case_id", CASES)
def test_case(case_id: str) -> None:
    case = CASES[case_id]
    then = Then(case)
    PROSE.get(case_id, check_merge)(case["given"], then)
    then.assert_all_taken()


# ------------------------------------------------------------------------------- base, override, context
def stages_of(context: str) -> list[Stage]:
    """`SUBWORKFLOW (upstream restart)`; `DEFINITION or upstream LAUNCH` are two."""
    sources = [ParamSource(word) for word in re.findall(r"\b[A-Z_]{5,}\b", context)]
    return [
        Stage(
            source, upstream="upstream" in part, restart="restart" in context or source is ParamSource.RESTART
        )
        for source, part in zip(
            sources, context.split(" or ") if " or " in context else [context], strict=True
        )
    ]


def base_of(written: dict[str, Any]) -> Params:
    """Parameters, or `default`: what steps of that type have without asking."""
    defaults = {name: param for params in TYPE_DEFAULTS.values() for name, param in params.items()}
    return {
        name: defaults[name] if isinstance(param, str) else definition(param)
        for name, param in written.items()
    }


def check_merge(given: Case, then: Then) -> None:
    stages = stages_of(given["context"])
    assert stages
    expected = then.rest()
    for stage in stages:
        base, override = base_of(given["base"]), definitions(given["override"])
        if "error" in expected:
            assert set(expected) == {"error"}
            with pytest.raises(ParamError) as raised:
                merge(base, override, stage)
            check_error(raised.value, expected["error"], renamed={"workflow_default_param": "p"})
        else:
            check_merged(merge(base, override, stage), given, expected)


def check_merged(merged: Params, given: Case, expected: dict[str, Any]) -> None:
    if expected == {"ok": True}:
        for name, written in given["override"].items():
            assert merged[name].value == written["value"]
        return
    for name, wanted in expected.items():
        param = merged[name]
        if param.type is ParamType.STRING_MAP:
            assert param.value == wanted
            continue
        assert wanted.keys() <= {"value", "mode", "source", "keys"}
        found = {"value": param.value, "mode": param.mode, "source": param.source}
        if param.type is ParamType.MAP:
            found["keys"] = list(param.value)
        assert {key: found[key] for key in wanted} == wanted


# --------------------------------------------------------------------------------------- merging in prose
@prose("merge-keeps-order")
def _(given: Case, then: Then) -> None:
    assert given["base_keys"] == "prev_param_0..19"
    text = ParamDefinition(type=ParamType.STRING, value="x")
    base = {f"prev_param_{i}": text for i in range(20)}
    override: Params = {}
    for i in range(20):
        override[f"new_param_{i}"] = text
        if i < 6:
            override[f"prev_param_{i}"] = text
    assert then.take("key_order") == "prev_param_0..19 then new_param_0..19"
    wanted = [*(f"prev_param_{i}" for i in range(20)), *(f"new_param_{i}" for i in range(20))]
    assert list(merge(base, override, Stage(ParamSource.DEFINITION))) == wanted


@prose("merge-type-casts-allowed")
def _(given: Case, then: Then) -> None:
    assert then.take("result") == "cast as listed"
    blanks: dict[str, Any] = {
        "STRING": "",
        "STRING_ARRAY": [],
        "DOUBLE": 0,
        "LONG": 0,
        "BOOLEAN": False,
    }
    for written, wanted in given["casts"]:
        source, text, target = re.fullmatch(r"(\w+) (.+) -> (\w+)", written).groups()  # type: ignore[union-attr]
        base = {"p": definition({"type": target, "value": blanks[target]})}
        layer = {"p": definition({"type": source, "value": _value(text)})}
        param = merge(base, layer, Stage(ParamSource.DEFINITION))["p"]
        assert param.type == target
        found = plain(param.value)
        assert found == (["1", "2", "3"] if wanted == "3 entries" else wanted)


def _value(text: str) -> Any:
    return text[1:-1] if text.startswith("'") else msgspec.json.decode(text)


@prose("merge-tags-union")
def _(given: Case, then: Then) -> None:
    def tagged(names: list[str]) -> Params:
        tags = tuple(Tag(name=name) for name in names)
        return {"p": ParamDefinition(type=ParamType.STRING, value="x", tags=tags)}

    merged = merge(tagged(given["base_tags"]), tagged(given["override_tags"]), Stage(ParamSource.DEFINITION))
    tags = merged["p"].tags or ()
    assert len(tags) == then.take("tag_count")
    assert {tag.name for tag in tags} == {*given["base_tags"], *given["override_tags"]}


@prose("cleanup-optional-empty")
def _(given: Case, then: Then) -> None:
    removed, removed_too, error = then.take("results")
    assert (removed, removed_too) == ("removed", "removed")
    optional = InternalParamMode.OPTIONAL
    empty = {
        "text": ParamDefinition(type=ParamType.STRING, internal_mode=optional),
        "map": ParamDefinition(type=ParamType.MAP, value={}, internal_mode=optional),
    }
    assert settle(empty) == {}
    [modes] = given["params"][2].values()
    for mode in modes.split(" / "):
        with pytest.raises(ParamError) as raised:
            settle({"empty": ParamDefinition(type=ParamType.STRING, internal_mode=InternalParamMode(mode))})
        check_error(raised.value, error)


@prose("step-params-override-order")
def _(given: Case, then: Then) -> None:
    def texts(layer: dict[str, str]) -> Params:
        return {name: ParamDefinition(type=ParamType.STRING, value=text) for name, text in layer.items()}

    merged = step_params(
        StepLayers(
            defaults=texts(given["default_step_params"]),
            template=texts(given["runtime_injected"]),
            definition=texts(given["step_definition"]),
        )
    )
    assert {name: param.value for name, param in merged.items()} == then.rest()


# ------------------------------------------------------------------------------------------------ outputs
def parameter(value: Any, **fields: Any) -> Parameter:
    """A step parameter whose result is a plain value; its type follows from the value."""
    kind = kind_of(value)
    result = tuple(value) if kind.is_array else value
    literal = result if kind is not ParamType.MAP else None
    return Parameter(type=kind, value=literal, expression=None, evaluated_result=result, **fields)


def results(params: Mapping[str, Parameter]) -> dict[str, Any]:
    return {name: plain(param.evaluated_result) for name, param in params.items()}


@prose("output-param-must-be-declared")
@prose("output-undeclared")
def _(given: Case, then: Then) -> None:
    assert not given.get("declared")
    assert not given.get("step_params")
    outputs = {
        name: parameter(value) for name, value in (given.get("output") or given["output_params"]).items()
    }
    with pytest.raises(ParamError) as raised:
        merge_outputs({}, outputs, now_millis=1)
    check_error(raised.value, then.take("error"))


@prose("output-param-map-merge")
@prose("output-param-array-replaced")
def _(given: Case, then: Then) -> None:
    step = {name: parameter(value) for name, value in given["step_param"].items()}
    outputs = {name: parameter(value) for name, value in given["output"].items()}
    merged = merge_outputs(step, outputs, now_millis=1)
    assert results(merged) == then.rest()
    for name in outputs:
        assert merged[name].source is ParamSource.OUTPUT_PARAMETER


@prose("output-type-mismatch")
def _(given: Case, then: Then) -> None:
    assert given == {"declared": {"str_param": "LONG"}, "output": {"str_param": "STRING hello"}}
    with pytest.raises(ParamError) as raised:
        merge_outputs({"str_param": parameter(1)}, {"str_param": parameter("hello")}, now_millis=1)
    check_error(raised.value, then.take("error"))


@prose("output-mode-check")
def _(given: Case, then: Then) -> None:
    for declared, wanted in zip(given["declared_modes"], then.take("results"), strict=True):
        if declared.startswith("internal "):
            marks: dict[str, Any] = {"internal_mode": InternalParamMode(declared.split()[1])}
        else:
            marks = {"mode": ParamMode(declared)}
        step = {"str_param": parameter("before", **marks)}
        if wanted == "ok":
            assert results(merge_outputs(step, {"str_param": parameter("after")}, 1)) == {
                "str_param": "after"
            }
            continue
        with pytest.raises(ParamError) as raised:
            merge_outputs(step, {"str_param": parameter("after")}, now_millis=1)
        check_error(raised.value, wanted)


@prose("output-retry-artifact")
def _(given: Case, then: Then) -> None:
    for artifact, non_retryable in zip(given["retry_artifact"], then.take("non_retryable"), strict=True):
        assert is_retryable({"maestro_retry": artifact}) is not non_retryable


@prose("output-none")
def _(given: Case, then: Then) -> None:
    assert then.take("effect") == "no change, no error"
    step = {"p": parameter("x")}
    assert len(given["variants"]) == 3
    assert merge_outputs(step, None, now_millis=1) == step  # no output data at all
    assert merge_outputs(step, {}, now_millis=1) == step  # output data without params
    assert is_retryable({})  # and without artifacts
