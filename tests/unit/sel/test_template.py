"""`${name}` and `$name` in texts."""

from typing import Any

import pytest

from stretto.sel import Template, compile_template

VALUES = {"x": "1", "y": 2, "a.b/c-d": 2.5, "t": True, "xs": [1, 2], "m": {"k": "$x"}, "n": None}


@pytest.mark.parametrize(
    ("text", "rendered", "names"),
    [
        ("plain", "plain", ()),
        ("", "", ()),
        ("$x", "1", ("x",)),
        ("${x}$y", "12", ("x", "y")),
        ("a $x b ${a.b/c-d} $x", "a 1 b 2.5 1", ("x", "a.b/c-d")),
        ("$t $xs $m $n", 'true [1,2] {"k":"$x"} null', ("t", "xs", "m", "n")),
        ("$$x", "$x", ()),
        ("$${x}", "${x}", ()),
        ("$$$x", "$1", ("x",)),
        ("$$$$x", "$$x", ("x",)),
        ("$$ $$$$ $1 $ ${} ${1}", "$ $$ $1 $ ${} ${1}", ()),
        ("$x.y", "1.y", ("x",)),
        ("$x$$y$y", "1$y2", ("x", "y")),
    ],
)
def test_row_68_rendering(text: str, rendered: str, names: Any) -> None:
    template = Template(text)
    assert template.render(VALUES.__getitem__) == rendered
    assert template.names == names


def test_row_68_what_is_missing_is_told_by_the_lookup() -> None:
    with pytest.raises(KeyError):
        Template("$nope").render(VALUES.__getitem__)
    assert Template("$a and ${b}").names == ("a", "b")


def test_templates_are_compiled_once() -> None:
    assert compile_template("a $x") is compile_template("a $x")
    assert repr(compile_template("a $x")) == "Template('a $x')"
