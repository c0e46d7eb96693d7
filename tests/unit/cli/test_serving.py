"""The parts of `stretto serve` that need no process of their own."""

import asyncio
import errno
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stretto.api import server as listening
from stretto.api.server import bind, url_of
from stretto.app import connected
from stretto.cli.database import Place
from stretto.cli.serve_notices import say, tell_start
from stretto.config import Config
from stretto.model.errors import InvalidRequest, PreconditionFailed, Unavailable
from stretto.server import lifecycle
from stretto.server.state import ServerState


@pytest.fixture
def sockets() -> Iterator[list[socket.socket]]:
    made: list[socket.socket] = []
    yield made
    for each in made:
        each.close()


def test_a_name_with_several_addresses_gets_one_port(
    sockets: list[socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    both = [
        (family, socket.SOCK_STREAM, 0, "", (address, 0))
        for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "127.0.0.2"))
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_rest: both)
    sockets += bind("localhost", 0)
    assert len({each.getsockname()[1] for each in sockets}) == 1
    assert len(sockets) == 2


def test_ipv6_is_this_machine_too(sockets: list[socket.socket]) -> None:
    if not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    try:
        sockets += bind("[::1]", 0)
    except PreconditionFailed:
        pytest.skip("no IPv6 here")
    assert url_of(sockets).startswith("http://[::1]:")


def test_elsewhere_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="no authentication"):
        bind("example.org", 80)


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.EADDRINUSE, "is taken"), (errno.EACCES, "may not listen"), (errno.EIO, "nobody can listen")],
)
def test_why_nobody_can_listen(number: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[socket.socket] = []

    def fails(_family: int, _address: Any) -> socket.socket:
        if made:
            raise OSError(number, "no")
        made.append(socket.socket())
        return made[0]

    two = [(socket.AF_INET, ("127.0.0.1", 80)), (socket.AF_INET, ("127.0.0.2", 80))]
    monkeypatch.setattr(listening, "_addresses", lambda *_args: two)
    monkeypatch.setattr(listening, "_bound", fails)
    with pytest.raises(PreconditionFailed, match=said):
        bind("localhost", 80)
    assert made[0].fileno() == -1


def test_who_went_away_is_no_reason_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(_line: str) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("click.echo", gone)
    say("hello")


def test_what_to_try_without_a_workflow(capsys: pytest.CaptureFixture[str]) -> None:
    place = Place("memory://", Config(), ())
    tell_start("http://127.0.0.1:1", place, {"api"}, {})
    assert "curl http://127.0.0.1:1/health" in capsys.readouterr().out
    tell_start("http://127.0.0.1:1", place, {"engine", "scheduler"}, {})
    told = capsys.readouterr().out
    assert "curl" not in told
    assert "everything is lost then" in told  # it is in memory
    tell_start("http://127.0.0.1:1", Place("sqlite:///x.db", Config(), ()), {"api"}, {})
    assert "nothing is lost" in capsys.readouterr().out


def test_trouble_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask() -> list[str | None]:
        async with connected(Config(), f"sqlite:///{tmp_path}/work.db") as parts:
            state = ServerState(parts)
            found = [await state.trouble()]

            async def gone() -> int:
                raise Unavailable("the database is gone")

            async def slow() -> int:
                await asyncio.Event().wait()
                return 0

            for broken in (gone, slow):
                with monkeypatch.context() as patch:
                    patch.setattr(parts.store, "probe", broken)
                    patch.setattr("stretto.server.state.ANSWER_WITHIN", 0.01)
                    state._fresh_until = 0.0
                    found.append(await state.trouble())
            state.stopping = True
            return [*found, await state.trouble()]

    well, gone, slow, stopping = asyncio.run(ask())
    assert well is None
    assert gone == "the database is gone"
    assert "has not answered" in str(slow)
    assert stopping == "the server is stopping"


def test_without_a_node_there_is_no_work_to_end() -> None:
    async def again() -> None:
        asked = asyncio.Event()
        asked.set()
        await lifecycle._cut_short(None, asked)

    asyncio.run(again())


def test_where_there_is_no_fast_loop_the_plain_one_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    async def loop() -> str:
        return type(asyncio.get_running_loop()).__module__

    assert lifecycle.run(loop()) == "uvloop"
    monkeypatch.setattr("sys.platform", "win32")
    assert lifecycle.run(loop()).startswith("asyncio")
