"""A stop has an end, whatever keeps the process."""

import threading

import pytest

from stretto.cli.serving.stop_deadline import StopDeadline


def test_it_presses_first_and_then_forces(capsys: pytest.CaptureFixture[str]) -> None:
    ended = threading.Event()
    seen: list[str] = []

    def end(code: int) -> None:
        seen.append(f"exit {code}")
        ended.set()

    deadline = StopDeadline(20, lambda: seen.append("hurry"), end)
    deadline.begin(143)
    assert ended.wait(60)
    assert seen == ["hurry", "exit 143"]
    assert deadline.is_late
    assert "not done within 0.02 s (node.stop_within)" in capsys.readouterr().err
