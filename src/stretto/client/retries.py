"""When something is sent again, and after how long."""

import random
from collections.abc import Callable
from enum import Enum, auto
from typing import Final

import msgspec

from stretto.client.steps import Broken, Reply

BUSY: Final = frozenset({502, 503, 504})
TOO_MANY: Final = 429  # refused before anything was done
LONGEST_WISH: Final = 60.0  # seconds: a server that wants more is not waited for so long


class Again(Enum):
    """What a repetition would do."""

    SAFE = auto()  # nothing, or the same once more
    UNSENT = auto()  # the work twice: only what can not have come there is sent again
    NEVER = auto()  # who asks wants to know how it is now


class Retries(msgspec.Struct, frozen=True, kw_only=True):
    """How often a request is sent, and the pauses between: each may be twice as long as the one before it,
    and chance decides how much of that it is, so that many clients do not come back together.
    """

    tries: int = 5
    first: float = 0.2  # seconds
    longest: float = 5.0
    dice: Callable[[], float] = random.random

    def pause(self, again: Again, reply: Reply, tried: int) -> float | None:
        """Seconds until the next try, after `tried` of them; None: this reply counts."""
        if tried >= self.tries or not _may_repeat(again, reply):
            return None
        wished = 0.0 if isinstance(reply, Broken) else _wish(reply.headers.get("retry-after", ""))
        return max(wished, self.back_off(tried))

    def back_off(self, tried: int) -> float:
        """Seconds to wait after so many tries in a row that came to nothing."""
        most = min(self.longest, self.first * 2.0 ** min(tried - 1, 30))
        return most * (0.5 + self.dice() / 2)


def _may_repeat(again: Again, reply: Reply) -> bool:
    if again is Again.NEVER:
        return False
    if isinstance(reply, Broken):
        return again is Again.SAFE or not reply.sent
    return reply.status == TOO_MANY or (reply.status in BUSY and again is Again.SAFE)


def _wish(text: str) -> float:
    """`Retry-After` in seconds; a date, which it may also be, is not worth a clock."""
    return min(float(text), LONGEST_WISH) if text.isascii() and text.isdigit() else 0.0
