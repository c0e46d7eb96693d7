"""JSON text: what is refused, and where."""

import json
from decimal import Decimal

import pytest
from tests.unit.definition.samples import found, place, spots, with_limits

from stretto.definition import check
from stretto.definition.limits import Limits
from stretto.definition.parse import Options
from stretto.definition.reading.json_text import LocatedJson, bad_number_at, read_json, too_deep_at
from stretto.definition.reading.numbers import BadNumber
from stretto.definition.reading.read import Format, Source
from stretto.model.problem import Code

JSON = Options(form=Format.JSON)


def test_decimals_keep_their_digits() -> None:
    assert str(read_json("1.10")) == "1.10"
    assert read_json("[1, 1e3]") == [1, Decimal("1E+3")]


@pytest.mark.parametrize(
    "text", ['{"a": 1, "b": [true, null, "x\\u00e9", {"c": {}}], "d": -1.5e-3}', "[]", "3", '"a"', "null"]
)
def test_the_located_reader_reads_the_same(text: str) -> None:
    assert LocatedJson(text).read() == read_json(text)


def test_spots_of_keys_values_and_items() -> None:
    root = LocatedJson('{\n  "a": [1,\n 2],\r\n  "b" : {}}').read()
    assert (root.spot, root.keys_at["a"], root.values_at["a"]) == ((1, 1), (2, 3), (2, 8))
    assert root["a"].items_at == [(2, 9), (3, 2)]
    assert (root.keys_at["b"], root.values_at["b"]) == ((4, 3), (4, 9))


class TestDuplicateKeys:
    def test_every_one_with_its_path_and_spot(self) -> None:
        text = '{"a": 1,\n "b": [{"c": 1, "c": 2}],\n "a": 3}'
        assert found(text) == [(Code.DUPLICATE_KEY, "b[0].c"), (Code.DUPLICATE_KEY, "a")]
        assert [spot[1:] for spot in spots(text)] == [(2, 17), (3, 2)]
        assert check(text).problems[1].hint == "first at line 1"

    def test_a_key_that_looks_the_same_once_decoded(self) -> None:
        assert found('{"a": 1, "\\u0061": 2}') == [(Code.DUPLICATE_KEY, "a")]

    @pytest.mark.parametrize("rest", [" x", "}", ",", '{"b": 1}'])
    def test_bad_json_behind_them_is_the_greater_problem(self, rest: str) -> None:
        assert found('{"a": 1, "a": 2}' + rest, JSON) == [(Code.SYNTAX, "")]


class TestNumbers:
    @pytest.mark.parametrize(
        "number", ["NaN", "Infinity", "-Infinity", "9" * 4_001, "1e999999999", "-1E-401", "1e" + "9" * 50]
    )
    def test_out_of_range_at_its_place(self, number: str) -> None:
        text = f'{{"workflow": {{"id": "a"}},\n "x": [1, {number}]}}'
        assert spots(text) == [(Code.OUT_OF_RANGE, *place(text, number))]

    @pytest.mark.parametrize("number", ["9" * 4_000, "1e400", "-1e-400", "-0.0", "0e5", "1E+3"])
    def test_in_range(self, number: str) -> None:
        assert found(f'{{"workflow": {{"id": "a"}}, "x": {number}}}') == []

    def test_words_that_are_no_numbers_are_passed_over(self) -> None:
        assert bad_number_at("[true, nul, 1, NaN]") == (1, 16)
        assert bad_number_at("[1, 2]") is None


class TestDepth:
    def test_the_limit_itself_is_allowed(self) -> None:
        assert Source("[" * 5 + "]" * 5, Limits(nesting=5)).documents == [[[[[[]]]]]]

    def test_one_more_is_refused_where_it_opens(self) -> None:
        assert spots('[[\n[["]]", [{}]]]]', with_limits(nesting=5)) == [(Code.TOO_DEEP, 2, 10)]

    def test_deeper_than_any_stack(self) -> None:
        assert spots("[" * 100_000) == [(Code.TOO_DEEP, 1, 129)]
        assert spots('{"a":' * 100_000) == [(Code.TOO_DEEP, 1, 128 * 5 + 1)]

    def test_a_text_that_is_not_deep(self) -> None:
        assert too_deep_at("[[]]", 2) is None


@pytest.mark.parametrize(
    ("text", "spot"),
    [
        ('{"a" 1}', (1, 6)),
        ('{"a": }', (1, 7)),
        ("[1\n 2]", (2, 2)),
        ("{'a': 1}", (1, 2)),
        ('{"a": "b\nc"}', (1, 9)),
        ('{"a": 1} x', (1, 10)),
        ("", (1, 1)),
    ],
)
def test_syntax_errors_at_their_place(text: str, spot: tuple[int, int]) -> None:
    assert spots(text, JSON) == [(Code.SYNTAX, *spot)]


class TestCharacters:
    def test_nul_by_escape(self) -> None:
        text = '{"workflow": {"id": "a",\n "name": "b\\u0000"}}'
        assert found(text) == [(Code.SYNTAX, "workflow.name")]
        assert spots(text) == [(Code.SYNTAX, 2, 10)]

    def test_nul_in_a_key(self) -> None:
        assert found('{"workflow": {"id": "a", "b\\u0000": {}}}') == [(Code.SYNTAX, "workflow")]

    def test_half_of_a_pair_by_escape(self) -> None:
        [problem] = check('{"workflow": {"id": "a", "tags": ["x", "\\ud83d"]}}').problems
        assert (problem.path, problem.column) == ("workflow.tags[1]", 40)
        assert "U+D83D" in problem.message

    def test_a_whole_pair_by_escape_is_fine(self) -> None:
        assert found('{"workflow": {"id": "a", "name": "\\ud83d\\ude00 \\\\u0000"}}') == []

    def test_nul_in_the_text_itself(self) -> None:
        assert spots(b'{"a":\n "\x00"}'.decode()) == [(Code.SYNTAX, 2, 3)]

    def test_half_of_a_pair_in_the_text_itself(self) -> None:
        [problem] = check('{"a":\n "\ud800"}').problems
        assert (problem.code, problem.line, problem.column) == (Code.SYNTAX, 2, 3)


def test_numbers_refuse_what_is_too_long() -> None:
    with pytest.raises(BadNumber, match="4,001 digits"):
        read_json("1" * 4_001)
    with pytest.raises(json.JSONDecodeError):
        read_json("01")
