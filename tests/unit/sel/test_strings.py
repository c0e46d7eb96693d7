"""The methods of STRING."""

from typing import Any

import pytest
from tests.unit.sel.evaluation import failure, kind, run

from stretto.sel import Kind, StringArray


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("'abc'.length();", 3),
        ("'é😀'.length();", 3),
        ("''.isEmpty();", True),
        ("'aB'.toUpperCase() + 'aB'.toLowerCase();", "ABab"),
        ("' \\t x '.trim();", "x"),
        ("'abc'.substring(1);", "bc"),
        ("'abc'.substring(1, 2);", "b"),
        ("'a😀b'.substring(3);", "b"),
        ("'a😀b'.substring(1, 3);", "😀"),
        ("'a😀'.substring(0, 2) + '😀b'.substring(1);", "a😀b"),
        ("'abc'.startsWith('ab');", True),
        ("'abc'.endsWith('bc');", True),
        ("'abc'.contains('x');", False),
        ("'abcabc'.lastIndexOf('b');", 4),
        ("'😀b'.lastIndexOf('b');", 2),
        ("'abc'.lastIndexOf('z');", -1),
        ("'abc'.equals('abc');", True),
        ("'abc'.equals(1);", False),
        ("'b'.compareTo('a');", 1),
        ("'ab'.compareTo('abcd');", -2),
        ("'FooBar '.compareTo('oBa');", -41),
        ("'a.b.c'.replace('.', '-');", "a-b-c"),
        ("'ab'.replace('', '-');", "-a-b-"),
        ("String.valueOf(1.5) + String.valueOf(null) + String.valueOf(new Map());", "1.5null{}"),
        ("String.join(',', 'a', 'b', null);", "a,b,null"),
        ("String.join(',', new String[2]);", "null,null"),
        ("String.join(',');", ""),
        ("'x'.join('-', new String[]{'a', 'b'});", "a-b"),
        ("String.escape('a\"b') + 'a\\tb\\\\c\\n'.escape();", 'a\\"ba\\tb\\\\c\\n'),
        ('String.escape("it\'s");', "it's"),
    ],
)
def test_value(script: str, value: Any) -> None:
    assert run(script) == value


@pytest.mark.parametrize(
    "script",
    [
        "'abc'.substring(-1);",
        "'abc'.substring(2, 1);",
        "'abc'.substring(3000000000);",
        "'abc'.substring('1');",
        "'abc'.contains(1);",
        "'abc'.compareTo(null);",
        "String s; 'abc'.startsWith(s);",
        "String s; s.length();",
        "'abc'.valueOf(1);",
        "'abc'.split('[');",
    ],
)
def test_every_failure_of_a_method_is_one_kind(script: str) -> None:
    assert kind(script) is Kind.ILLEGAL_ARGUMENT


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("'abc'.toString();", Kind.UNSUPPORTED),
        ("'abc'.isEmpty(1);", Kind.UNSUPPORTED),
        ("'abc'.getClass();", Kind.UNSUPPORTED),
        ("'abc'.__class__;", Kind.UNSUPPORTED),
        ("'abc'.length;", Kind.UNSUPPORTED),
        ("String.join();", Kind.ILLEGAL_ARGUMENT),
        ("String.join(',', 1);", Kind.CLASS_CAST),
        ("String.join(',', 'a', new String[]{'b'});", Kind.CLASS_CAST),
        ("String.join(1, 'a');", Kind.CLASS_CAST),
        ("String.escape();", Kind.NULL_POINTER),
        ("String.escape(1);", Kind.ILLEGAL_ARGUMENT),
        ("'a'.escape('b', 'c');", Kind.ILLEGAL_ARGUMENT),
    ],
)
def test_methods_that_do_not_exist_or_fail_on_their_own(script: str, expected: Any) -> None:
    assert kind(script) is expected


def test_a_failure_keeps_its_cause() -> None:
    error = failure("'abc'.substring(9);")
    assert error.cause is not None
    assert error.cause.kind is Kind.INDEX_OUT_OF_BOUNDS
    assert error.column == 7


# ------------------------------------------------------------------------------------ regular expressions
@pytest.mark.parametrize(
    ("script", "parts"),
    [
        ("'a,b,,'.split(',');", ["a", "b"]),
        ("',a,b'.split(',');", ["", "a", "b"]),
        ("'a,b,,'.split(',', -1);", ["a", "b", "", ""]),
        ("'a,b,c'.split(',', 2);", ["a", "b,c"]),
        ("'a,b'.split(',', 1);", ["a,b"]),
        ("'abc'.split('');", ["a", "b", "c"]),
        ("'abc'.split('', -1);", ["a", "b", "c", ""]),
        ("''.split(',');", [""]),
        ("''.split('');", [""]),
        ("'abc'.split('x');", ["abc"]),
        ("'a.b'.split('.');", []),
        ("'a1b22c'.split('[0-9]+');", ["a", "b", "c"]),
    ],
)
def test_split(script: str, parts: Any) -> None:
    assert run(script) == StringArray(parts)


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("'a1b2'.replaceAll('[0-9]', '<$0>');", "a<1>b<2>"),
        ("'xay'.replaceAll('(?<n>a)', '${n}${n}');", "xaay"),
        ("'abc'.replaceAll('', '-');", "-a-b-c-"),
        ("'cost: 5'.replaceAll('5', '\\\\$6');", "cost: $6"),
        ("'ab'.replaceAll('(a)(b)', '$2$1$11');", "baa1"),
        ("'abcdefghijk'.replaceAll('(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)', '$11$1');", "ka"),
        ("'ab'.replaceAll('(a)|(b)', '[$1$2]');", "[a][b]"),
        ("'aXbX'.replaceAll('(?i)x', '-');", "a-b-"),
        ("'a+b'.replaceAll('\\\\Q+\\\\E', '-');", "a-b"),
        ("'aB1!'.replaceAll('\\\\p{Upper}', '-');", "a-1!"),
        ("'aB1!'.replaceAll('\\\\P{Alnum}', '-');", "aB1-"),
        ("'aé1'.replaceAll('\\\\p{IsAlphabetic}', '-');", "--1"),
        ("'aé1'.replaceAll('\\\\P{L}', '-');", "aé-"),
        ("'A'.replaceAll('\\\\x41|\\\\0102', '-');", "-"),
        ("'A'.replaceAll('\\\\\\u0075' + '0041', '-');", "-"),
        ("'\\t'.replaceAll('\\\\cI', '-');", "-"),
        ("'a\\nb'.replaceAll('\\\\R', '-');", "a-b"),
        ("'a  b'.replaceAll('\\\\h+', '-');", "a-b"),
        ("'none'.replaceAll('x', '${wrong');", "none"),
    ],
)
def test_replace_all(script: str, value: Any) -> None:
    assert run(script) == value


@pytest.mark.parametrize(
    "pattern",
    [
        "a(?=b)",
        "a(?!b)",
        "(?<=a)b",
        "(?<!a)b",
        "(?>a)",
        "(a)\\\\1",
        "\\\\k<n>",
        "a*+",
        "a++",
        "[a&&b]",
        "\\\\G",
    ],
)
def test_what_the_engine_can_not_do_is_refused_by_name(pattern: str) -> None:
    error = failure(f"'a'.replaceAll('{pattern}', '');")
    assert error.kind is Kind.ILLEGAL_ARGUMENT
    assert "regular expression can not have" in error.message


@pytest.mark.parametrize(
    "script",
    [
        "'a'.replaceAll('a', '$1');",
        "'a'.replaceAll('a', '$');",
        "'a'.replaceAll('a', '${x}');",
        "'a'.replaceAll('a', 'x\\\\');",
        "'a'.replaceAll('\\ud83d', 'x');",
        "'\\ud83d'.replaceAll('a', 'x');",
        "'a'.replaceAll('((a{0,100}){0,100}){0,100}', 'x');",
        f"'a'.replaceAll('{'a' * 2001}', 'x');",
    ],
)
def test_replacements_and_texts_that_make_no_sense(script: str) -> None:
    assert kind(script) is Kind.ILLEGAL_ARGUMENT
