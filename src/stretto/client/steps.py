"""What a conversation asks of its driver, and what it is answered.

A conversation is a generator. It yields steps, and is sent a reply to each:

    Send(request)      the whole answer, or Broken
    Listen(request)    the head of an answer whose body does not end; the whole answer if it is a refusal
    Hear()             the next bytes of what is listened to, or Broken: also when there are no more
    Pause(seconds)     an empty answer, after a while
"""

from collections.abc import Generator, Mapping
from typing import Final, TypeVar

import msgspec

T = TypeVar("T")

JSON: Final = "application/json"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One request. `path` is quoted, and comes behind the address of the server."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = {}
    body: bytes | None = None
    within: float  # seconds that the server may be silent


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What came back. Names of headers are in small letters."""

    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes = b""


class Broken(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing came back, or not all of it."""

    reason: str
    sent: bool  # whether the server may have got the request
    late: bool = False  # whether it is only that the time is up


class Send(msgspec.Struct, frozen=True):
    request: Request


class Listen(msgspec.Struct, frozen=True):
    request: Request


class Hear(msgspec.Struct, frozen=True):
    """See the head of the module."""


class Pause(msgspec.Struct, frozen=True):
    seconds: float


Step = Send | Listen | Hear | Pause
Reply = Answer | Broken
Talk = Generator[Step, Reply, T]  # a conversation with a result
Telling = Generator[
    Step | T, Reply, None
]  # one that has something to tell on the way; to that it hears nothing
