"""What a world forgets, and when: short times, so that it does so while other runs go on."""

from random import Random
from typing import Final

import msgspec

from simulation.troubles import Fault, Trouble, Weather
from stretto.node.settings import RetentionSettings

LATEST: Final = 1_000  # milliseconds that a call may be on its way in a world that forgets
RETRIES: Final = 2_000  # milliseconds after which one that failed was repeated
STANDING: Final = frozenset({Trouble.FREEZE, Trouble.OUTAGE, Trouble.CLOCK})
SHARE: Final = 0.2  # of the worlds
FIRST_GROUP: Final = 0  # whose owner forgets for all
CALLS: Final = (
    *("prune_runs", "prune_runs", "prune_runs", "prunable", "prune", "prune", "prune"),
    *("prune", "prune", "purgeable", "now"),
)
KINDS: Final = (Trouble.CRASH, Trouble.CRASH, Trouble.REFUSED, Trouble.UNANSWERED, Trouble.LATE, Trouble.ODD)


class Forgetful(msgspec.Struct, frozen=True):
    """What a world forgets, and the trouble that fits to it."""

    retention: RetentionSettings | None
    weather: Weather
    faults: tuple[Fault, ...]


def make_forgetful(seed: int, weather: Weather, faults: tuple[Fault, ...], slots: int) -> Forgetful:
    """A share of the worlds forgets. The dice are its own: the other worlds stay as they are."""
    dice = Random(f"retention {seed}")  # noqa: S311 - dice, not secrets
    if dice.random() >= SHARE:
        return Forgetful(None, weather, faults)
    weather = msgspec.structs.replace(weather, slowest=min(weather.slowest, LATEST))
    faults = (*faults, *(_fault(dice, slots) for _ in range(dice.choice([0, 0, 1, 2]))))
    settings = RetentionSettings(
        runs=dice.choice([300, 1_000, 3_000]) + _lateness(weather, faults),
        log=dice.choice([None, 300, 3_000]),
        signals=dice.choice([None, 1_000, 5_000]),
        nodes=dice.choice([300, 5_000, 60_000]),
        outcomes=dice.choice([None, 1_000]),
        every=dice.choice([500, 2_000, 5_000]),
        rows_at_once=dice.choice([1, 4, 500]),
    )
    return Forgetful(settings, weather, faults)


def _lateness(weather: Weather, faults: tuple[Fault, ...]) -> int:
    """How late a call may come, in milliseconds: a request id must not be forgotten before that. A clock that
    is set forward makes old what is not.
    """
    rough = weather.refused or weather.unanswered or weather.late or weather.twice
    late = 2 * weather.slowest if weather.slow else 0
    late += LATEST + RETRIES if rough or faults else 0
    return late + sum(max(0, fault.lasts) for fault in faults if fault.kind in STANDING)


def _fault(dice: Random, slots: int) -> Fault:
    return Fault(
        kind=dice.choice(KINDS),
        slot=dice.randrange(slots),
        call=dice.choice(CALLS),
        nth=1 + min(int(dice.expovariate(0.2)), 20),
        after=dice.random() < 0.5,
        lasts=dice.choice([100, 2_000, 15_000]),
    )
