"""Literals, names and comments: what the lexer and the parser make of a text."""

import math
from typing import Any

import pytest
from tests.unit.sel.evaluation import failure, kind, run

from stretto.sel import Kind, SelError, compile_expression


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("0;", 0),
        ("123l;", 123),
        ("017;", 15),
        ("00;", 0),
        ("0x1F;", 31),
        ("0XffffffffffffffffL;", -1),
        ("9223372036854775807;", 2**63 - 1),
        ("1.;", 1.0),
        (".5f;", 0.5),
        ("1e3;", 1000.0),
        ("1.5e-3D;", 0.0015),
        ("1d;", 1.0),
        ("1e999;", math.inf),
        ("true;", True),
        ("false;", False),
        ("null;", None),
        ("'it\\'s';", "it's"),
        ('"say \\"hi\\"\\n";', 'say "hi"\n'),
        ("'\\t\\b\\r\\f\\\\';", "\t\b\r\f\\"),
        ("'\\u0041\\uu0042';", "AB"),
        ("'\\\\u0041';", "\\u0041"),
        ("'\\ud83d\\ude00';", "😀"),
        ("/* a */ 1 /** b */ + // c\n 2;", 3),
        ("$x_1 = 1; $x_1;", 1),
        ("é = 3; é;", 3),
        ("a\\u0062 = 4; ab;", 4),
    ],
)
def test_value(script: str, value: Any) -> None:
    assert run(script) == value


@pytest.mark.parametrize(
    ("script", "expected", "line", "column"),
    [
        ("# 1;", Kind.LEXICAL, 1, 1),
        ("\u00a0 1;", Kind.LEXICAL, 1, 1),
        ("'abc", Kind.LEXICAL, 1, 5),
        ("x = 'a\\q';", Kind.LEXICAL, 1, 7),
        ("1;\n/* x", Kind.LEXICAL, 2, 5),
        ("// \\u12", Kind.LEXICAL, 1, 5),
        ("'\\u0041' + #;", Kind.LEXICAL, 1, 12),
        ("'\\101';", Kind.ILLEGAL_ARGUMENT, 1, 1),
        ("08;", Kind.PARSE, 1, 2),
        ("1--1;", Kind.PARSE, 1, 2),
        ("a.class;", Kind.PARSE, 1, 3),
        ("1 & 2;", Kind.PARSE, 1, 3),
        ("1 + 1", Kind.PARSE, 1, 5),
        ("1;\n 2 +;", Kind.PARSE, 2, 5),
        ("9223372036854775808;", Kind.NUMBER_FORMAT, 1, 1),
        ("-9223372036854775808;", Kind.NUMBER_FORMAT, 1, 2),
        ("99999999999999999999999999;", Kind.NUMBER_FORMAT, 1, 1),
        ("0x1ffffffffffffffff;", Kind.NUMBER_FORMAT, 1, 1),
        ("5.toString();", Kind.PARSE, 1, 3),
        ("new java.util.Date();", Kind.PARSE, 1, 9),
        ("int[] a = {1};", Kind.PARSE, 1, 11),
        ("if (true) ;", Kind.PARSE, 1, 11),
        ("1;;", Kind.PARSE, 1, 3),
        ("f();", Kind.PARSE, 1, 2),
        ("a.b = 1;", Kind.PARSE, 1, 5),
        ("5; import a.b;", Kind.PARSE, 1, 4),
        (";", Kind.PARSE, 1, 1),
    ],
)
def test_what_is_no_script_is_refused_at_its_place(
    script: str, expected: Any, line: int, column: int
) -> None:
    error = failure(script)
    assert (error.kind, error.line, error.column) == (expected, line, column)


@pytest.mark.parametrize("word", ["abstract", "goto", "this", "void", "instanceof"])
def test_words_reserved_by_java_are_no_names(word: str) -> None:
    assert kind(f"{word} = 1;") is Kind.PARSE


def test_an_empty_script_has_no_value() -> None:
    assert type(run("")).__name__ == "Void"
    assert type(run("import a.b.*; import static c.d;")).__name__ == "Void"


def test_errors_have_a_text_with_their_place() -> None:
    assert str(failure("1 +")) == "line 1, column 3: The script ends too early; is a ';' missing?"
    assert str(SelError(Kind.RUNTIME, "without a place")) == "without a place"


def test_expressions_are_compiled_once() -> None:
    assert compile_expression("1 + 1;") is compile_expression("1 + 1;")
    long = "1" + " + 1" * 100 + ";"
    assert compile_expression(long) is compile_expression(long)
    assert repr(compile_expression("1 + 1;")) == "Expression('1 + 1;')"
