"""Times, widths and marks."""

import io
import os
import shutil
import sys

import click
import pytest

from stretto.cli import style
from stretto.model.status import RunStatus, StepStatus


@pytest.mark.parametrize(
    ("millis", "text"),
    [
        (-5, "0.0s"),
        (0, "0.0s"),
        (449, "0.4s"),
        (9_949, "9.9s"),
        (9_960, "10s"),
        (59_400, "59s"),
        (59_600, "1m00s"),
        (185_000, "3m05s"),
        (3_600_000, "1h00m"),
        (7_620_000, "2h07m"),
        (86_400_000 * 3 + 4 * 3_600_000, "3d04h"),
    ],
)
def test_durations(millis: int, text: str) -> None:
    assert style.duration(millis) == text


def test_texts_are_cut_to_cells() -> None:
    assert style.cut("short", 5) == "short"
    assert style.cut("too long", 5) == "too …"
    assert style.cut("日本語", 5) == "日本…"
    assert style.cut("e\u0301a", 2) == "e\u0301a"
    assert style.width_of("日e\u0301") == 3


def test_one_line() -> None:
    assert style.one_line("a\n  b\t\x1b[31mc\0") == "a b [31mc"
    assert style.printable("a\tb\x1b[2J") == "a       b [2J"


def test_every_status_has_a_mark() -> None:
    assert style.mark(StepStatus.SUCCEEDED) == ("✓", "green")
    assert style.mark(RunStatus.FAILED) == ("✗", "red")
    assert style.mark(RunStatus.IN_PROGRESS) == ("▶", "cyan")
    assert all(style.mark(each) for each in (*StepStatus, *RunStatus))


def test_terminals_that_know_few_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
    assert style.mark(StepStatus.SUCCEEDED)[0] == "+"
    assert style.plain("a…") == "a..."


def test_colours_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert style.paint("x", "red") == "\x1b[31mx\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert style.paint("x", "red", bold=True) == "x"


# ----------------------------------------------------------------------------------------------------- widths
@pytest.mark.parametrize(("said", "found"), [("40", 40), ("0", None), ("wide", None), ("", None)])
def test_columns_of_what_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, said: str, found: int | None
) -> None:
    monkeypatch.setenv("COLUMNS", said)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert style.columns() == found


def test_columns_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys, "stdout", Screen())
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((33, 9)))
    assert style.columns() == 33


@pytest.mark.parametrize("width", [1, 20, 21, 37, 80, 500])
def test_a_row_fits(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for left, rest in (("name", "  rest of it " * 9), ("名" * 30, "  rest"), ("n" * 20, "x"), ("a", "")):
        for colour in (None, style.BAD):
            made = click.unstyle(style.row(left, rest, colour))
            assert style.width_of(made) <= max(20, width)
            assert made.startswith(left[:9])


def test_a_row_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert style.row("a", "b" * 500) == "a" + "b" * 500
    assert style.padded("名", 4) == "名  "
