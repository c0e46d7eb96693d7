"""Printing a tree gives a script with the same tree."""

import pytest

from stretto.sel.syntax import tree
from stretto.sel.syntax.parser import parse
from stretto.sel.syntax.printer import show
from stretto.sel.syntax.source import Source


@pytest.mark.parametrize(
    "script",
    [
        "import a.b.*;\nimport static c.d;\n1;",
        "int a, b = 2;",
        "String[] s = new String[]{'a', 'it\\'s', '\\n\\t\\\\'};",
        "((1)) + - - 2 * 3.5 % (4 - 5);",
        "a && b || !c == (1 < 2);",
        "a ? b : c ? d : e;",
        "a.b.c(1, 'x')[0].d()[i + 1];",
        "x[1][2].c;",
        "x = y[0] += z -= 1;",
        "x['k'] = null;",
        "new int[n + 1].length;",
        "new DateTime(0).getYear();",
        "if (a) b; else { c; }",
        "while (true) { break; }",
        "for (int i = 0; i < 3; i += 1) continue;",
        "for (i = 0; ; ) return 1;",
        "for (; ; ) throw 'x';",
        "1.0E10;",
        "true; false; null;",
    ],
)
def test_round_trip(script: str) -> None:
    first = parse(Source(script))
    printed = show(first)
    assert parse(Source(printed)) == first
    assert show(parse(Source(printed))) == printed


def test_depth_is_counted_without_recursion() -> None:
    assert tree.depth(parse(Source("1;"))) == 3
    assert tree.depth(parse(Source("(((1))) + 2;"))) == 4


def test_trees_are_equal_when_they_say_the_same() -> None:
    one, spaced, other = (parse(Source(text)) for text in ("a + 1;", "  a  +  1 ;", "a + 2;"))
    assert one == spaced != other
    assert len({one, spaced, other}) == 2
    assert tree.Name("a") != tree.Field("a")
    assert tree.Name("a") != "a"
