"""What is odd about some worlds all the time, and not just once: as data, fixed before anything runs."""

from random import Random
from typing import Final

import msgspec

from stretto.model.words import Word
from stretto.node.asks import Ask, Deal, LoadRuns

SHARE: Final = 0.125  # of the worlds


class Curse(Word):
    """What goes wrong each time, until it has gone wrong often enough, or the trouble is over."""

    UNREADABLE = "UNREADABLE"  # a run can not be read
    UNDEALT = "UNDEALT"  # a message that is about no run can not be dealt with
    DEADLY_RUN = "DEADLY_RUN"  # whoever reads a run dies
    DEADLY_MESSAGE = "DEADLY_MESSAGE"  # whoever deals with a message that is about no run dies

    @property
    def is_deadly(self) -> bool:
        return self in {Curse.DEADLY_RUN, Curse.DEADLY_MESSAGE}


OF_RUNS: Final = frozenset({Curse.UNREADABLE, Curse.DEADLY_RUN})


class Oddity(msgspec.Struct, frozen=True, kw_only=True):
    """What a world is like."""

    curse: Curse | None = None
    times: int = 0  # that it strikes
    releases: tuple[int, ...] = ()  # when users try again what was set aside
    neighbours: bool = False  # processes share a machine, and see which of them are gone
    again: bool = False  # users restart what has failed, once everything has ended
    page: int | None = None  # rows of which a list of the store has at most so many at once


PLAIN: Final = Oddity()


def make_oddity(seed: int, horizon: int) -> Oddity:
    """The dice are its own: worlds that are not odd stay as they are."""
    dice = Random(f"oddity {seed}")  # noqa: S311 - dice, not secrets
    if dice.random() >= SHARE:
        return PLAIN
    return Oddity(
        curse=dice.choice([None, *Curse]),
        times=dice.choice([2, 4, 6, 12]),
        releases=tuple(dice.randrange(horizon) for _ in range(dice.choice([0, 4, 12]))),
        neighbours=dice.random() < 0.7,
        page=dice.choice([None, 1, 2]),
        again=dice.random() < 0.5,
    )


class Struck:
    """Counts how often a curse has struck."""

    def __init__(self, oddity: Oddity) -> None:
        self._curse = oddity.curse
        self._left = oddity.times

    def strikes(self, ask: Ask) -> Curse | None:
        """Whether an ask is cursed, this time."""
        if self._curse is None or not self._left:
            return None
        if not isinstance(ask, LoadRuns if self._curse in OF_RUNS else Deal):
            return None
        self._left -= 1
        return self._curse

    def end(self) -> None:
        self._left = 0
