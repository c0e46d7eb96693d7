"""Which file belongs to which launch."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stretto.engine.records import AttemptKey, RunKey
from stretto.runtimes.logs.names import MOST_CHARACTERS, Part, folder_of_step, part_of, parts_in, safe

LONG = "step_" * 40
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("load", "load"),
        ("load-2_b.c", "load-2_b.c"),
        (".", "%2e"),
        ("..", "%2e%2e"),
        (".hidden", "%2ehidden"),
        ("end.", "end%2e"),
        ("a/b\\c:d", "a%2fb%5cc%3ad"),
        ("ä", "%c3%a4"),
        ("%41", "%2541"),
        ("~", "%7e"),
        ("", "%"),
        ("con", "%63on"),
        ("nul.txt", "%6eul.txt"),
        ("console", "console"),
        ("\ud800", "%ed%a0%80"),
    ],
)
def test_names_of_folders(text: str, name: str) -> None:
    assert safe(text) == name


def test_large_letters_are_kept_with_a_mark() -> None:
    assert safe("LoadTable").startswith("LoadTable~")
    assert len({safe(each).lower() for each in ("Load", "load", "LOAD", "lOAD")}) == 4
    assert safe("CON.x").startswith("%43ON.x~")


def test_long_names_are_cut_with_a_mark() -> None:
    assert safe(LONG).startswith("step_step_")
    assert len(safe(LONG)) == MOST_CHARACTERS
    assert safe(LONG) != safe(LONG + "x")
    assert safe("x" * MOST_CHARACTERS) == "x" * MOST_CHARACTERS


@given(st.text(max_size=120), st.text(max_size=120))
def test_two_texts_never_share_a_name(one: str, other: str) -> None:
    name = safe(one)
    assert re.fullmatch(r"[a-zA-Z0-9_.%~-]+", name)
    assert len(name) <= MOST_CHARACTERS + 2
    assert not name.startswith(".")
    assert not name.endswith(".")
    assert not DEVICES.fullmatch(name)
    assert (name.lower() == safe(other).lower()) == (one == other)


def test_where_the_files_of_a_step_are() -> None:
    key = AttemptKey(RunKey("a/b", 12, 3), "..", 1)
    assert folder_of_step(Path("logs"), key) == Path("logs/a%2fb/12/3/%2e%2e")


def test_parts_are_named_and_sort_as_they_were_written() -> None:
    parts = [Part(1, 5, 0), Part(1, 5, 0, 900), Part(1, 5, 0, 1000), Part(1, 5, 1), Part(1, 10, 0)]
    assert [part.name for part in parts] == [
        "1.5.0.log",
        "1.5.0.from900.log",
        "1.5.0.from1000.log",
        "1.5.1.log",
        "1.10.0.log",
    ]
    assert sorted({*parts}) == parts
    assert [part_of(part.name) for part in parts] == parts


@pytest.mark.parametrize(
    "name", ["1.5.0", "1.5.log", "x.5.0.log", "1.5.0.log~", "1.5.0.from.log", "notes.txt"]
)
def test_other_files_are_left_alone(name: str) -> None:
    assert part_of(name) is None


def test_the_parts_of_an_attempt(tmp_path: Path) -> None:
    for name in ("1.10.0.log", "1.9.0.log", "2.9.0.log", "mine.txt"):
        (tmp_path / name).touch()
    assert parts_in(tmp_path, 1) == [Part(1, 9, 0), Part(1, 10, 0)]
    assert parts_in(tmp_path / "nowhere", 1) == []
