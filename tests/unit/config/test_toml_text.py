"""Where the keys of a TOML text stand."""

import pytest

from stretto.config.toml_text import NotToml, read_toml, toml_spots
from stretto.definition.reading.located import Spot
from stretto.model.problem import Code

TEXT = '''# [comment]
top = 1
a.b = 2
[node]
  trust = "9s"  # trust = 1
"quoted key" = 1
'single' = 2
text = """
[not.a.table]
no.key = 1
""" # the end
line = """one"""
[ engine . "deep" ]
x = { y = 1 }
[[list]]
z = [
  1,
]
'''


def test_spots() -> None:
    assert toml_spots(TEXT) == {
        ("top",): Spot(2, 1),
        ("a",): Spot(3, 1),
        ("a", "b"): Spot(3, 1),
        ("node",): Spot(4, 2),
        ("node", "trust"): Spot(5, 3),
        ("node", "quoted key"): Spot(6, 1),
        ("node", "single"): Spot(7, 1),
        ("node", "text"): Spot(8, 1),
        ("node", "line"): Spot(12, 1),
        ("engine",): Spot(13, 3),
        ("engine", "deep"): Spot(13, 3),
        ("engine", "deep", "x"): Spot(14, 1),
        ("list",): Spot(15, 3),
        ("list", "z"): Spot(16, 1),
    }


def test_deep_keys_are_not_followed_to_the_end() -> None:
    assert list(toml_spots("a.b.c.d.e.f.g.h.i.j = 1\n"))[-1] == tuple("abcdefgh")


def test_the_text_can_be_read() -> None:
    assert read_toml(TEXT)["node"]["trust"] == "9s"


@pytest.mark.parametrize(
    ("text", "code", "message", "spot"),
    [
        ("a = ", Code.SYNTAX, "this is not TOML: invalid value", None),
        ("a = 1\nb 2\n", Code.SYNTAX, "this is not TOML: expected '=' after a key", Spot(2, 3)),
        ("a = 1\na = 2\n", Code.DUPLICATE_KEY, "a key or a table is given twice", Spot(2, 6)),
        ("[a]\n[a]\n", Code.DUPLICATE_KEY, "a key or a table is given twice", Spot(2, 3)),
        ("a = " + "9" * 5_000, Code.SYNTAX, "this is not TOML: exceeds the limit", None),
        ("a = " + "[" * 100_000, Code.TOO_DEEP, "lists or tables are nested too deeply", None),
    ],
)
def test_what_is_no_toml(text: str, code: str, message: str, spot: Spot | None) -> None:
    with pytest.raises(NotToml) as bad:
        read_toml(text)
    assert bad.value.bad.code == code
    assert bad.value.bad.message.startswith(message)
    if spot is not None:
        assert bad.value.spot == spot
