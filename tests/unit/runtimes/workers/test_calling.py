"""The parts of a worker, in this process."""

import asyncio
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from datetime import date
from math import inf
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.runtimes.workers import functions
from tests.unit.runtimes.workers.stand import MODULE, SCENE, failure_of, target, value_of

from stretto.model.errors import InvalidRequest, NotFound
from stretto.runtimes.orders import Frames
from stretto.runtimes.python.context import LOGGER, StepContext
from stretto.runtimes.python.errors import Cancelled, Refused
from stretto.runtimes.python.function import function_of
from stretto.runtimes.python.source import MAIN_OF_WORKER as MAIN
from stretto.runtimes.workers import calling
from stretto.runtimes.workers import worker as module
from stretto.runtimes.workers.calling import Caller, raised
from stretto.runtimes.workers.context import MOST_IN_A_SECOND, FarBackstage, FarTelling
from stretto.runtimes.workers.loading import WorkerServices, load
from stretto.runtimes.workers.messages import (
    MOST_ANSWER,
    Beat,
    Call,
    Found,
    FromWorker,
    Line,
    Logged,
    Message,
    Progress,
    Returned,
    Target,
    packed,
    said_by,
)
from stretto.runtimes.workers.values import arguments, returned, to_wire
from stretto.runtimes.workers.values import value_of as read_value
from stretto.runtimes.workers.worker import Worker


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    """A worker takes the process for its own."""
    handler, path = signal.getsignal(signal.SIGTERM), list(sys.path)
    main = {name: sys.modules.get(name) for name in ("__main__", MAIN)}
    logger = LOGGER.handlers, LOGGER.propagate, LOGGER.level
    yield
    signal.signal(signal.SIGTERM, handler)
    sys.path[:] = path
    sys.modules.update({name: each for name, each in main.items() if each is not None})
    LOGGER.handlers, LOGGER.propagate, LOGGER.level = logger


class Stage:
    """A caller, and what it tells."""

    def __init__(self, **options: Any) -> None:
        self.said: list[Message] = []
        self.caller = Caller(self.said.append, lambda: inf, **options)

    def ask(self, name: str, *, scene: bool = False, **args: Any) -> Any:
        call = Call(target(name), json.dumps(args).encode(), SCENE if scene else None)
        answer = self.caller.answer(call)
        self.caller.close()
        return answer


# ---------------------------------------------------------------------------------------------------- calls
def test_a_function_is_found_once() -> None:
    stage = Stage()
    for _ in range(3):
        assert value_of(stage.ask("add", a=1)) == 2
    assert stage.said == [Found()]


def test_values_come_as_they_are_annotated() -> None:
    found = value_of(Stage().ask("shipped", order={"number": 1, "day": "2026-11-15"}, at=3.0))
    assert found == {"number": 2, "day": "2026-11-03"}
    assert value_of(Stage().ask("smallest", numbers=[3, 1, 2])) == [1]
    assert value_of(Stage().ask("everything", a=1, b={"c": [2]})) == {"a": 1, "b": {"c": [2]}}


def test_functions_of_many_kinds() -> None:
    asked: tuple[tuple[str, dict[str, Any], int], ...] = (
        ("add_later", {"a": 1, "b": 2}, 3),
        ("makes_coroutine", {"a": 1}, 2),
        ("add_wrapped", {"a": 1}, 102),
        ("Tools.double", {"a": 2}, 4),
    )
    for name, args, result in asked:
        assert value_of(Stage().ask(name, **args)) == result


def test_tasks_that_are_left_are_cancelled() -> None:
    stage = Stage()
    for _ in range(2):
        call = Call(target("leaves_task"))
        assert value_of(stage.caller.answer(call)) == 2  # itself, and its own: none of the last call
    stage.caller.close()


def test_arguments_that_do_not_fit() -> None:
    assert failure_of(Stage().ask("add")) == (
        "fatal",
        f"`{MODULE}:add` needs `a`: the step has no such parameter",
    )
    kind, text = failure_of(Stage().ask("add", a="x"))
    assert (kind, text.startswith(f"an argument of `{MODULE}:add`: `a` can not be read as `int`")) == (
        "fatal",
        True,
    )


def test_a_result_that_is_too_large() -> None:
    kind, text = failure_of(Stage(most_result=100).ask("returns_much", size=100))
    assert kind == "user"
    assert "is too large, with 102 bytes. It may have 100: write it to a file" in text


def test_processes_that_are_left_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stretto.runtimes.workers.calling._left_behind", lambda: 2)
    assert Stage().ask("add", a=1).left == 2
    assert Stage().ask("fails").left == 2


def test_memory_is_trouble_of_the_platform() -> None:
    assert raised(MemoryError()).kind == "platform"


def test_what_belongs_to_the_process_is_put_right() -> None:
    stage = Stage()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    path = [*sys.path, "/nowhere"]
    stage.caller.answer(Call(target("add"), b'{"a": 1}', path=path))
    assert signal.getsignal(signal.SIGTERM) == stage.caller.cancel
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == set()
    assert sys.path == path


# --------------------------------------------------------------------------------------------- cancellation
def test_a_function_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()

    def interrupted() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait(60)

    monkeypatch.setattr(functions, "interrupted", interrupted, raising=False)
    monkeypatch.setattr(interrupted, "__qualname__", "interrupted")
    assert failure_of(stage.ask("interrupted")) == ("user", "Cancelled: the step was told to end")
    stage.caller.cancel()  # nothing runs: nothing happens


def test_a_coroutine_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    async def cancelled(ctx: StepContext) -> str:
        os.kill(os.getpid(), signal.SIGTERM)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await ctx.wait_cancelled()
        return str(ctx.cancelled)

    monkeypatch.setattr(functions, "cancelled", cancelled, raising=False)
    monkeypatch.setattr(cancelled, "__qualname__", "cancelled")
    assert value_of(Stage().ask("cancelled", scene=True)) == "True"


def test_a_message_is_not_interrupted() -> None:
    caller = Caller(lambda _: None, lambda: inf)
    done = []

    def send() -> None:
        caller.cancel()
        done.append(1)

    caller._is_calling = True
    with pytest.raises(Cancelled):
        caller.hold(send)
    assert done == [1]
    caller.hold(lambda: done.append(2))
    assert done == [1, 2]


# -------------------------------------------------------------------------------------------------- context
def test_a_function_knows_its_step() -> None:
    scene = msgspec.structs.replace(SCENE, params=b'{"day": "2026-11-15", "n": 1}', upstream=b'{"a": [1]}')
    stage = Stage()
    answer = stage.caller.answer(Call(target("knows"), b'{"day": "2026-11-15"}', scene))
    assert value_of(answer) == {
        "run": ["etl", 12, 2],
        "step": "load",
        "attempt": 1,
        "launch": "[etl][12][2][load][1][3][0]",
        "upstream": {"a": [1]},
        "params": {"day": "2026-11-15", "n": "1"},
        "is_date": True,
        "cancelled": False,
    }


def test_what_a_function_tells(capsys: pytest.CaptureFixture[str]) -> None:
    stage = Stage()
    call = Call(target("tells"), b"{}", SCENE, 20)
    answer = stage.caller.answer(call)
    assert isinstance(answer, Returned)
    assert stage.said[1:] == [
        Beat(),
        Progress(0.5, "half"),
        Beat(),
        Line("a note", "WARN"),
        Logged(30, "took 3 s"),
    ]
    assert "Logging error" in capsys.readouterr().err
    assert [json.loads(each)["step"]["id"] for each in answer.added] == ["first", "second"]


def test_who_tells_much_is_heard_at_the_end() -> None:
    stage = Stage()
    stage.ask("tells_much", scene=True, times=5_000)
    assert stage.said[-1] == Progress(1.0, "all")
    assert len(stage.said) < 50 * MOST_IN_A_SECOND


def test_lines_have_an_end() -> None:
    said: list[Message] = []
    telling = FarTelling(said.append)
    for _ in range(2_000):
        telling.line("x" * 10_000)
    assert len(said) == 1_000
    telling.rest()
    assert len(said) == 1_000


def test_a_backstage_without_a_loop() -> None:
    said: list[Message] = []
    backstage = FarBackstage(SCENE, said.append, is_async=False)
    assert not backstage.is_at_home
    assert FarBackstage(SCENE, said.append, is_async=True).is_at_home
    backstage.at_home(said.append, Beat())
    backstage.wait(0.0)
    backstage.wait(0.06)
    backstage.cancel()
    backstage.wait(60.0)
    asyncio.run(backstage.told.report(None))  # type: ignore[arg-type]
    assert said == [Beat()]


def test_who_waits_for_the_end_in_vain() -> None:
    async def run() -> None:
        backstage = FarBackstage(SCENE, lambda _: None, is_async=True)
        gone = asyncio.create_task(backstage.wait_cancelled())
        stays = asyncio.create_task(backstage.wait_cancelled())
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        backstage.cancel()
        await stays
        await backstage.wait_cancelled()

    asyncio.run(run())


# ------------------------------------------------------------------------------------------------- services
def test_services_are_made_here() -> None:
    stage = Stage()
    factories = {"db": f"{MODULE}:Database"}
    functions.Database.made = 0
    for _ in range(2):
        call = Call(target("uses_service"), factories=dict(factories))
        assert value_of(stage.caller.answer(call)) == 1
    call = Call(target("asks_service"), b'{"key": "db"}', SCENE, factories=factories)
    assert value_of(stage.caller.answer(call)) == "Database"


def test_services_of_the_engine_are_out_of_reach() -> None:
    kind, text = failure_of(Stage().ask("uses_service"))
    assert kind == "fatal"
    assert "out of reach of its worker processes: name a factory" in text
    with pytest.raises(NotFound, match=r"can not be made by .*: OSError: no connection"):
        WorkerServices({"db": f"{MODULE}:broken_factory"}).get("db")
    with pytest.raises(NotFound, match=r"can not be made by .*there is no `nothing`"):
        WorkerServices({"db": f"{MODULE}:nothing"}).get("db")


# -------------------------------------------------------------------------------------------------- loading
def test_a_main_file(tmp_path: Path) -> None:
    main = tmp_path / "program"
    main.write_text("def one():\n    return __name__\n")
    there = Target("__main__", "one", main=str(main))
    assert load(there).call() == MAIN
    assert load(there).call is load(there).call
    broken = tmp_path / "broken.py"
    broken.write_text("raise ValueError('no')")
    with pytest.raises(Refused, match="ValueError: no"):
        load(Target("__main__", "one", main=str(broken)))
    assert sys.modules["__main__"].__file__ == str(main)
    assert str(there) == f"{main}:one"
    assert str(Target(script="1")) == "the script"


# --------------------------------------------------------------------------------------------------- values
def test_values_that_can_not_travel() -> None:
    assert (
        to_wire({"a": {1, 2}, "b": date(2026, 1, 2), "c": Path("x")}, "it")
        == b'{"a":[1,2],"b":"2026-01-02","c":"x"}'
    )
    with pytest.raises(Refused, match=r'an argument can not be handed .*: `a\["b"\]` is an `object`'):
        to_wire({"ok": 1, "a": {"b": object()}}, "an argument")

    class Odd(dict):  # type: ignore[type-arg]
        def items(self) -> Any:
            return ()

    with pytest.raises(Refused, match="can not be handed"):
        to_wire(Odd(a=object()), "an argument")


def test_plain_values_are_read_as_parameters_are() -> None:
    assert read_value(msgspec.Raw(b'"3"'), int, "n") == 3
    with pytest.raises(InvalidRequest):
        read_value(msgspec.Raw(b'"x"'), int, "n")
    function = function_of(functions.everything)
    assert arguments(function, b'{"a": 1}') == {"a": 1}


def test_a_result_that_can_not_be_made_again_is_plain() -> None:
    assert returned('{"number": 1, "day": "2026-01-02"}', functions.Order) == functions.Order(
        1, date(2026, 1, 2)
    )
    assert returned("[1]", dict[str, int]) == [1]


# --------------------------------------------------------------------------------------------------- worker
def heard_from(end: socket.socket, count: int) -> list[FromWorker]:
    frames = Frames(MOST_ANSWER)
    found: list[FromWorker] = []
    while len(found) < count:
        found += [said_by(each) for each in frames.feed(end.recv(65536))]
    return found


def test_a_worker_serves_until_its_socket_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "_left_behind", lambda: 0)  # other tests have children in this process
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(
            packed(Call(target("add"), b'{"a": 1}')) + packed(Call(target("tells_from_thread"), b"{}", SCENE))
        )
        ours.shutdown(socket.SHUT_WR)
        Worker(theirs).serve()
        found = heard_from(ours, 5)
    assert found == [
        Found(),
        Returned("2"),
        Found(),
        Line("from a thread", "INFO"),
        Returned("null"),
    ]


def test_a_child_that_a_function_forks_says_nothing() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        worker = Worker(theirs)
        worker._pid = -1  # as if this were the child
        ours.sendall(packed(Call(target("add"), b'{"a": 1}')))
        worker.serve()
        worker.forget()
        assert ours.recv(1) == b""
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_worker_dies_at_the_end_of_its_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    monkeypatch.setattr(module, "kill_group", killed.append)
    ours, theirs = socket.socketpair()
    with theirs:
        ours.close()
        module.die_at_end_of(theirs)
    assert killed == [os.getpgrp()]
