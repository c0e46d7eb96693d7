"""How many values a text may hold, and what is kept of one that holds many, or many mistakes."""

import json
from typing import Any

import pytest

from stretto.definition import Limits
from stretto.definition.reading import json_text as nodes
from stretto.definition.reading import read
from stretto.definition.reading.json_text import count_nodes
from stretto.definition.reading.read import Format, Source, Unreadable
from stretto.model.problem import Code

FEW = Limits(nodes=100, problems=10)


def refused(text: str, form: Format, limits: Limits = FEW) -> tuple[Any, ...]:
    with pytest.raises(Unreadable) as caught:
        Source(text, limits, form)
    return caught.value.problems


@pytest.mark.parametrize(
    ("text", "count"),
    [("1", 1), ("[1, 2]", 3), ('{"a": 1, "b": [true]}', 6), ('"a, [b]: {"', 1), (r'["\\", "\",", ","]', 4)],
)
def test_what_counts(text: str, count: int) -> None:
    assert count_nodes(text, 0) == count


@pytest.mark.parametrize("size", [2, 3, 5, 64 * 1024])
def test_texts_do_not_count_wherever_they_are_cut(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "SLICE", size)
    value = ["a,b", "\\", "\\\\", '",', 'x\\",\\', {"k:[": ["{,", "\n"]}]
    assert count_nodes(json.dumps(value), 0) == 11


def test_a_few_are_counted_quickly() -> None:
    assert count_nodes('",,,"', 10) == 4
    assert count_nodes('",,,"', 2) == 1


@pytest.mark.parametrize("form", Format)
@pytest.mark.parametrize(
    "text", ["[" + "[]," * 120 + "0]", "{" + ",".join(f'"{n}": 1' for n in range(60)) + "}"]
)
def test_more_nodes_than_the_limit_are_refused(text: str, form: Format) -> None:
    (problem,) = refused(text, form)
    assert (problem.code, problem.hint) == (Code.TOO_LARGE, "split it, or raise the setting `limits.nodes`")
    assert "more than 100 keys, values, lists and objects" in problem.message


def test_a_text_of_commas_is_one_value() -> None:
    assert Source('"' + "," * 1_000 + '"', FEW, Format.JSON).documents == ["," * 1_000]


@pytest.mark.parametrize("form", Format)
def test_the_problems_of_a_text_end(form: Format) -> None:
    problems = refused("{" + ",".join(['"a": 1'] * 30) + "}", form)
    assert len(problems) == 11
    assert {each.code for each in problems} == {Code.DUPLICATE_KEY}
    assert problems[0].line == 1


class TestLargeTexts:
    """Values with their spots take several times the memory of values."""

    @pytest.fixture(autouse=True)
    def small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(read, "MOST_LOCATED", 4)

    @pytest.mark.parametrize("form", Format)
    def test_their_values_have_no_spots(self, form: Format) -> None:
        source = Source('{"a": [1, 2, 3]}', FEW, form)
        assert source.located() is source.documents
        assert source.starts == [(1, 1)]
        assert hasattr(Source('{"a": 1}', FEW, form).located()[0], "spot")

    @pytest.mark.parametrize("form", Format)
    def test_a_key_that_is_given_twice_is_named(self, form: Format) -> None:
        (problem,) = refused('{"a": [1, 2], "b": 1, "b": 2}', form)
        assert problem.code == Code.DUPLICATE_KEY
        assert "`b` is given twice" in problem.message

    def test_the_line_of_it_is_told_in_yaml(self) -> None:
        (problem,) = refused("a: [1, 2]\nb: 1\nb: 2\n", Format.YAML)
        assert (problem.line, problem.column) == (3, 1)

    def test_a_character_that_can_not_be_stored_has_a_path(self) -> None:
        (problem,) = refused('{"a": [1, 2, {"b": "\\u0000"}]}', Format.JSON)
        assert problem.path == "a[2].b"


def test_the_limit_has_room_for_ten_megabytes() -> None:
    text = json.dumps([{"id": number, "name": "n" * 80} for number in range(90_000)])
    assert len(text) > 9_000_000
    (rows,) = Source(text, Limits(text_bytes=10**8), Format.JSON).documents
    assert len(rows) == 90_000
