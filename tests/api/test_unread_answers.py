"""What clients can make a server keep that ask for large answers and do not read them."""

import asyncio
import socket
from typing import Any

import pytest
from tests.waiting import until

from stretto.api import answers as answer_limits
from stretto.api.answers import Answers
from stretto.api.door import Door
from stretto.api.encodings import _parted
from stretto.api.feed import Feed
from stretto.api.server import Server, bind
from stretto.api.settings import MB, ServerSettings
from stretto.node.clock import SystemClock

SIZE = 16 * MB  # of an answer: more than what both sides of a connection buffer
MOST = 40 * MB


class SilentFeed(Feed):
    """Nothing has changed."""

    def __init__(self) -> None:
        pass


def app(made: list[int], *, packed: bool) -> Any:
    """An application whose answers are large, and come as a whole."""

    async def answer(scope: Any, _receive: Any, send: Any) -> None:
        made.append(len(made))
        if not packed:
            length = [(b"content-length", str(SIZE).encode())]
            await send({"type": "http.response.start", "status": 200, "headers": length})
            await send({"type": "http.response.body", "body": b"x" * SIZE})
            return
        started: list[bool] = []

        async def late(message: Any) -> None:
            """As the compression does: the head waits for the first part."""
            if not started:
                started.append(True)
                await send({"type": "http.response.start", "status": 200, "headers": []})
            await send(message)

        whole: Any = {"type": "http.response.body", "body": b"x" * SIZE}
        await _parted(scope, send, late)(whole)

    return answer


async def asked(address: Any) -> socket.socket:
    link = socket.socket()
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    link.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(link, address)
    await loop.sock_sendall(link, b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    return link


async def read(link: socket.socket) -> bytes:
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * MB)  # now quickly
    found = b""
    try:
        while part := await asyncio.get_running_loop().sock_recv(link, 1 << 20):
            found += part
    except ConnectionError:
        pass
    return found


def noted(kept: list[int]) -> Any:
    """Notes what is kept once it is decided of an answer whether it is."""
    keep = answer_limits.Answer.keep

    def keeping(self: answer_limits.Answer, size: int) -> bool:
        is_kept = keep(self, size)
        kept.append(self._answers.kept)
        return is_kept

    return keeping


async def story(*, packed: bool, stalled: float, monkeypatch: pytest.MonkeyPatch) -> tuple[list[bytes], int]:
    """Six clients ask one after the other, and read only when all have asked."""
    monkeypatch.setattr(answer_limits, "STALLED", stalled)
    kept = list[int]()
    monkeypatch.setattr(answer_limits.Answer, "keep", noted(kept))
    made: list[int] = []
    settings = ServerSettings(answers=MOST, stop_within=1_000)
    door = Door(app(made, packed=packed), settings, SystemClock(), SilentFeed())
    server = Server(door, settings)
    sockets = bind("127.0.0.1", 0)
    await server.start(sockets)
    links = list[socket.socket]()
    connections: Any = server._server.server_state.connections
    for count in range(1, 7):
        links.append(await asked(sockets[0].getsockname()))
        await until(lambda: len(kept) >= count)  # noqa: B023 - it is called here
        await until(lambda: all(each.flow.write_paused for each in connections))
        kept[-1] = max(kept[-1], door._answers.kept)
    answers = await asyncio.gather(*map(read, links))
    for each in links:
        each.close()
    await server.stop()
    assert door._answers.kept == 0
    return list(answers), max(kept)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
def test_those_that_nobody_has_read_for_longest_are_cut_off(
    packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, most = asyncio.run(story(packed=packed, stalled=0.0, monkeypatch=monkeypatch))
    assert 0 < most <= MOST
    assert [len(each) > SIZE for each in answers] == [False] * 4 + [True] * 2


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
def test_while_others_are_read_a_new_one_is_refused(packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    answers, most = asyncio.run(story(packed=packed, stalled=3_600.0, monkeypatch=monkeypatch))
    assert 0 < most <= MOST
    assert [len(each) > SIZE for each in answers] == [True] * 2 + [False] * 4
    assert all(each.startswith(b"HTTP/1.1 503 ") and b"server.answers" in each for each in answers[2:])
    assert all(b"retry-after: 1" in each for each in answers[2:])


def test_one_that_is_larger_than_all_room_is_taken_alone() -> None:
    async def main() -> list[bool]:
        answers = Answers(10)
        first, second = (answer_limits.Answer(answers, None) for _ in range(2))
        told = [first.keep(100), second.keep(1)]
        first.done()
        return [*told, second.keep(1)]

    assert asyncio.run(main()) == [True, False, True]
