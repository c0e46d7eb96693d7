"""Codecs are made on first use, whichever thread comes first; nobody is given one that is half made."""

import threading
from typing import Annotated, Any

import msgspec
import pytest

from stretto.model.wire import Own, codec_of, decode

PATIENCE = 30.0
begun, goes_on = threading.Event(), threading.Event()


class SlowCodec:
    """The first one takes a while to be made."""

    def __init__(self, _tp: Any) -> None:
        if not begun.is_set():
            begun.set()
            assert goes_on.wait(PATIENCE)

    def decode(self, value: Any, _at: Any, _sink: Any, /) -> Any:
        return value

    def encode(self, record: Any, /) -> Any:
        return record

    def blank(self) -> Any:
        return None


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    slow: Annotated[int, Own(SlowCodec)]
    below: "tuple[Tree, ...]" = ()


def test_two_threads_make_the_same_codec() -> None:
    value = {"slow": 1, "below": [{"slow": 2}]}
    made: list[Any] = []
    first = threading.Thread(target=lambda: made.append(decode(Tree, value)))
    first.start()
    assert begun.wait(PATIENCE)
    try:
        second = decode(Tree, value)  # while the first is in the middle of it
    finally:
        goes_on.set()
        first.join(PATIENCE)
    assert made == [second] == [(Tree(slow=1, below=(Tree(slow=2),)), [])]
    assert codec_of(Tree) is codec_of(Tree)


class Odd(msgspec.Struct, frozen=True, kw_only=True):
    what: complex


def test_one_that_can_not_be_made_is_not_kept() -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match="no codec for"):
            codec_of(Odd)
