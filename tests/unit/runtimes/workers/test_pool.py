"""Workers as real processes: calls, failures, crashes, limits, output."""

import asyncio
import errno
import os
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from tests.unit.runtimes.workers.stand import (
    LAUNCH,
    MODULE,
    Heard,
    Kept,
    answer_of,
    failure_of,
    in_group,
    job,
    lives,
    pids_in,
    value_of,
    wait_until,
    with_context,
    with_workers,
)
from tests.waiting import until

from stretto.model.errors import InvalidRequest
from stretto.ports.logs import Stream
from stretto.runtimes.workers import groups, system
from stretto.runtimes.workers.control import Verb, Word
from stretto.runtimes.workers.job import Job
from stretto.runtimes.workers.limits import WorkerLimits
from stretto.runtimes.workers.messages import (
    _ENCODER,
    Beat,
    Call,
    Line,
    Logged,
    Progress,
    Raised,
    Returned,
    Target,
)
from stretto.runtimes.workers.pool import Pool, Workers
from stretto.runtimes.workers.sink import Both, Terminal

MB = 1024 * 1024


# ---------------------------------------------------------------------------------------------------- calls
def test_a_worker_is_used_again() -> None:
    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        assert value_of(await pool.call(job("add", a=1, b=2))) == 3
        assert value_of(await pool.call(job("add_later", a=1, b=2))) == 3
        first = value_of(await pool.call(job("pid")))
        assert value_of(await pool.call(job("pid"))) == first
        assert workers.pids == [first]

    with_workers(work)


def test_a_worker_leads_a_group_and_hides_our_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRETTO_DATABASE", "with a password")

    async def work(workers: Workers) -> None:
        pid, group, session = value_of(await workers.of(None).call(job("group")))
        assert pid == group
        assert session != os.getsid(0)
        assert value_of(await workers.of(None).call(job("environment"))) == ["STRETTO_OWNER"]

    with_workers(work)


def test_as_many_at_once_as_there_are_workers() -> None:
    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        pool.warm()
        assert not pool.is_full
        calls = [pool.call(job("prints", text="x", times=100)) for _ in range(20)]
        answers = await asyncio.gather(*calls)
        assert all(isinstance(each, Returned) for each in answers)
        assert len(pool.pids) == 2

    with_workers(work, size=2)


def test_a_pool_of_its_own_name_or_the_default() -> None:
    workers = Workers({"gpu": WorkerLimits(size=1, calls=3)})
    assert workers.of("gpu").limits.calls == 3
    assert workers.of("other") is workers.of(None)
    assert workers.of("gpu") is workers.of("gpu")


def test_a_worker_that_has_done_enough_makes_room() -> None:
    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        pids = [value_of(await pool.call(job("pid"))) for _ in range(5)]
        assert pids[0] == pids[1] != pids[2] == pids[3] != pids[4]

    with_workers(work, calls=2)


def test_a_worker_that_is_old_makes_room() -> None:
    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        first = value_of(await pool.call(job("pid")))

        async def is_another() -> bool:
            return bool(value_of(await pool.call(job("pid"))) != first)

        await until(is_another)

    with_workers(work, seconds=0.5)


def test_an_idle_worker_that_is_too_old_is_not_taken() -> None:
    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        first = value_of(await pool.call(job("pid")))
        pool._idle[0]._until = 0.0
        assert value_of(await pool.call(job("pid"))) != first

    with_workers(work)


def test_what_comes_between_two_calls_is_nobody_s() -> None:
    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        await pool.call(job("add", a=1))
        worker = pool._idle[0]
        worker._hear(_ENCODER.encode(Beat()))
        worker._print("stdout", b"late")
        asked = job("add", a=1)
        assert value_of(await pool.call(asked)) == 2
        asked.settle(Raised("user", "too late"))
        asked.hear(Beat())
        assert value_of(await asked.answer) == 2

    with_workers(work)


def test_a_process_that_can_not_be_started() -> None:
    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        task = asyncio.create_task(pool.call(job("add", a=1)))
        await asyncio.sleep(0)
        (worker,) = pool._workers
        worker._notice(Word(Verb.NOT_STARTED, worker.number, errno.EAGAIN))
        kind, text = failure_of(await task)
        assert (kind, text.endswith(f"could not be started: {os.strerror(errno.EAGAIN)}")) == (
            "platform",
            True,
        )

    with_workers(work)


def test_the_path_of_modules_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fresh_module.py").write_text("def one(): return 1\n")

    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        kind, text = failure_of(await pool.call(job("one", module="fresh_module")))
        assert (kind, "no module `fresh_module`" in text) == ("fatal", True)
        monkeypatch.syspath_prepend(str(tmp_path))
        assert value_of(await pool.call(job("one", module="fresh_module"))) == 1

    with_workers(work)


def test_limits_make_sense() -> None:
    for wrong in ({"size": 0}, {"size": True}, {"memory": 1}, {"calls": 0}, {"seconds": -1}):
        with pytest.raises(InvalidRequest):
            WorkerLimits(**wrong)
    with pytest.raises(InvalidRequest, match="module:function"):
        Workers(services={"db": "no_function"})


# ------------------------------------------------------------------------------------------------- failures
def test_an_exception_has_its_traceback() -> None:
    answer = answer_of(job("fails"))
    assert failure_of(answer) == ("user", "ValueError: no such table")
    assert answer.error == "ValueError"  # type: ignore[union-attr]
    assert 'raise ValueError("no such table")' in answer.traceback  # type: ignore[union-attr]


ERRORS = [
    ("is_fatal", "fatal", "never again"),
    ("is_platform", "platform", "the disk is full"),
    ("exits", "user", "SystemExit: 3"),
    ("interrupts", "user", "KeyboardInterrupt"),
    ("interrupts_later", "user", "KeyboardInterrupt"),
    ("exits_in_a_task", "user", "SystemExit: 3"),
    ("cancels_itself", "user", "CancelledError"),
    ("fails_later", "user", "KeyError: 'gone'"),
    ("returns_object", "user", f"what `{MODULE}:returns_object` returned can not be stored: `result"),
    ("nowhere", "fatal", "there is no `nowhere` in it"),
    ("NUMBER", "fatal", "can not be called"),
]


def test_what_an_error_means() -> None:
    async def work(workers: Workers) -> None:
        for name, kind, text in ERRORS:
            found = failure_of(await workers.of(None).call(job(name)))
            assert (found[0], text in found[1]) == (kind, True), found

    with_workers(work)


CRASHES: list[tuple[str, dict[str, Any], str]] = [
    ("exits_at_once", {"code": 0}, "exit code 0"),
    ("exits_at_once", {"code": 3}, "exit code 3"),
    ("ends_itself", {"number": int(signal.SIGSEGV)}, "ended by SIGSEGV"),
    ("ends_itself", {"number": int(signal.SIGRTMIN) + 1}, "ended by signal 35"),
    (
        "ends_itself",
        {"number": int(signal.SIGKILL)},
        "ended by SIGKILL; if nobody sent it, the machine has run",
    ),
]


def test_a_crash_is_trouble_of_the_platform() -> None:
    async def work(workers: Workers) -> None:
        for name, args, reason in CRASHES:
            kind, text = failure_of(await workers.of(None).call(job(name, **args)))
            assert kind == "platform"
            assert text.startswith("the worker process ended")
            assert reason in text

    with_workers(work)


def test_a_worker_that_dies_takes_no_other_with_it() -> None:
    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        long = asyncio.create_task(pool.call(job("prints", text="x", times=20_000)))
        for _ in range(5):
            assert failure_of(await pool.call(job("exits_at_once", code=9)))[0] == "platform"
        assert value_of(await long) is None
        assert value_of(await pool.call(job("add", a=1, b=1))) == 2

    with_workers(work, size=2)


def test_an_idle_worker_that_dies_is_replaced() -> None:
    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        pid = value_of(await pool.call(job("pid")))
        os.kill(pid, signal.SIGKILL)
        await until(lambda: not workers.pids)
        assert value_of(await pool.call(job("pid"))) != pid

    with_workers(work)


def test_the_fork_server_is_started_again(tmp_path: Path) -> None:
    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        file = tmp_path / "pids"
        task = asyncio.create_task(pool.call(job("has_children", file=str(file))))
        pid, shell, away, forked = await pids_in(file)
        assert workers._server.pid is not None
        os.kill(workers._server.pid, signal.SIGKILL)
        assert failure_of(await task) == ("platform", "the worker process ended: its fork server is gone")
        wait_until(lambda: not any(map(lives, (pid, shell, away, forked))))  # one has left the group
        assert value_of(await pool.call(job("add", a=1, b=1))) == 2

    with_workers(work)


def test_a_worker_that_does_not_keep_to_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stretto.runtimes.workers.process.HUNG_UP", 0.2)

    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        found = failure_of(await pool.call(job("hangs_up")))
        assert found == ("platform", "the worker process has closed its connection")
        kind, text = failure_of(await pool.call(job("talks_nonsense", file="ffffffff00")))
        assert (kind, "sent a message of 4,294,967,295 bytes" in text) == ("platform", True)
        kind, text = failure_of(await pool.call(job("talks_nonsense", file="0000000101")))
        assert (kind, "sent a message that is none" in text) == ("platform", True)

    with_workers(work)


def test_more_memory_than_allowed() -> None:
    kind, text = failure_of(answer_of(job("eats_memory"), memory=192 * MB))
    assert kind == "platform"
    assert f"its memory limit is {192 * MB:,} bytes, and it used " in text


def test_much_memory_at_once() -> None:
    kind, text = failure_of(answer_of(job("eats_at_once", size=8 * 1024 * MB), memory=192 * MB))
    assert (kind, text) == ("platform", "the worker process ran out of memory: MemoryError")


def test_a_result_that_is_too_large() -> None:
    kind, text = failure_of(answer_of(job("returns_much", size=100 * MB)))
    assert kind == "user"
    assert "is too large, with 104,857,602 bytes. It may have 16,777,216" in text


def test_large_arguments() -> None:
    async def work(workers: Workers) -> int:
        answer = await workers.of(None).call(job("everything", text="x" * (10 * MB)))
        return len(value_of(answer)["text"])

    assert with_workers(work) == 10 * MB


# -------------------------------------------------------------------------------------------------- to import
def imported(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch, **limits: Any) -> tuple[str, str]:
    (tmp_path / "odd_module.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    return failure_of(answer_of(job("one", module="odd_module"), **limits))


def test_an_import_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = imported(tmp_path, "import not_installed", monkeypatch)
    assert found == (
        "fatal",
        "`odd_module:one` can not be imported: there is no module `not_installed` where the workers run",
    )
    found = imported(tmp_path, "raise ValueError('odd')", monkeypatch)
    assert found == ("fatal", "`odd_module:one` can not be imported: ValueError: odd")


def test_an_import_that_exits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = imported(tmp_path, "import sys; sys.exit(1)", monkeypatch)
    assert found == ("fatal", "`odd_module:one` can not be imported: SystemExit: 1")
    found = imported(tmp_path, "import os; os._exit(7)", monkeypatch)
    assert found == ("platform", "the worker process ended while it imported `odd_module:one`: exit code 7")


def test_an_import_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = imported(tmp_path, "while True: pass", monkeypatch, import_within=0.5)
    assert found == ("user", "`odd_module:one` was not imported within 0.5 s")


def test_a_script() -> None:
    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        script = Job(LAUNCH, Call(Target(script="result = rows * 2"), b'{"rows": 21}'))
        assert value_of(await pool.call(script)) == 42
        broken = Job(LAUNCH, Call(Target(script="result = (")))
        assert failure_of(await pool.call(broken))[0] == "fatal"

    with_workers(work)


def test_the_main_file_of_a_program(tmp_path: Path) -> None:
    main = tmp_path / "program.py"
    main.write_text(
        "import sys\n"
        "def name(): return __name__\n"
        "def again(): return sys.modules['__main__'].__name__\n"
        "if __name__ == '__main__': raise SystemExit('the program started again')\n"
    )

    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        for name in ("name", "again", "name"):
            asked = Job(LAUNCH, Call(Target("__main__", name, main=str(main))))
            assert value_of(await pool.call(asked)) == "__mp_main__"

    with_workers(work)


# --------------------------------------------------------------------------------------------------- output
def test_output_goes_to_the_sink_in_order() -> None:
    kept = Kept()
    assert value_of(answer_of(job("prints", text="häé", times=1000), sink=kept)) is None
    assert kept.stdout.decode() == "häé\n" * 1000
    assert kept.stderr == b"why\n"


def test_much_output_is_handed_on_as_it_comes() -> None:
    sizes: list[int] = []

    class Counted(Kept):
        def write(self, launch: Any, stream: Stream, data: bytes) -> None:  # noqa: ARG002
            sizes.append(len(data))

    assert value_of(answer_of(job("prints_much", size=64 * MB), sink=Counted())) is None
    assert sum(sizes) == 64 * MB
    assert max(sizes) <= MB


def test_output_of_a_function_that_crashes() -> None:
    kept = Kept()

    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        await pool.call(job("prints", text="before"))
        await pool.call(job("exits_at_once", code=1))
        await pool.call(job("prints", text="after"))

    with_workers(work, sink=kept)
    assert kept.stdout == b"before\nafter\n"


def test_a_function_that_closes_its_output() -> None:
    assert value_of(answer_of(job("closes_output"))) == "ok"


def test_a_sink_that_fails_alters_nothing(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Kept):
        def write(self, launch: Any, stream: Stream, data: bytes) -> None:  # noqa: ARG002
            raise OSError("disk full")

    assert value_of(answer_of(job("prints", text="x", times=10), sink=Broken())) is None
    assert [each.message for each in caplog.records] == [
        f"the output of {LAUNCH} is not kept: OSError: disk full"
    ]


def test_without_a_sink_it_is_printed_here(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal()
    terminal.write(LAUNCH, "stdout", b"out\xff\n")
    terminal.write(LAUNCH, "stderr", b"err\n")
    terminal.write(LAUNCH, "log", b"not here\n")
    terminal.end(LAUNCH)
    assert capsys.readouterr() == ("out\ufffd\n", "err\n")
    assert isinstance(Workers()._sink, Terminal)


def test_a_terminal_that_is_closed_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = StringIO()
    closed.close()
    monkeypatch.setattr("sys.stdout", closed)
    Terminal().write(LAUNCH, "stdout", b"out\n")


def test_several_sinks_have_all_of_it() -> None:
    ended: list[Any] = []

    class Told(Kept):
        def end(self, launch: Any) -> None:
            ended.append(launch)

    sinks = (Told(), Told())
    both = Both(*sinks)
    both.write(LAUNCH, "stderr", b"err\n")
    both.end(LAUNCH)
    assert [each.stderr for each in sinks] == [b"err\n", b"err\n"]
    assert ended == [LAUNCH, LAUNCH]


# -------------------------------------------------------------------------------------------------- context
def test_what_a_function_tells_is_heard() -> None:
    heard = Heard()
    answer = answer_of(with_context("tells", heard))
    assert isinstance(answer, Returned)
    assert heard.said == [
        Progress(0.5, "half"),
        Beat(),
        Beat(),
        Line("a note", "WARN"),
        Logged(30, "took 3 s"),
    ] or (
        heard.said == [Beat(), Progress(0.5, "half"), Beat(), Line("a note", "WARN"), Logged(30, "took 3 s")]
    )
    assert answer.redirect == "extract"
    assert [b'"first"' in answer.added[0], b'"second"' in answer.added[1]] == [True, True]
    assert answer.fired == [b'{"rows":3,"parts":["a","b"],"share":0.5,"name":"ready"}']


def test_a_thread_of_a_function_may_tell() -> None:
    heard = Heard()
    answer_of(with_context("tells_from_thread", heard))
    assert heard.said == [Line("from a thread", "INFO")]


# ---------------------------------------------------------------------------------------------- left behind
@pytest.mark.parametrize(("name", "left"), [("leaves_children", 2), ("leaves_daemon", 1)])
def test_processes_that_are_left_behind_are_ended(name: str, left: int, tmp_path: Path) -> None:
    file = tmp_path / "pids"

    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        answer = await pool.call(job(name, file=str(file)))
        assert value_of(answer) == "done"
        assert answer.left == left
        pids = await pids_in(file)
        assert not lives(pids[0]) or name == "leaves_daemon"
        wait_until(lambda: not any(map(lives, pids)))
        assert value_of(await pool.call(job("pid"))) not in pids

    with_workers(work)


def test_a_forked_child_that_comes_back_says_nothing() -> None:
    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        assert value_of(await pool.call(job("forks_and_both_return"))) == 1
        first = value_of(await pool.call(job("pid")))
        assert value_of(await pool.call(job("waits_for_child"))) == 0
        assert value_of(await pool.call(job("leaves_zombie"))) == 1
        assert value_of(await pool.call(job("pid"))) == first

    with_workers(work)


# ------------------------------------------------------------------------------------------------- the line
def test_who_waits_in_line_may_leave_it(tmp_path: Path) -> None:
    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        file = tmp_path / "pids"
        long = asyncio.create_task(pool.call(job("sleeps", file=str(file)), lambda: 30.0))
        await pids_in(file)
        assert pool.is_full
        waiting = [asyncio.create_task(pool.call(job("add", a=each, b=0))) for each in range(3)]
        await until(lambda: len(pool._line) == 3)
        waiting[0].cancel()
        long.cancel()
        found = await asyncio.gather(*waiting, long, return_exceptions=True)
        assert [isinstance(each, asyncio.CancelledError) for each in found] == [True, False, False, True]
        assert [value_of(each) for each in found[1:3]] == [1, 2]  # type: ignore[arg-type]

    with_workers(work)


def test_a_turn_that_nobody_takes_goes_to_the_next() -> None:
    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        first = asyncio.create_task(pool.call(job("add", a=1)))
        second = asyncio.create_task(pool.call(job("add", a=2)))
        third = asyncio.create_task(pool.call(job("add", a=3)))
        while len(pool._line) < 2:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0)
        pool._let_in()
        second.cancel()  # its turn has just come
        assert value_of(await first) == 2
        assert value_of(await third) == 4
        with pytest.raises(asyncio.CancelledError):
            await second

    with_workers(work)


def test_a_closed_pool_ends_what_runs(tmp_path: Path) -> None:
    async def run() -> None:
        workers = Workers({"default": WorkerLimits(size=1)}, sink=Kept())
        pool = workers.of(None)
        file = tmp_path / "pids"
        long = asyncio.create_task(pool.call(job("has_children", file=str(file))))
        waiting = asyncio.create_task(pool.call(job("add", a=1)))
        pids = await pids_in(file)
        await workers.close()
        assert failure_of(await long)[0] == "platform"
        assert failure_of(await waiting) == ("platform", "the worker processes are closed")
        assert failure_of(await pool.call(job("add", a=1))) == ("platform", "the worker processes are closed")
        wait_until(lambda: not any(map(lives, pids)) and not in_group(pids[0]))
        await workers.close()

    asyncio.run(run())


def test_no_process_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(workers: Workers) -> None:
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
        kind, text = failure_of(await workers.of(None).call(job("add", a=1)))
        assert (kind, "no worker process can be started" in text) == ("platform", True)

    with_workers(work)


def test_a_process_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(workers: Workers) -> None:
        pool: Pool = workers.of(None)
        task = asyncio.create_task(pool.call(job("add", a=1)))
        await asyncio.sleep(0)
        assert workers._server.pid is not None
        os.kill(workers._server.pid, signal.SIGSTOP)
        assert failure_of(await task) == ("platform", "no worker process was started within 0.2 s")

    monkeypatch.setattr("stretto.runtimes.workers.process.INSIST", 0.2)
    monkeypatch.setattr("stretto.runtimes.workers.process.NO_NEWS", 0.2)
    with_workers(work, start_within=0.2)


def test_many_calls(at_most: Callable[[float], AbstractContextManager[None]]) -> None:
    async def work(workers: Workers) -> None:
        pool = workers.of(None)

        async def some() -> None:
            for number in range(200):
                assert value_of(await pool.call(job("add", a=number, b=1))) == number + 1

        with at_most(60):
            await asyncio.gather(*(some() for _ in range(4)))

    with_workers(work, size=2)


class Slow:
    """A server that was killed and takes long to die, as on a busy machine."""

    def __init__(self, looks: int) -> None:
        self.pid = 0
        self.left = looks

    def poll(self) -> int | None:
        self.left -= 1
        return None if self.left > 0 else -signal.SIGKILL


@pytest.mark.parametrize(("held", "left"), [(False, 0), (True, 20)])
def test_a_server_that_takes_long_to_die_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, held: bool, left: int
) -> None:
    monkeypatch.setattr("stretto.runtimes.workers.server.END_WITHIN", 0.0)
    monkeypatch.setattr("stretto.runtimes.workers.server.kill_tree", lambda _pid: None)
    monkeypatch.setattr("stretto.runtimes.workers.server.is_held", lambda _pid: held)

    async def work(workers: Workers) -> None:
        slow = Slow(30)
        workers._server._dying.append(slow)  # type: ignore[arg-type]
        await workers._server.close()
        assert slow.left <= 0 if not held else slow.left >= left

    with_workers(work)


def process(
    folder: Path, pid: int, *, environ: str = "", cmdline: str = "", state: str = "R", flags: int = 0
) -> None:
    """What the kernel tells of one."""
    entry = folder / str(pid)
    entry.mkdir()
    (entry / "environ").write_text(environ)
    (entry / "cmdline").write_text(cmdline)
    (entry / "stat").write_text(f"{pid} (a b) {state} 1 {pid} {pid} 0 -1 {flags} 0 0")


def test_a_process_in_the_midst_of_exec_may_be_one_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "PROC", tmp_path)
    process(tmp_path, 1, environ="A=1\0OWNER=me\0", cmdline="sh")
    process(tmp_path, 2, environ="OWNER=other\0", cmdline="sh")
    process(tmp_path, 3, cmdline="env -i")
    process(tmp_path, 4, state="Z")
    process(tmp_path, 5, flags=0x00200040)  # a thread of the kernel
    assert system.processes_with("OWNER", "me") == ([1], True)
    process(tmp_path, 6)
    assert system.processes_with("OWNER", "me") == ([1], False)


def test_it_is_looked_at_again_until_it_shows_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step's command that was just starting when its fork server died escaped, and lived on."""
    scans = [([7], False), ([], False), ([8], True), ([], True)]
    killed: list[int] = []
    monkeypatch.setattr(groups, "processes_with", lambda *_: system.Marked(*scans.pop(0)))
    monkeypatch.setattr(groups, "kill_tree", killed.append)
    monkeypatch.setattr(groups, "PAUSE", 0.0)
    groups.kill_all_with("OWNER", "me")
    assert (killed, scans) == ([7, 8], [])
