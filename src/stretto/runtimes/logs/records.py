"""How a line is written: when, by which stream, whether it is whole, and its text, as container runtimes do.

2026-11-16T06:20:55.123Z stdout F a line
2026-11-16T06:20:55.124Z stderr P a line that is not complete: the next record of stderr goes on with it
"""

import time
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple

from stretto.ports.logs import LOG, STDERR, STDOUT, Stream

WHOLE: Final = b"F"
PARTIAL: Final = b"P"
LONGEST: Final = 36  # bytes that a record has beside its text, and a few
_STREAMS: Final[dict[bytes, Stream]] = {b"stdout": STDOUT, b"stderr": STDERR, b"log": LOG}


class Record(NamedTuple):
    """What was read of a line."""

    at: int
    stream: Stream
    is_whole: bool
    text: bytes

    @property
    def size(self) -> int:
        """Bytes that were printed."""
        return len(self.text) + self.is_whole


def records(at: int, stream: Stream, data: bytes) -> bytes:
    """What is written for some output. A line that has not ended yet is written as a part of one."""
    head = f"{moment(at)} {stream} ".encode()
    whole, end, rest = data.rpartition(b"\n")
    made: list[bytes] = []
    if end:
        begin = b"%b%b " % (head, WHOLE)
        made += (begin, whole.replace(b"\n", b"\n" + begin), b"\n")
    if rest:
        made += (head, PARTIAL, b" ", rest, b"\n")
    return b"".join(made)


def moment(at: int) -> str:
    """`2026-11-16T06:20:55.123Z`."""
    return f"{_second(at // 1_000)}.{at % 1_000:03}Z"


def record_of(line: bytes) -> Record | None:
    """None: nobody writes such a line; the end of it is missing, or somebody has changed it."""
    match line.split(b" ", 3):
        case [moment, stream, tag, text] if stream in _STREAMS and tag in {WHOLE, PARTIAL}:
            at = _millis(moment)
            return None if at is None else Record(at, _STREAMS[stream], tag == WHOLE, text)
        case _:
            return None


@lru_cache(maxsize=16)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


@lru_cache(maxsize=16)
def _millis(moment: bytes) -> int | None:
    try:
        return round(datetime.fromisoformat(moment.decode()).timestamp() * 1_000)
    except ValueError:
        return None
