"""Transitions in Maestro's YAML."""

import time
from typing import Any

import pytest

from stretto.definition.forms.dsl_transitions import successors_of
from stretto.model.problem import Code, Problem


def edges(entries: Any) -> tuple[dict[str, str], list[tuple[str, str]]]:
    sink: list[Problem] = []
    made = successors_of(entries, (None, "t"), sink)
    return made, [(problem.code, problem.path) for problem in sink]


@pytest.mark.parametrize(
    ("entries", "made"),
    [
        ("b", {"b": "true"}),
        ([], {}),
        (["b", "", "  ", "c"], {"b": "true", "c": "true"}),
        (["if x > 1 then b"], {"b": "x > 1"}),
        (["  IF\tx\n> 1  Then   b "], {"b": "x\n> 1"}),
        (["IF a THEN b THEN c"], {"c": "a THEN b"}),
        (["OTHERWISE b"], {"b": "true"}),
        (["if a; then b", "otherwise c"], {"b": "a;", "c": "!((a))"}),
        (
            ["IF a THEN b", "d", "IF c THEN e", "otherWISE f"],
            {"b": "a", "d": "true", "e": "c", "f": "!((a) || (c))"},
        ),
        (["otherwise"], {"otherwise": "true"}),
        (["if"], {"if": "true"}),
    ],
)
def test_transitions(entries: Any, made: dict[str, str]) -> None:
    assert edges(entries) == (made, [])


@pytest.mark.parametrize(
    ("entries", "code", "path"),
    [
        (["a b"], Code.BAD_TRANSITION, "t[0]"),
        (["IF THEN b"], Code.BAD_TRANSITION, "t[0]"),
        (["IFx THEN b"], Code.BAD_TRANSITION, "t[0]"),
        (["x", "a b c d"], Code.BAD_TRANSITION, "t[1]"),
        (["IF x THEN"], Code.BAD_TRANSITION, "t[0]"),
        (["OTHERWISE a", "IF b THEN c"], Code.BAD_TRANSITION, "t[1]"),
        (["OTHERWISE a", "OTHERWISE b"], Code.BAD_TRANSITION, "t[1]"),
        (["IF a THEN x", "IF b THEN x"], Code.BAD_TRANSITION, "t[1]"),
        ([5], Code.WRONG_TYPE, "t[0]"),
        ({"a": 1}, Code.WRONG_TYPE, "t"),
        (5, Code.WRONG_TYPE, "t"),
    ],
)
def test_refused(entries: Any, code: str, path: str) -> None:
    assert edges(entries)[1] == [(code, path)]


def test_a_blank_entry_may_follow_otherwise() -> None:
    assert edges(["OTHERWISE a", ""]) == ({"a": "true"}, [])


@pytest.mark.parametrize("text", ["if" + " " * 50_000 + "x", "if " * 20_000, "if x" + " then" * 20_000 + " "])
def test_no_text_is_slow(text: str) -> None:
    start = time.process_time()
    edges([text])
    assert time.process_time() - start < 1
