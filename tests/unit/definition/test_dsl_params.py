"""Parameters in Maestro's YAML: keys taken apart, types implied and declared."""

from typing import Any

import pytest
from tests.unit.definition.samples import found, model, place, spots

from stretto.model.problem import Code


def params(*lines: str) -> dict[str, Any]:
    body = "".join(f"  {line}\n" for line in lines)
    made: dict[str, Any] = model(f"workflow:\n  id: a\n{body}  jobs: []\n")["workflow"]["params"]
    return made


def problems(line: str) -> list[tuple[str, str]]:
    return found(f"workflow:\n  id: a\n  {line}\n  jobs: []\n")


@pytest.mark.parametrize(
    ("line", "name", "param"),
    [
        ("p: foo", "p", {"value": "foo", "type": "STRING"}),
        ("p: ''", "p", {"value": "", "type": "STRING"}),
        ("p: 5", "p", {"value": 5, "type": "LONG"}),
        ("p: 1.50", "p", {"value": pytest.approx(1.5), "type": "DOUBLE"}),
        ("p: false", "p", {"value": False, "type": "BOOLEAN"}),
        ("p: [a, b]", "p", {"value": ["a", "b"], "type": "STRING_ARRAY"}),
        ("p: [1, 2]", "p", {"value": [1, 2], "type": "LONG_ARRAY"}),
        ("p: [1, 2.5]", "p", {"value": [1, pytest.approx(2.5)], "type": "DOUBLE_ARRAY"}),
        ("p: [true]", "p", {"value": [True], "type": "BOOLEAN_ARRAY"}),
        ("p: []", "p", {"value": [], "type": "STRING_ARRAY"}),
        ("p<array<long>>: []", "p", {"value": [], "type": "LONG_ARRAY"}),
        ("p< Array < Boolean > >: []", "p", {"value": [], "type": "BOOLEAN_ARRAY"}),
        ("p: {k: v}", "p", {"value": {"k": "v"}, "type": "STRING_MAP"}),
        ("p<map>: {}", "p", {"value": {}, "type": "STRING_MAP"}),
        ("p: {}", "p", {"value": {}, "type": "MAP"}),
        ("p: {k: 1}", "p", {"value": {"k": {"value": 1, "type": "LONG"}}, "type": "MAP"}),
        ("p<pmap>: {k: v}", "p", {"value": {"k": {"value": "v", "type": "STRING"}}, "type": "MAP"}),
        (
            "p: {'!k<long>(constant)': 1 + 1, n: {m: true}}",
            "p",
            {
                "value": {
                    "k": {"expression": "1 + 1", "type": "LONG", "mode": "CONSTANT"},
                    "n": {"value": {"m": {"value": True, "type": "BOOLEAN"}}, "type": "MAP"},
                },
                "type": "MAP",
            },
        ),
        ("'!p': 1 + 1", "p", {"expression": "1 + 1", "type": "STRING"}),
        ("'!p<LONG>': 5", "p", {"expression": "5", "type": "LONG"}),
        ("'!p<boolean>': true", "p", {"expression": "true", "type": "BOOLEAN"}),
        ("'!p<double>': 1.50", "p", {"expression": "1.50", "type": "DOUBLE"}),
        ("'!p<array<double>>': [1.50, 2]", "p", {"value": [1.5, 2], "type": "DOUBLE_ARRAY"}),
        ("'!p<map>': {a: b}", "p", {"expression": '{"a":"b"}', "type": "STRING_MAP"}),
        ("p(Immutable): x", "p", {"value": "x", "type": "STRING", "mode": "IMMUTABLE"}),
        ("p<long>( mutable_on_start ): 1", "p", {"value": 1, "type": "LONG", "mode": "MUTABLE_ON_START"}),
        ("p<string_map>: {a: b}", "p", {"value": {"a": "b"}, "type": "STRING_MAP"}),
        ("p<STRING_ARRAY>: [a]", "p", {"value": ["a"], "type": "STRING_ARRAY"}),
        ("' p <long>': 1", "p", {"value": 1, "type": "LONG"}),
        ("1: x", "1", {"value": "x", "type": "STRING"}),
    ],
)
def test_keys_and_types(line: str, name: str, param: dict[str, Any]) -> None:
    made = params(line)
    assert list(made) == [name]
    if isinstance(made[name].get("value"), list):
        assert [float(v) if not isinstance(v, str | bool) else v for v in made[name]["value"]] == param[
            "value"
        ]
        param = {**param, "value": made[name]["value"]}
    assert made[name] == param or float(made[name]["value"]) == param["value"]


@pytest.mark.parametrize(
    ("line", "code", "key"),
    [
        ("p<unknown>: 1", Code.UNKNOWN_VALUE, '["p<unknown>"]'),
        ("p<>: 1", Code.BAD_PARAM, '["p<>"]'),
        ("p(never): 1", Code.UNKNOWN_VALUE, '["p(never)"]'),
        ("p(): 1", Code.UNKNOWN_VALUE, '["p()"]'),
        ("'!': 1", Code.BAD_PARAM, '["!"]'),
        ("p!: 1", Code.BAD_PARAM, '["p!"]'),
        ("p(constant)<long>: 1", Code.BAD_PARAM, '["p(constant)<long>"]'),
        ("p<long>: x", Code.WRONG_TYPE, '["p<long>"]'),
        ("p<long>: 1.5", Code.WRONG_TYPE, '["p<long>"]'),
        ("p<double>: 1", Code.WRONG_TYPE, '["p<double>"]'),
        ("p<array<double>>: [1]", Code.WRONG_TYPE, '["p<array<double>>"]'),
        ("p<array<long>>: [a]", Code.WRONG_TYPE, '["p<array<long>>"]'),
        ("p<map>: {a: 1}", Code.WRONG_TYPE, '["p<map>"]'),
        ("p<pmap>: [a]", Code.WRONG_TYPE, '["p<pmap>"]'),
        ("p<string>: ~", Code.MISSING_FIELD, '["p<string>"]'),
        ("p:", Code.MISSING_FIELD, ".p"),
        ("p: {a: ~}", Code.MISSING_FIELD, ".p.a"),
        ("p: [1, a]", Code.WRONG_TYPE, ".p"),
        ("p: [[1]]", Code.WRONG_TYPE, ".p"),
        ("p: [~]", Code.WRONG_TYPE, ".p"),
        ("'!jobs': 1 + 1", Code.RESERVED_NAME, '["!jobs"]'),
        ("owner<string>: x", Code.RESERVED_NAME, '["owner<string>"]'),
        ("workflow_params: {id: x}", Code.RESERVED_NAME, ".workflow_params.id"),
        ("workflow_params: 5", Code.WRONG_TYPE, ".workflow_params"),
    ],
)
def test_refused_keys_and_values(line: str, code: str, key: str) -> None:
    assert problems(line) == [(code, f"workflow{key}")]


def test_a_name_given_twice_in_different_spellings() -> None:
    text = "workflow:\n  id: a\n  p: 1\n  p<long>: 2\n  workflow_params: {'!p': '3', q: 4}\n  jobs: []\n"
    assert spots(text) == [
        (Code.DUPLICATE_KEY, *place(text, "p<long>")),
        (Code.DUPLICATE_KEY, *place(text, "'!p'")),
    ]


def test_params_in_an_object_of_their_own() -> None:
    assert params("workflow_params: {p: 1}", "q: x").keys() == {"p", "q"}


@pytest.mark.parametrize(
    ("key", "value"),
    [("p q", "1"), ("'1x'", "y"), ("maestro_x", "z"), ("a__b", "[1]"), ("x" * 129, "{a: 1}")],
)
def test_a_bad_name_is_shown_at_the_key(key: str, value: str) -> None:
    text = f"workflow:\n  id: a\n  {key}: {value}\n  jobs: []\n"
    assert [spot[1:] for spot in spots(text)] == [place(text, key)]
    text = f"workflow:\n  id: a\n  workflow_params:\n    {key}: {value}\n  jobs: []\n"
    assert [spot[1:] for spot in spots(text)] == [place(text, key)]


def test_a_bad_expression_is_shown_at_its_value() -> None:
    text = "workflow:\n  id: a\n  '!p': 1 +\n  jobs: []\n"
    assert spots(text) == [(Code.BAD_EXPRESSION, *place(text, "1 +"))]
