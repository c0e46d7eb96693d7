"""Names, texts and tags."""

from typing import Any

import pytest
from tests.unit.definition.samples import flow, foreach, found, model, step, with_limits

from stretto.definition import parse, validate
from stretto.model.problem import Code
from stretto.model.wire import to_json

LONG = "x" * 129


def param(value: str = "v") -> dict[str, Any]:
    return {"value": value, "type": "STRING"}


@pytest.mark.parametrize("name", ["a", "_", "9", "a.b-c_d", "9.9", "__", "x" * 128, "_maestro_"])
def test_workflow_ids(name: str) -> None:
    assert found({"workflow": {"id": name}}) == []


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("", Code.EMPTY),
        *(
            (name, Code.BAD_NAME)
            for name in (".a", "-a", "a b", "a\n", "\na", "é", "a/b", "a$", " ", "a\u0661")
        ),
        *(
            (name, Code.RESERVED_NAME)
            for name in ("maestro_a", "MAESTRO_a", "a_maestro", "a_Maestro", "maestro_")
        ),
        (LONG, Code.TOO_LONG),
    ],
)
def test_bad_workflow_ids(name: str, code: str) -> None:
    assert found({"workflow": {"id": name}}) == [(code, "workflow.id")]


@pytest.mark.parametrize("name", ["a", "_", "a.b-c_d", "x" * 128, "a_maestro", "maestro"])
def test_step_ids_and_parameter_names(name: str) -> None:
    assert found(flow(step(name), params={name: param()})) == []


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("", Code.EMPTY),
        *(
            (name, Code.BAD_NAME)
            for name in ("9", "9a", ".a", "a b", "a\n", "é", "$foo", "a__b", "__", "a\u2028")
        ),
        *((name, Code.RESERVED_NAME) for name in ("maestro_a", "Maestro_a")),
        (LONG, Code.TOO_LONG),
    ],
)
def test_bad_step_ids_and_parameter_names(name: str, code: str) -> None:
    assert [each for each, _ in found(flow(step(name)))] == [code]
    assert [each for each, _ in found(flow(params={name: param()}))] == [code]
    assert [each for each, _ in found(flow(step("a", params={name: param()})))] == [code]
    assert [each for each, _ in found(flow(params={"m": {"value": {name: param()}, "type": "MAP"}}))] == [
        code
    ]


def test_a_bad_name_is_reported_each_time() -> None:
    steps = [step("a", params={"$": param()}), step("b", params={"$": param()})]
    assert [code for code, _ in found(flow(*steps))] == [Code.BAD_NAME] * 2


def test_a_long_name_is_shown_in_part() -> None:
    [problem] = validate(parse(to_json(flow(step("$" + "x" * 99)))))
    assert "$" + "x" * 56 + "..." in problem.message


@pytest.mark.parametrize("name", ["a", "a b", "${table}", "a.,:@&='(){}$+[]-/\\", "x" * 256, "9"])
def test_tags_and_signals(name: str) -> None:
    signals = {"signal_dependencies": [{"name": name}], "signal_outputs": [{"name": name}]}
    triggers: list[Any] = [{"definitions": {name: {}}}]
    assert found(flow(step("a", tags=[name], **signals), tags=[name], signal_triggers=triggers)) == []


@pytest.mark.parametrize(
    ("name", "code"),
    [
        *((name, Code.EMPTY) for name in ("", "  ")),
        *((name, Code.BAD_NAME) for name in ("a\n", "é", "a#b", "a;b", "a*", "a\tb")),
        *((name, Code.RESERVED_NAME) for name in ("maestro_x", "x_MAESTRO")),
        ("x" * 257, Code.TOO_LONG),
    ],
)
def test_bad_tags_and_signals(name: str, code: str) -> None:
    assert found(flow(tags=[{"name": name}])) == [(code, "workflow.tags[0]")]
    assert found(flow(step("a", tags=[name]))) == [(code, "workflow.steps[0].step.tags[0]")]
    base = "workflow.steps[0].step"
    assert found(flow(step("a", signal_dependencies=[{"name": name}]))) == [
        (code, f"{base}.signal_dependencies[0].name")
    ]
    assert found(flow(step("a", signal_outputs=[{"name": name}]))) == [
        (code, f"{base}.signal_outputs[0].name")
    ]
    assert [each for each, _ in found(flow(signal_triggers=[{"definitions": {name: {}}}]))] == [code]


def test_tags_are_given_once() -> None:
    assert found(flow(tags=["a", "b", {"name": "a"}])) == [(Code.DUPLICATE_TAG, "workflow.tags[2]")]


def test_lengths_of_names_and_descriptions() -> None:
    texts = {"name": "n" * 256, "description": "d" * 16_384}
    assert found(flow(step("a", **texts), properties={"description": texts["description"]}, **texts)) == []
    texts = {"name": "n" * 257, "description": "d" * 16_385}
    value = flow(step("a", **texts), properties={"description": texts["description"]}, **texts)
    assert found(value) == [
        (Code.TOO_LONG, "properties.description"),
        (Code.TOO_LONG, "workflow.name"),
        (Code.TOO_LONG, "workflow.description"),
        (Code.TOO_LONG, "workflow.steps[0].step.name"),
        (Code.TOO_LONG, "workflow.steps[0].step.description"),
    ]
    assert found(flow(step("abcd"), name="abcd"), with_limits(id_length=3, name_length=3)) == [
        (Code.TOO_LONG, "workflow.name"),
        (Code.TOO_LONG, "workflow.steps[0].step.id"),
    ]


def test_metadata_that_the_system_sets() -> None:
    extra = {"workflow_id": "x", "create_time": 1, "mine": True, "version_author": "me"}
    assert found({**flow(), **extra}) == [
        (Code.RESERVED_NAME, "workflow_id"),
        (Code.RESERVED_NAME, "create_time"),
        (Code.RESERVED_NAME, "version_author"),
    ]
    assert model({**flow(), "mine": [1]})["mine"] == [1]


def test_names_inside_loops() -> None:
    assert found(flow(foreach("f", [step("$")]))) == [
        (Code.BAD_NAME, "workflow.steps[0].foreach.steps[0].step.id")
    ]
