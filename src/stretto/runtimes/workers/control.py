"""What an engine and its fork server say to each other: short words of one size, some with files."""

import os
import socket
from enum import IntEnum
from struct import Struct
from typing import Final, NamedTuple

FILES: Final = 3  # of a worker: its socket, and where its outputs go


class Verb(IntEnum):
    # to the fork server
    SPAWN = 1  # a worker that may use so many bytes of memory (0: any); three files come along
    ASK = 2  # a worker to end: SIGTERM
    KILL = 3  # a worker and its group
    # from it
    STARTED = 4  # with the id of its process
    ENDED = 5  # with its exit code, below 0 if a signal ended it
    TOO_LARGE = 6  # it was killed: it used so many bytes
    NOT_STARTED = 7  # with the number of the error
    # of it
    LOST = 8  # the fork server is gone: nobody knows how its workers ended


class Word(NamedTuple):
    """One of them, about a worker, which has a number."""

    verb: Verb
    worker: int
    value: int = 0


_WORD: Final = Struct(">BIq")
SIZE: Final = _WORD.size


def written(word: Word) -> bytes:
    return _WORD.pack(*word)


def read(data: bytes) -> Word:
    """Raises ValueError."""
    verb, worker, value = _WORD.unpack(data)
    return Word(Verb(verb), worker, value)


def receive(control: socket.socket) -> tuple[Word, list[int]] | None:
    """The next word, and the files that came with it; None: the other side is gone. Waits."""
    data, files, _, _ = socket.recv_fds(control, SIZE, FILES)
    for file in files:
        os.set_inheritable(file, False)  # a program that a function starts has no business with them
    while 0 < len(data) < SIZE:
        more = control.recv(SIZE - len(data))
        if not more:
            return None
        data += more
    return (read(data), files) if data else None
