"""A stop has an end, whatever keeps the process."""

import threading

import pytest

from stretto.server.stop_deadline import StopDeadline


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


def test_a_stop_that_is_done_ends_nothing() -> None:
    seen: list[str] = []
    deadline = StopDeadline(3_600_000, lambda: seen.append("hurry"), lambda _code: seen.append("exit"))
    deadline.begin(143)
    timers = deadline._timers
    deadline.cancel()
    for each in timers:
        each.join(60)
        assert not each.is_alive()
    assert seen == []


def test_a_process_that_only_hosts_a_server_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    hurried = threading.Event()
    deadline = StopDeadline(20, hurried.set, None)
    deadline.begin(143)
    for each in deadline._timers:
        each.join(60)
    assert hurried.is_set()
    assert capsys.readouterr().err == ""
