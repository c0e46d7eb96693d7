"""YAML text: values of the core schema, aliases and merges within bounds, and the place of every error."""

from decimal import Decimal
from typing import Any

import pytest
import yaml
from tests.unit.definition.samples import found, place, spots

from stretto.definition import check
from stretto.definition.limits import Limits
from stretto.definition.reading import yaml_text
from stretto.definition.reading.yaml_text import YamlProblem, YamlReader
from stretto.model.problem import Code


def read(text: str, *, located: bool = False, **limits: Any) -> list[Any]:
    return YamlReader(text, Limits(**limits), located=located).read()


def stopped(text: str, **limits: Any) -> tuple[str, int | None, int | None]:
    """Code and spot of what ends the reading; both ways of reading must agree on it."""
    problems = []
    for located in (False, True):
        with pytest.raises(YamlProblem) as caught:
            read(text, located=located, **limits)
        problems.append(caught.value.problem)
    assert problems[0] == problems[1]
    return problems[0].code, problems[0].line, problems[0].column


TREES = [
    "a: 1\nb: [x, {c: y}]\n",
    "- - 1\n  - 2\n- {}\n- []\n",
    "base: &b {x: 1, y: 2}\nmade:\n  <<: *b\n  y: 3\n",
    "p: &p {x: 1}\nq: &q {x: 2, z: 3}\nr: {<<: [*p, *q]}\n",
    "&k key: v\nother: *k\n",
    "a: &a text\n*a : 1\nb: [*a, *a]\n",
    "? plain\n: value\n",
    "? |\n  block key\n: value\n",
    "? \n: empty key\n",
    "'<<': {a: 1}\n",
    "!!str <<: {a: 1}\n",
    "<<: {a: 1}\n<<: {b: 2}\n",
    "1: x\n1.0: y\ntrue: z\nnull: w\n~: v\n",
    "a: !!str 5\nb: !!int '5'\nc: !!float 5\nd: !!null ''\ne: !!bool true\nf: ! 5\n!!str g: 1\n",
    "a: !!map {b: !!seq [1]}\n",
    "a: |\n  x\n  y\nb: >-\n  x\n  y\nc: \"q\\n\"\nd: 'it''s'\n",
    "--- 1\n--- [2]\n...\n",
    "%YAML 1.2\n---\na: 1\n",
    "a: 'tab\there'\n",
]


@pytest.mark.parametrize("text", TREES)
def test_both_ways_of_reading_agree(text: str) -> None:
    assert read(text) == read(text, located=True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (TREES[2], {"base": {"x": 1, "y": 2}, "made": {"y": 3, "x": 1}}),
        (TREES[3], {"p": {"x": 1}, "q": {"x": 2, "z": 3}, "r": {"x": 1, "z": 3}}),
        (TREES[4], {"key": "v", "other": "key"}),
        (TREES[5], {"a": "text", "text": 1, "b": ["text", "text"]}),
        (TREES[7], {"block key\n": "value"}),
        (TREES[8], {"": "empty key"}),
        (TREES[9], {"<<": {"a": 1}}),
        (TREES[10], {"<<": {"a": 1}}),
        (TREES[11], {"a": 1, "b": 2}),
        (TREES[12], {"1": "x", "1.0": "y", "true": "z", "null": "w", "~": "v"}),
        (TREES[13], {"a": "5", "b": 5, "c": Decimal(5), "d": None, "e": True, "f": "5", "g": 1}),
    ],
)
def test_values(text: str, value: Any) -> None:
    assert read(text) == [value]
    assert type(read("!!float 5")[0]) is Decimal


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((text, None) for text in ("", "~", "null", "Null", "NULL")),
        *((text, True) for text in ("true", "True", "TRUE")),
        *((text, False) for text in ("false", "False", "FALSE")),
        *((text, int(text)) for text in ("0", "-1", "+12", "007", "9" * 400)),
        ("0o17", 15),
        ("0xFf", 255),
        *((text, Decimal(text)) for text in ("1.5", ".5", "-1.", "1e3", "+.5E-2", "0.0", "1e400")),
        *((text, text) for text in ("yes", "no", "on", "off", "y", "tRUE", "nULL", "2020-01-01", "12:30:00")),
        *((text, text) for text in ("1_000", "0b1", "+", ".", "..", "1.2.3", "1e", "0o8", "0xg", "- x")),
        *((text, text) for text in ("-.5x", "=", "<", "Infinity", "NaN", "inf", "-0x1")),
    ],
)
def test_plain_scalars_follow_the_core_schema(text: str, value: Any) -> None:
    [got] = read(f"[ {text} ]" if text not in ("", "- x") else f"- {text}\n")[0]
    assert (got, type(got)) == (([text[2:]], list) if text == "- x" else (value, type(value)))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *((f"a: {text}", Code.OUT_OF_RANGE) for text in (".inf", "-.INF", "+.Inf", ".nan", ".NaN", ".NAN")),
        *(
            (f"a: {text}", Code.OUT_OF_RANGE)
            for text in ("9" * 4_001, "0x" + "f" * 3_999, "1e401", "1e" + "9" * 30)
        ),
        *((f"a: {text}", Code.SYNTAX) for text in ("!!int x", "!!float x", "!!bool yes", "!!null x")),
        *(
            (f"a: {text}", Code.SYNTAX)
            for text in ("!!python/name:os.system x", "!custom x", "!!binary aGk=")
        ),
        *((f"a: {text}", Code.SYNTAX) for text in ("!!python/object:os.x {}", "!!set {a}", "!!omap [a]")),
        *(
            (f"a: {text}", Code.SYNTAX)
            for text in ("!!map [1]", "!!seq {a: 1}", "*nowhere", "&a [*a]", "&a {b: *a}")
        ),
    ],
)
def test_refused_scalars_and_tags(text: str, code: str) -> None:
    column = text.index("*a") + 1 if "*a" in text else 4
    assert stopped(text) == (code, 1, column)


@pytest.mark.parametrize(
    ("text", "spot"),
    [
        ("? [a]\n: 1\n", (1, 3)),
        ("? {a: 1}\n: 1\n", (1, 3)),
        ("a: &a [1]\n*a : 2\n", (2, 1)),
        ("!!python/name:os.system a: 1\n", (1, 1)),
        ("a:\n  !x b: 1\n", (2, 3)),
        ("a: &a 1\nb: {<<: *a}\n", (2, 9)),
        ("<<: [1, {a: 1}]\n", (1, 5)),
        ("a: b: c\n", (1, 5)),
        ("a: [1\nb: 2\n", (2, 2)),
        ("a:\n\t- x\n", (2, 1)),
        ("a: 'x\n", (2, 1)),
        ("%YAML 3.0\n---\na: 1\n", (1, 1)),
        ("a: \x07\n", (1, 4)),
        ("é: x\ny: \x1b\n", (2, 4)),
        ("a: \ufffe\n", (1, 4)),
    ],
)
def test_other_errors_at_their_place(text: str, spot: tuple[int, int]) -> None:
    assert stopped(text) == (Code.SYNTAX, *spot)


def test_a_number_as_merge_key_is_no_text() -> None:
    assert stopped("a: &a 5\n*a : 1\n")[0] == Code.SYNTAX


def test_the_reader_without_the_c_library_finds_the_same_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "LOADER", yaml.SafeLoader)
    assert stopped("é: x\ny: \x1b\n") == (Code.SYNTAX, 2, 4)
    assert stopped("a: b: c\n") == (Code.SYNTAX, 1, 5)
    assert read(TREES[3]) == read(TREES[3], located=True)


def test_an_error_without_a_mark_is_shown_at_the_start() -> None:
    assert yaml_text._syntax(yaml.MarkedYAMLError(problem="odd")).line == 1


class TestBounds:
    def test_depth_of_flow_and_block(self) -> None:
        assert stopped("[" * 10_000) == (Code.TOO_DEEP, 1, 129)
        block = "".join(f"{' ' * n}a:\n" for n in range(200))
        assert stopped(block) == (Code.TOO_DEEP, 129, 129)
        assert read("[[[]]]", nesting=3) == [[[[]]]]

    def test_depth_that_comes_from_aliases(self) -> None:
        lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 200))]
        assert found("\n".join(lines)) == [(Code.TOO_DEEP, "")]

    def test_billion_laughs(self) -> None:
        lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
        for this, before in zip("bcdefghi", "abcdefgh", strict=True):
            lines.append(f"{this}: &{this} [{', '.join([f'*{before}'] * 9)}]")
        code, line, _ = stopped("\n".join(lines))
        assert (code, line) == (Code.TOO_MANY_ALIASES, 6)

    def test_aliases_within_the_limit(self) -> None:
        assert read("a: &a [1, 1]\nb: [*a, *a]", alias_nodes=6)[0]["b"] == [[1, 1], [1, 1]]
        assert stopped("a: &a [1, 1]\nb: [*a, *a]", alias_nodes=5) == (Code.TOO_MANY_ALIASES, 2, 9)

    def test_anchors_end_with_their_document(self) -> None:
        assert stopped("a: &a 1\n---\nb: *a\n") == (Code.SYNTAX, 3, 4)


class TestDuplicateKeys:
    def test_every_one_with_its_path_and_spot(self) -> None:
        text = "a: 1\nb:\n  - {c: 1, c: 2}\na: 3\n"
        assert found(text) == [(Code.DUPLICATE_KEY, "b[0].c"), (Code.DUPLICATE_KEY, "a")]
        assert [spot[1:] for spot in spots(text)] == [(3, 12), (4, 1)]
        assert check(text).problems[1].hint == "first at line 1"

    def test_a_number_and_its_text_are_the_same_key(self) -> None:
        assert found("1: a\n'1': b\n") == [(Code.DUPLICATE_KEY, '["1"]')]

    def test_a_merged_key_is_not_given_twice(self) -> None:
        assert found("workflow:\n  <<: {id: a}\n  id: b\n") == []
        assert found("workflow:\n  id: b\n  <<: {id: a}\n") == []

    def test_inside_a_merged_object(self) -> None:
        text = "x:\n  <<: {id: a, id: b}\n"
        assert spots(text) == [(Code.DUPLICATE_KEY, *place(text, "id: b"))]


class TestSpots:
    def test_of_keys_values_and_items(self) -> None:
        [root] = read("a:\n  - x\n  - {b: 1}\nc: |\n  text\n", located=True)
        assert (root.keys_at["a"], root.values_at["a"]) == ((1, 1), (2, 3))
        assert root["a"].items_at == [(2, 5), (3, 5)]
        assert root["a"][1].values_at["b"] == (3, 9)
        assert root.values_at["c"] == (4, 4)

    def test_an_alias_and_a_merge_are_shown_where_they_are_used(self) -> None:
        [root] = read("a: &a {x: 1}\nb: *a\nc: {<<: *a}\n", located=True)
        assert root.values_at["b"] == (2, 4)
        assert root["c"].keys_at["x"] == (3, 9)


def test_characters_that_only_escapes_can_make() -> None:
    text = 'workflow:\n  id: a\n  name: "x\\0"\n'
    assert spots(text) == [(Code.SYNTAX, 3, 9)]
    assert found(text) == [(Code.SYNTAX, "workflow.name")]
    for escape in ("\\x00", "\\u0000", "\\U00000000"):
        assert found(f'workflow:\n  id: "{escape}"\n') == [(Code.SYNTAX, "workflow.id")]
    assert found("workflow:\n  id: a\n  name: 'x\\0'\n") == []
    assert found('a: &a 1\n---\nworkflow: {id: "\\0"}\n')[0] == (Code.SYNTAX, "workflow.id")
