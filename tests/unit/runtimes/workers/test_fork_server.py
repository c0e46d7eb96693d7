"""The parts of the fork server, and of the system, that no test with real workers reaches."""

import errno
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.runtimes.workers.stand import wait_until

from stretto.runtimes.workers import fork_server, system
from stretto.runtimes.workers.control import Verb, Word, receive, written
from stretto.runtimes.workers.fork_server import ForkServer
from stretto.runtimes.workers.groups import kill_group


def never(channel: socket.socket) -> None:  # noqa: ARG001
    raise ValueError("this worker does not start")


def test_a_process_that_can_not_be_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise OSError(errno.EAGAIN, "no more processes")

    monkeypatch.setattr(os, "fork", refuse)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        server = ForkServer(theirs, never)
        server._spawn(Word(Verb.SPAWN, 3), [os.dup(theirs.fileno())])
        assert receive(ours) == (Word(Verb.NOT_STARTED, 3, errno.EAGAIN), [])
        for file in (server._wake, server._woken):
            os.close(file)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # whoever runs the tests may have threads
def test_a_worker_that_does_not_start(capfd: pytest.CaptureFixture[str]) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        server = ForkServer(theirs, never)
        files = [os.dup(theirs.fileno()), os.dup(1), os.dup(2)]
        server._spawn(Word(Verb.SPAWN, 3), files)
        word = receive(ours)
        assert word is not None
        assert os.waitstatus_to_exitcode(os.waitpid(word[0].value, 0)[1]) == 70
        assert "this worker does not start" in capfd.readouterr().err
        for file in (server._wake, server._woken):
            os.close(file)


def test_orders_about_workers_that_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        server = ForkServer(theirs, never)
        server._pids[7] = 99_999_999
        for verb in (Verb.KILL, Verb.ASK):
            for worker in (7, 8):
                ours.sendall(written(Word(verb, worker)))
                assert server._obey()
        ours.close()
        assert not server._obey()
        for file in (server._wake, server._woken):
            os.close(file)
    monkeypatch.setattr(os, "getppid", lambda: 1)
    fork_server.main(-1, 2, never)  # the engine is gone already: nothing happens


def test_without_a_file_for_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fork_server._process_file(None) is None
    assert fork_server._process_file(99_999_999) is None
    file = fork_server._process_file(os.getpid())
    assert file is not None
    os.close(file)
    monkeypatch.delattr(os, "pidfd_open")
    assert fork_server._process_file(os.getpid()) is None


# --------------------------------------------------------------------------------------------------- system
def test_children_and_their_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import subprocess; subprocess.run(['/bin/sleep', '1000'])"
    process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)  # noqa: S603
    try:
        wait_until(lambda: bool(system.children_of(process.pid)))
        assert process.pid in system.children_of(os.getpid())
        assert system._looked_for(process.pid) == system.children_of(process.pid)
        assert len(system.descendants_of(process.pid)) == 1
        assert system.memory_of(process.pid) > system._memory(process.pid) > 1_000_000
        assert system.has_children()
    finally:
        kill_group(process.pid)
        process.wait()
    assert system.children_of(process.pid) == []
    assert system.memory_of(process.pid) == 0
    kill_group(process.pid)
    monkeypatch.setattr(system, "PROC", Path("/nowhere"))
    assert system.children_of(os.getpid()) == []
    system.offer_as_victim()


LIMITED = """
import resource
from stretto.runtimes.workers.system import limit_memory
resource.setrlimit(resource.RLIMIT_DATA, ({soft}, resource.RLIM_INFINITY))
limit_memory({size})
print(resource.getrlimit(resource.RLIMIT_DATA)[0])
"""


def test_a_limit_is_never_raised() -> None:
    gib = 1024**3
    for soft, size, then in ((gib, 2 * gib, gib), (2 * gib, gib, gib)):
        code = LIMITED.format(soft=soft, size=size)
        found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)  # noqa: S603
        assert int(found.stdout) == then


def test_who_has_lost_its_parent_already_dies() -> None:
    code = "from stretto.runtimes.workers.system import die_with_parent; die_with_parent(1)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL  # noqa: S603
