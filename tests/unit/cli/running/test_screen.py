"""A run on a terminal: what is to be seen after each drawing."""

import os
import re
import shutil

import pytest
from tests.unit.cli.running.shown import (
    IN_MEMORY,
    PLACE,
    Clock,
    applied,
    loop_begun,
    progress_of,
    run_moved,
    step_moved,
)

from stretto.cli.running.progress import Progress
from stretto.cli.running.screen import WHEEL, Screen
from stretto.cli.running.views import Ending
from stretto.model.status import InstanceStatus, RunStatus, StepStatus

S, I = StepStatus, InstanceStatus  # noqa: E741 - short names keep the tests readable
MOVE = re.compile(r"\x1b\[(\d*)([A-Za-z])|\x1b\[\?25[lh]")


class Terminal:
    """As much of a terminal as we need: lines, up, and clear to the end."""

    def __init__(self, columns: int, rows: int, capsys: pytest.CaptureFixture[str]) -> None:
        self.columns, self.rows = columns, rows
        self._capsys = capsys
        self._lines: list[str] = [""]
        self._at = 0
        self.cursor = True

    def seen(self) -> list[str]:
        """What is on it now."""
        text = self._capsys.readouterr().out
        end = 0
        for move in MOVE.finditer(text):
            self._print(text[end : move.start()])
            end = move.end()
            if move[0].startswith("\x1b[?25"):
                self.cursor = move[0].endswith("h")
            elif move[2] == "A":
                self._at -= int(move[1])
                assert self._at >= 0
            elif move[2] == "J":
                del self._lines[self._at + 1 :]
                self._lines[self._at] = ""
        self._print(text[end:])
        return [line.rstrip() for line in self._lines if line]

    def _print(self, text: str) -> None:
        for character in text.replace("\r", ""):
            if character == "\n":
                self._at += 1
                if self._at == len(self._lines):
                    self._lines.append("")
            else:
                self._lines[self._at] += character
                assert len(self._lines[self._at]) < self.columns, "it would be wrapped"


@pytest.fixture
def terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("NO_COLOR", "1")
    made = Terminal(70, 12, capsys)
    monkeypatch.setattr(
        shutil, "get_terminal_size", lambda *_args, **_options: os.terminal_size((made.columns, made.rows))
    )
    return made


def turned(lines: list[str]) -> list[str]:
    """With one sign for all places of the wheel."""
    return [re.sub(f"[{WHEEL}]", "*", line) for line in lines]


def begun(clock: Clock) -> tuple[Screen, Progress]:
    progress = progress_of()
    applied(progress, run_moved(I.IN_PROGRESS, 0))
    screen = Screen(clock)
    screen.begin(progress, PLACE)
    return screen, progress


def test_it_is_drawn_in_place(terminal: Terminal) -> None:
    clock = Clock()
    screen, progress = begun(clock)
    assert terminal.seen() == [
        "etl/3 · version 2 · .stretto/stretto.db",
        "etl/3 IN_PROGRESS, 0.0s, 0 of 3 steps done",
        "  ○ extract",
        "  ○ each",
        "  ○ load",
    ]
    assert not terminal.cursor
    applied(progress, step_moved("extract", S.SUCCEEDED, 300), step_moved("each", S.RUNNING, 300))
    loop_begun(progress)
    applied(progress, run_moved(I.SUCCEEDED, 900, "maestro_foreach_x", 1))
    clock.time = 1_500
    screen.show([])
    assert turned(terminal.seen()) == [
        "etl/3 · version 2 · .stretto/stretto.db",
        "etl/3 IN_PROGRESS, 1.5s, 1 of 3 steps done",
        "  ✓ extract    0.0s",
        "  * each       1.2s  █████░░░░░░░░░░░░░░░ 1 of 4",
        "  ○ load",
    ]


def test_notes_stay_above(terminal: Terminal) -> None:
    screen, _ = begun(Clock())
    screen.note("waiting up to 30s for a command to end")
    screen.show([])
    assert terminal.seen()[:3] == [
        "etl/3 · version 2 · .stretto/stretto.db",
        "waiting up to 30s for a command to end",
        "etl/3 IN_PROGRESS, 0.0s, 0 of 3 steps done",
    ]


def test_reasons_are_cut_to_the_width(terminal: Terminal) -> None:
    screen, progress = begun(Clock())
    applied(progress, step_moved("extract", S.USER_FAILED, 0, attempt=2), step_moved("load", S.SKIPPED, 0))
    progress.steps["extract"].reason = "it is tried again at 12:00:00: exit code 1: " + "no such table " * 9
    screen.show([])
    lines = terminal.seen()
    assert lines[2].startswith("  ↻ extract    0.0s  attempt 2, it is tried again at 12:00:00: exit")
    assert lines[2].endswith("…")
    assert lines[4] == "  - load       0.0s  skipped"
    terminal.columns = 24
    screen.show([])
    assert terminal.seen()[2] == "  ↻ extract    0.0s"


def test_a_queued_run_says_why(terminal: Terminal) -> None:
    screen, progress = begun(Clock())
    progress.status, progress.began = RunStatus.CREATED, None
    progress.queued = "number 1 in the queue: every slot of SEQUENTIAL is taken"
    screen.show([])
    assert terminal.seen()[1] == "etl/3 CREATED, number 1 in the queue: every slot of SEQUENTIAL is ta…"


def test_more_steps_than_lines(terminal: Terminal) -> None:
    jobs = "\n".join(f"    - job: {{id: s{place}, type: NoOp}}" for place in range(30))
    progress = progress_of(f"workflow:\n  id: etl\n  dag: parallel\n  jobs:\n{jobs}\n")
    for place in range(20):
        applied(progress, step_moved(f"s{place}", S.SUCCEEDED, place))
    applied(
        progress,
        step_moved("s20", S.RUNNING, 30),
        step_moved("s21", S.WAITING_FOR_SIGNALS, 30),
        step_moved("s3", S.FATALLY_FAILED, 30),
    )
    screen = Screen(Clock())
    screen.begin(progress, IN_MEMORY)
    lines = terminal.seen()
    assert lines[0] == "etl/3 · version 2 · in memory: nothing is kept"
    assert len(lines) == 1 + 10
    shown = [line.split()[1] for line in lines[2:-1]]
    assert shown == ["s3", "s15", "s16", "s17", "s18", "s19", "s20", "s21"]
    assert lines[-1] == "  … and 14 done, 8 to come"


def test_the_end(terminal: Terminal) -> None:
    screen, progress = begun(Clock())
    applied(progress, step_moved("extract", S.FATALLY_FAILED, 900), run_moved(I.FAILED, 1_000))
    progress.steps["extract"].reason = "exit code 2: why"
    screen.end(Ending(progress=progress, place=PLACE))
    lines = terminal.seen()
    assert lines[1] == "etl/3 FAILED, 1.0s, 0 of 3 steps done"
    assert lines[-2:] == ["extract: exit code 2: why", "More: stretto show etl/3:extract"]
    assert terminal.cursor


def test_before_it_has_begun_nothing_is_drawn(terminal: Terminal) -> None:
    screen = Screen(Clock())
    screen.show([])
    screen.close()
    assert terminal.seen() == []
    assert terminal.cursor
