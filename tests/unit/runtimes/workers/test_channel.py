"""Bytes between processes: whole messages, whatever comes."""

import asyncio
import os
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from tests.waiting import until

from stretto.runtimes.orders import BadFrame, Frames, framed
from stretto.runtimes.workers.capture import Capture
from stretto.runtimes.workers.channel import Channel
from stretto.runtimes.workers.control import SIZE, Verb, Word, read, receive, written


def test_messages_are_put_together_again() -> None:
    data = framed(b"one") + framed(b"") + framed(b"three")
    for size in (1, 3, 5, 100):
        frames = Frames(10)
        found = [each for at in range(0, len(data), size) for each in frames.feed(data[at : at + size])]
        assert found == [b"one", b"", b"three"]


def test_a_length_that_is_too_large_is_not_believed() -> None:
    with pytest.raises(BadFrame, match=r"a message of 4,294,967,295 bytes, where 10 are the most"):
        list(Frames(10).feed(b"\xff\xff\xff\xff"))


class Ends:
    """A channel, and its other end."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.ended: list[str] = []
        ours, self.theirs = socket.socketpair()
        self.channel = Channel(ours, 1_000, self.heard.append, self.ended.append)

    async def until(self, holds: Callable[[], Any]) -> None:
        await until(holds)

    def close(self) -> None:
        self.channel.close()
        self.theirs.close()


def test_a_channel_hears_and_ends() -> None:
    async def run() -> None:
        ends = Ends()
        ends.theirs.sendall(framed(b"one") + framed(b"two"))
        await ends.until(lambda: len(ends.heard) == 2)
        ends.channel._read()  # nothing is there
        ends.theirs.close()
        await ends.until(lambda: ends.ended)
        ends.close()
        assert (ends.heard, ends.ended) == ([b"one", b"two"], [""])

    asyncio.run(run())


def test_a_channel_that_is_reset_has_ended() -> None:
    async def run() -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
        listener.close()
        ended: list[str] = []
        channel = Channel(ours, 10, lambda _: None, ended.append)
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        theirs.close()
        await until(lambda: ended)
        assert not channel.is_open

    asyncio.run(run())


def test_what_is_no_message_ends_a_channel() -> None:
    async def run() -> None:
        ends = Ends()
        ends.theirs.sendall(b"garbage, not a frame")
        await ends.until(lambda: ends.ended)
        assert "where 1,000 are the most" in ends.ended[0]
        ends.close()

    asyncio.run(run())


def test_who_closes_a_channel_in_a_message_hears_nothing_more() -> None:
    async def run() -> None:
        ends = Ends()
        ends.channel._hear = lambda _: ends.channel.close()
        ends.theirs.sendall(framed(b"bye") * 2 + b"\xff\xff\xff\xff")
        await ends.until(lambda: not ends.channel.is_open)
        await asyncio.sleep(0)
        assert ends.ended == []
        ends.close()

    asyncio.run(run())


def test_much_is_sent_as_there_is_room() -> None:
    async def run() -> None:
        ends = Ends()
        data = os.urandom(4 * 1024 * 1024)
        ends.channel.send(data)
        ends.channel.send(b"the end")
        ends.channel._write()  # there is no room
        ends.theirs.setblocking(False)
        found = bytearray()

        def all_is_there() -> bool:
            try:
                found.extend(ends.theirs.recv(1024 * 1024))
            except BlockingIOError:
                return False
            return len(found) == len(data) + 7

        await ends.until(all_is_there)
        assert bytes(found) == data + b"the end"
        full = 0
        while not ends.channel._rest:
            ends.channel.send(b"x" * 100_000)
            full += 100_000
        ends.theirs.close()
        await ends.until(lambda: not ends.channel._rest)
        ends.channel.send(b"nobody is there")
        ends.close()

    asyncio.run(run())


def test_what_is_left_to_send_when_nobody_is_there() -> None:
    async def run() -> None:
        ends = Ends()
        ends.theirs.close()
        ends.channel._rest += b"rest"
        ends.channel._write()
        assert not ends.channel._rest
        ends.close()

    asyncio.run(run())


def test_a_full_socket_takes_nothing() -> None:
    async def run() -> None:
        ends = Ends()
        ours = ends.channel._socket
        with suppress(BlockingIOError):
            while True:
                ours.send(b"x" * 100_000)
        ends.channel.send(b"later")
        assert ends.channel._rest == b"later"
        ends.close()

    asyncio.run(run())


def test_a_capture_ends() -> None:
    async def run() -> None:
        found: list[bytes] = []
        capture = Capture(found.append)
        os.write(capture.write, b"one")
        capture.drain(10)
        capture.handed_over()
        await until(lambda: not capture._is_open)
        assert not capture.take()
        capture.close()
        assert found == [b"one"]

    asyncio.run(run())


def test_words_come_in_parts() -> None:
    ours, theirs = socket.socketpair()
    word = Word(Verb.STARTED, 7, -3)
    with ours, theirs:
        assert read(written(word)) == word
        data = written(word) * 2
        for at in range(0, len(data), 5):
            ours.sendall(data[at : at + 5])
        assert receive(theirs) == (word, [])
        assert receive(theirs) == (word, [])
        ours.sendall(data[:5])
        later = threading.Timer(0.1, ours.sendall, (data[5:SIZE],))
        later.start()
        assert receive(theirs) == (word, [])
        later.join()
        ours.sendall(data[: SIZE - 1])
        ours.close()
        assert receive(theirs) is None
        assert receive(theirs) is None
