"""What the outside does with the work of each attempt: a script, as data, fixed before anything runs."""

from collections.abc import Mapping

import msgspec

from stretto.engine.inline_ids import is_inline
from stretto.engine.records import AttemptKey
from stretto.model.step import AnyStep
from stretto.model.words import Word


class Says(Word):
    """How the work of an attempt ends. RAISES and NONSENSE are runtimes that do not keep to their port."""

    DONE = "DONE"
    USER_ERROR = "USER_ERROR"
    PLATFORM_ERROR = "PLATFORM_ERROR"
    FATAL_ERROR = "FATAL_ERROR"
    STOPPED = "STOPPED"
    TIMED_OUT = "TIMED_OUT"
    RAISES = "RAISES"
    NONSENSE = "NONSENSE"
    NEVER = "NEVER"  # it goes on until it is terminated


class Play(msgspec.Struct, frozen=True, kw_only=True):
    """The work of one attempt; times are in milliseconds. Whoever launches it again sees the same play."""

    says: Says = Says.DONE
    takes: int = 0  # that the start itself takes
    polls: tuple[int, ...] = ()  # it goes on, and is to be looked at after each of these
    reports: int | None = None  # it goes on, and says by itself how it ended after so long
    twice: bool = False  # it says so twice
    n: int | None = None  # the value of its output parameter
    added: tuple[AnyStep, ...] = ()  # steps that it asks for
    tolerance: float = 0.0
    redirect: str | None = None  # the step to which it goes back
    stubborn: int = 0  # how often it must be told to end


Row = tuple[Play, ...]  # one for each attempt; the last counts for all that follow
DONE = Play()


class Script(msgspec.Struct, frozen=True):
    """The plays of every step, and what people answer for those that wait.

    A step inside a loop has a row for some of its iterations: the n-th iteration follows the n-th row, and
    after the last row the first comes again.
    """

    rows: Mapping[str, tuple[Row, ...]] = {}
    approved: Mapping[str, bool] = {}

    def play(self, step_id: str, iteration: int, number: int) -> Play:
        """What the work of an attempt does; iterations and attempts are counted from 1."""
        rows = self.rows.get(step_id) or ((DONE,),)
        row = rows[(iteration - 1) % len(rows)]
        return row[min(number, len(row)) - 1]

    def play_of(self, attempt: AttemptKey) -> Play:
        """The same, by the key of the attempt."""
        return self.play(attempt.step_id, iteration_of(attempt), attempt.number)


def iteration_of(attempt: AttemptKey) -> int:
    """Which iteration of the innermost loop an attempt belongs to; outside of loops it is the first."""
    return attempt.run.instance_id if is_inline(attempt.run.workflow_id) else 1
