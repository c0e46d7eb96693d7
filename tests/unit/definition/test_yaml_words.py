"""Words that YAML 1.1 and 1.2 read differently: as in Maestro under `workflow:`, as in JSON elsewhere."""

from decimal import Decimal
from typing import Any

import pytest

from stretto.definition.limits import Limits
from stretto.definition.parse import Options, check, parse
from stretto.definition.reading.numbers import BadNumber
from stretto.definition.reading.read import Source
from stretto.definition.reading.yaml_scalars import maestro_value
from stretto.definition.yaml_printing import yaml_text
from stretto.model.param import ParamType

DSL = "workflow:\n  id: words\n  owner: ann\n  p: {}\n  jobs:\n    - job: {{id: a, type: NoOp}}\n"
MODEL = (
    "workflow:\n  id: words\n  params: {{p: {{value: {}, type: BOOLEAN}}}}\n"
    "  steps: [{{step: {{id: a, type: NoOp}}}}]\n"
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("Off", False),
        ("ON", True),
        ("oN", "oN"),
        ("y", "y"),
        ("n", "n"),
        ("017", 15),
        ("-017", -15),
        ("08", "08"),
        ("0o17", "0o17"),
        ("0b101", 5),
        ("0x1F", 31),
        ("1_000", 1000),
        ("1_000.5", Decimal("1000.5")),
        ("1e3", Decimal(1000)),
        ("0b_", "0b_"),
        ("0", 0),
        ("-7", -7),
        (".5", Decimal("0.5")),
        ("1:30", "1:30"),
        ("2026-11-01", "2026-11-01"),
        ("1.2.3", "1.2.3"),
        ("~", None),
        ("", None),
        ("true", True),
    ],
)
def test_a_plain_scalar_is_what_maestro_makes_of_it(text: str, value: Any) -> None:
    found = maestro_value(text)
    assert (found, type(found)) == (value, type(value))


def test_a_number_that_is_not_finite_is_refused() -> None:
    with pytest.raises(BadNumber):
        maestro_value(".inf")


@pytest.mark.parametrize(
    ("word", "kind", "value"),
    [
        ("yes", ParamType.BOOLEAN, True),
        ("off", ParamType.BOOLEAN, False),
        ("017", ParamType.LONG, 15),
        ("1_000", ParamType.LONG, 1000),
        ("'yes'", ParamType.STRING, "yes"),
        ("!!str no", ParamType.STRING, "no"),
        ("2026-11-01", ParamType.STRING, "2026-11-01"),
    ],
)
def test_a_parameter_of_maestros_yaml_has_the_type_that_it_has_there(
    word: str, kind: ParamType, value: Any
) -> None:
    param = (parse(DSL.format(word)).workflow.params or {})["p"]
    assert (param.type, param.value) == (kind, value)


def test_a_file_of_the_model_is_read_alike() -> None:
    assert (parse(MODEL.format("yes")).workflow.params or {})["p"].value is True
    assert check(MODEL.format("maybe")).problems


def test_other_forms_keep_their_reading() -> None:
    for text in ("name: x\ntasks: [yes, 017]", "workflow: yes", "[yes, 017]"):
        source = Source(text, Limits())
        assert source.words == []
        assert "yes" in str(source.documents)
    assert Source("workflow: {a: yes}", Limits()).documents == [{"workflow": {"a": True}}]


def test_a_word_that_is_read_so_is_a_warning_at_its_place() -> None:
    warnings = check(DSL.format("[true, no]"), Options(warnings=True)).warnings
    (warning,) = [each for each in warnings if each.code == "yaml-word"]
    assert (warning.path, warning.line, warning.column) == ("workflow.p[1]", 4, 13)
    assert "`no` is read as `false`" in warning.message
    assert warning.hint == 'write "no" for the text, or false'
    assert check(DSL.format("yes")).warnings == ()  # without `warnings` nobody is warned


def test_words_of_several_documents_say_in_which_they_are() -> None:
    texts = DSL.format("yes") + "---\n" + DSL.format("0b11").replace("id: words", "id: more")
    found = check(texts, Options(warnings=True)).warnings
    assert [each.path for each in found if each.code == "yaml-word"] == ["[0].workflow.p", "[1].workflow.p"]


def test_an_infinite_number_is_no_word() -> None:
    assert check(DSL.format("[.inf, no]")).problems


@pytest.mark.parametrize(
    "text", ["yes", "Off", "on", "017", "1_000", "0b1", "0x1F", "08", "1:30", "y", "null"]
)
def test_printed_texts_stay_texts_in_every_version(text: str) -> None:
    printed = yaml_text({"workflow": {"id": "words", "p": text, "jobs": []}})
    assert (parse(DSL.format(printed.split("p: ")[1].splitlines()[0])).workflow.params or {})[
        "p"
    ].value == text
