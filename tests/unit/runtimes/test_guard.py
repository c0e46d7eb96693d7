"""The process that has a command, by itself: what it is told, and what it answers."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.unit.runtimes.processes import left_of, wait_until
from tests.waiting import at_least

from stretto.runtimes.orders import ASK, BEGIN, KILL, Frames, packed

CODE = """
import socket, sys
sys.path[:] = {path!r}
from stretto.runtimes import guard
{before}
guard.main(socket.socket(fileno={file}))
"""
FEIGNED = "guard.IS_LINUX = False; del guard.os.waitid"
POWERLESS = "guard.os.kill = lambda pid, number: None; guard.GIVE_UP = 0.2"


class Talk:
    """Our end of the socket."""

    def __init__(self, channel: socket.socket, process: subprocess.Popen[bytes]) -> None:
        self.channel = channel
        self.process = process
        self.launch = f"guard-{uuid4()}"
        self._frames = Frames(65_536)
        self._heard: list[Any] = []

    def begin(self, *words: str, cwd: str = "/", begin_before: float = inf, **env: str) -> None:
        variables = {"PATH": os.environ["PATH"], "STRETTO_LAUNCH": self.launch, **env}
        with Path("/dev/null").open("r+b") as nothing:
            files = [nothing.fileno()] * 3
            data = packed(BEGIN, words, variables, cwd, begin_before)
            socket.send_fds(self.channel, [data[:10]], files)
            self.channel.sendall(data[10:])

    def say(self, verb: str) -> None:
        self.channel.sendall(packed(verb))

    def hear(self) -> list[Any]:
        while not self._heard:
            data = self.channel.recv(65_536)
            assert data, "the guard is gone"
            self._heard += [json.loads(body) for body in self._frames.feed(data)]
        found: list[Any] = self._heard.pop(0)
        return found

    def started(self, *words: str) -> int:
        self.begin(*words)
        verb, pid = self.hear()
        assert verb == "started"
        return int(pid)

    @property
    def left(self) -> list[int]:
        return left_of(self.launch)


@contextmanager
def guarded(before: str = "") -> Iterator[Talk]:
    ours, theirs = socket.socketpair()
    code = CODE.format(path=sys.path, before=before, file=theirs.fileno())
    process = subprocess.Popen([sys.executable, "-c", code], pass_fds=[theirs.fileno()])  # noqa: S603 - ours
    theirs.close()
    ours.settimeout(30)
    try:
        yield Talk(ours, process)
    finally:
        ours.close()
        assert process.wait(30) in {0, -9}


def test_one_command_after_the_other() -> None:
    with guarded() as talk:
        for code in (0, 3):
            talk.started("sh", "-c", f"exit {code}")
            assert talk.hear() == ["ended", code, False]
        for late in (ASK, KILL):  # it has ended before that was read
            talk.say(late)
        talk.begin("no-such-program")
        assert talk.hear() == ["refused", "No such file or directory"]
        talk.begin("true", cwd="/no/such/folder")
        assert talk.hear() == ["refused", "No such file or directory (/no/such/folder)"]
        talk.begin("a\0b")
        assert talk.hear() == ["refused", "embedded null byte"]
        talk.started("sh", "-c", "kill -9 $$")
        assert talk.hear() == ["ended", -9, False]


def test_signals_are_not_for_the_guard_and_are_as_usual_for_a_command() -> None:
    with guarded() as talk:
        pid = talk.started("sleep", "60")
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            os.kill(talk.process.pid, number)
        wait_until(lambda: talk.left == [pid])
        os.kill(pid, signal.SIGINT)
        assert talk.hear() == ["ended", -2, False]


@pytest.mark.parametrize("before", ["", FEIGNED])
def test_to_be_asked_and_to_be_killed(before: str, tmp_path: Path) -> None:
    with guarded(before) as talk:
        talk.started("sh", "-c", "setsid sleep 60 & sleep 60 & sleep 0.2; sleep 60")
        wait_until(lambda: len(talk.left) >= 4)
        talk.say(ASK)
        assert talk.hear() == ["ended", -15, False]
        assert talk.left == []
        talk.started(
            "sh",
            "-c",
            "trap '' TERM; setsid sh -c 'while :; do sleep 1; done' & "
            f"trap 'touch {tmp_path}/asked' TERM; while :; do sleep 1; done",
        )
        wait_until(lambda: len(talk.left) >= 4)
        talk.say(ASK)
        wait_until((tmp_path / "asked").exists)
        assert talk.left
        talk.say(KILL)
        assert talk.hear() == ["ended", -9, False]
        assert talk.left == []


def test_what_was_asked_may_take_its_time_when_the_command_has_ended() -> None:
    with guarded() as talk:
        talk.started(
            "sh", "-c", "sh -c \"trap 'sleep 0.3; exit' TERM; while :; do sleep 0.05; done\" & sleep 60"
        )
        wait_until(lambda: len(talk.left) >= 4)
        with at_least(0.25):  # the inner one has cleaned up
            talk.say(ASK)
            assert talk.hear() == ["ended", -15, False]
        assert talk.left == []


WAITS = "trap 'touch {file}.asked' TERM; until test -e {file}; do sleep 0.05; done"
BORN_LATE = "(trap - TERM; setsid sh -c 'trap - TERM; exec sleep 60' &)"


def test_who_is_born_after_the_others_were_asked_is_asked_too(tmp_path: Path) -> None:
    file = tmp_path / "go"
    with guarded() as talk:
        talk.started("bash", "-c", f"{WAITS.format(file=file)}; {BORN_LATE}; sleep 0.1")
        wait_until(lambda: len(talk.left) >= 2)
        talk.say(ASK)
        wait_until((tmp_path / "go.asked").exists)
        file.touch()
        assert talk.hear() == ["ended", 0, False]
        assert talk.left == []


def test_what_somebody_cleans_up_with_is_let_alone(tmp_path: Path) -> None:
    cleaning = f"trap 'sleep 0.3 && echo clean > {tmp_path}/said; exit 7' TERM"
    with guarded() as talk:
        talk.started("bash", "-c", f"{cleaning}; while :; do sleep 0.05; done")
        wait_until(lambda: len(talk.left) >= 2)
        talk.say(ASK)
        assert talk.hear() == ["ended", 7, False]
    assert (tmp_path / "said").read_text() == "clean\n"


@pytest.mark.parametrize("before", ["", FEIGNED])
def test_when_the_engine_is_gone_everything_is(before: str) -> None:
    with guarded(before) as talk:
        talk.started("sh", "-c", "trap '' TERM; setsid sleep 60 & while :; do sleep 1; done")
        wait_until(lambda: len(talk.left) >= 3)
        talk.channel.close()
        assert talk.process.wait(30) == 0
        assert talk.left == []


def test_an_engine_that_is_gone_before_it_was_answered() -> None:
    with guarded() as talk:
        talk.begin("sh", "-c", "sleep 60")
        talk.channel.shutdown(socket.SHUT_RDWR)
        assert talk.process.wait(30) == 0
        assert talk.left == []


def test_an_engine_that_is_gone_before_it_read_the_answer() -> None:
    with guarded() as talk:
        talk.begin("sh", "-c", "sleep 60; :")
        wait_until(lambda: len(talk.left) >= 2)
        talk.channel.close()
        assert talk.process.wait(30) == 0
        assert talk.left == []


def test_elsewhere_a_sentinel_kills_the_group_of_a_guard_that_was_killed() -> None:
    with guarded(FEIGNED) as talk:
        talk.started("sh", "-c", "sleep 60 & sleep 60; :")
        wait_until(lambda: len(talk.left) >= 3)
        talk.process.kill()
        wait_until(lambda: not talk.left)


def test_elsewhere_a_sentinel_that_was_killed_hinders_nobody() -> None:
    with guarded(FEIGNED) as talk:
        pid = talk.started("sleep", "60")
        wait_until(lambda: len(children(talk.process.pid)) == 2)
        for each in children(talk.process.pid) - {pid}:
            os.kill(each, signal.SIGKILL)
        wait_until(lambda: children(talk.process.pid) == {pid})
        os.kill(pid, signal.SIGTERM)
        assert talk.hear() == ["ended", -15, False]


def children(pid: int) -> set[int]:
    return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def test_what_can_not_be_killed_is_let_alone_after_a_while() -> None:
    with guarded(POWERLESS) as talk:
        talk.started("sh", "-c", "setsid sleep 60 & sleep 0.2")
        assert talk.hear() == ["ended", 0, True]
        assert talk.process.wait(30) == 0
        assert len(talk.left) == 1
        os.kill(talk.left[0], signal.SIGKILL)
        wait_until(lambda: not talk.left)


def test_a_command_whose_permission_has_expired_is_not_started(tmp_path: Path) -> None:
    with guarded() as talk:
        talk.begin("/bin/sh", "-c", f"touch {tmp_path}/begun", begin_before=0.0)
        assert talk.hear() == ["expired", None]
        talk.begin("/bin/sh", "-c", "exit 7")
        assert talk.hear()[0] == "started"
        assert talk.hear()[:2] == ["ended", 7]
    assert not (tmp_path / "begun").exists()
