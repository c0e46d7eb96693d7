"""Groups that are left when this process is gone are ended."""

import subprocess
import time
from collections.abc import Iterator

import pytest

from stretto.runtimes.watchdog import Watchdog


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["/bin/sh", "-c", "sleep 60; true"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def test_a_group_that_is_watched_ends_when_the_pipe_closes(sleeper: subprocess.Popen[bytes]) -> None:
    dog = Watchdog()
    dog.watch(99_999_999)
    dog.forget(99_999_999)
    dog.forget(1)  # nobody knows it
    dog.watch(sleeper.pid)
    begun = time.monotonic()
    process = dog._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()  # as if this process had died
    assert sleeper.wait(10) == -15
    process.kill()  # it waits for those that do not listen
    process.wait()
    assert time.monotonic() - begun < 10


def test_a_group_that_has_ended_is_let_alone(sleeper: subprocess.Popen[bytes]) -> None:
    dog = Watchdog()
    dog.watch(sleeper.pid)
    dog.forget(sleeper.pid)
    begun = time.monotonic()
    dog.close()
    dog.close()
    assert time.monotonic() - begun < 4  # nothing was left, so nothing was waited for
    assert sleeper.poll() is None


def test_nothing_happens_if_somebody_killed_it() -> None:
    dog = Watchdog()
    dog.watch(99_999_999)
    assert dog._process is not None
    dog._process.kill()
    dog._process.wait()
    dog.forget(99_999_999)
    dog.watch(99_999_998)
    dog.close()
