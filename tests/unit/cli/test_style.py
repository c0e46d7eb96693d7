"""Times, widths and marks."""

import io
import sys

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
