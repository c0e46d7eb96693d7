"""Definitions to text: read again they are equal, and printing that gives the same text."""

from decimal import Decimal
from typing import Any

import pytest
import yaml
from tests.unit.definition.samples import flow, model, step

from stretto.definition import parse, to_json, to_yaml
from stretto.definition.printing import to_value
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.wire import decode
from stretto.model.workflow import Definition

TEXTS = [
    *("yes", "no", "on", "true", "False", "null", "~", "", " ", " leading", "trailing ", "trailing:", ": x"),
    *("0o17", "0x1F", "1_000", ".5", "1.", "1e3", "-0", "+1", ".inf", ".NaN", "2020-01-01", "12:30", "007"),
    *("- x", "-", "?", "? x", "[a]", "{a}", "*a", "&a", "!a", "%a", "@a", "`a", "#a", "a #b", "a: b", "a:"),
    *("'", '"', "it's", 'say "x"', "back\\slash", "|", ">", "=", "<<", "---", "...", "--- x"),
    *(
        "a\nb",
        "a\n",
        "\na",
        "a\n\n",
        "\n",
        "\n\n",
        "  a\nb",
        "a\n  b\n",
        "a \nb",
        "a\n \nb",
        "\ta\nb",
        "a\n#b",
    ),
    *(
        "tab\t",
        "a\tb",
        "bell\x07",
        "del\x7f",
        "nel\x85x",
        "ls\u2028x",
        "ps\u2029x",
        "bom\ufeffx",
        "\r",
        "a\r\nb",
    ),
    *("é", "中文", "😀", "a😀\nb", "\u00a0", "\u200b", "\ue000", "\ufffd", "x" * 3_000, "word " * 300),
    *("a\nb\u2028c", "a\nb\x85", "9" * 500, "key: |\n  text", "a\\nb", "${x}", "#"),
]


def definition(**params: Any) -> Definition:
    record, problems = decode(Definition, flow(params=params))
    assert not problems
    return record


def assert_round_trip(made: Definition) -> None:
    for show in (to_json, to_yaml):
        text = show(made)
        again = parse(text)
        assert again == made
        assert show(again) == text
        assert to_json(again) == to_json(made)


@pytest.mark.parametrize("text", TEXTS)
def test_texts_as_values_keys_and_names(text: str) -> None:
    made, problems = decode(
        Definition,
        {
            **flow(step("a", name=text), params={"p": {"value": {text: text}, "type": "STRING_MAP"}}),
            "extra": {text: [text], "in": {"deeper": {text: {text: text}}}},
        },
    )
    assert not problems
    assert_round_trip(made)


@pytest.mark.parametrize("text", [text for text in TEXTS if text not in {"\r", "a\r\nb"}])
def test_other_readers_see_texts_too(text: str) -> None:
    made = definition(p={"value": text, "type": "STRING"})
    assert yaml.safe_load(to_yaml(made))["workflow"]["params"]["p"]["value"] == text


@pytest.mark.parametrize(
    "number",
    ["1", "1.0", "1.10", "-0.0", "0", "1E+3", "1.5E-7", "1E-400", "9.99E+400", "-12345678901234567890.5"],
)
def test_decimals_keep_their_digits(number: str) -> None:
    param = ParamDefinition(type=ParamType.DOUBLE, value=Decimal(number))
    array = ParamDefinition(type=ParamType.DOUBLE_ARRAY, value=(Decimal(number),))
    made = definition()
    made = Definition(workflow=type(made.workflow)(id="a", params={"p": param, "q": array}))
    assert_round_trip(made)
    for show in (to_json, to_yaml):
        again = parse(show(made)).workflow.params
        assert again is not None
        assert str(again["p"].value) == number
    assert "!!" not in to_yaml(made)


@pytest.mark.parametrize("number", [0, -1, 2**63 - 1, -(2**63)])
def test_whole_numbers(number: int) -> None:
    assert_round_trip(definition(p={"value": number, "type": "LONG"}))


def test_free_values_of_any_kind() -> None:
    extra = {
        "big": 10**300,
        "none": None,
        "flag": False,
        "list": [[], {}, [1.5, "x"]],
        "num": Decimal("1E+3"),
    }
    made, _ = decode(Definition, {**flow(), "extra": extra})
    assert_round_trip(made)


def test_equal_values_are_no_aliases() -> None:
    shared = {"value": {"a": "b"}, "type": "STRING_MAP"}
    assert "&" not in to_yaml(definition(p=shared, q=shared))


def test_json_in_one_line() -> None:
    assert to_json(parse('{"workflow": {"id": "a"}}'), indent=None) == (
        '{"workflow":{"id":"a","steps":[]},"is_active":true}'
    )
    assert to_value(parse("workflow: {id: a}")) == model("workflow: {id: a}")


def test_long_texts_are_blocks() -> None:
    script = "select *\nfrom t\nwhere x > 1;\n"
    assert "value: |\n" in to_yaml(definition(p={"value": script, "type": "STRING"}))
