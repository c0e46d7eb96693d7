"""Worlds in which processes are killed from outside, and nothing else goes wrong: nobody is set aside."""

from random import Random
from typing import Any

import msgspec
import pytest
from simulation.campaign import live
from simulation.counters import Counters
from simulation.cursing import Oddity
from simulation.scenario import Scenario, make_scenario
from simulation.troubles import Fault, Trouble, Weather

from stretto.store.memory.leases import MemoryGroups

HORIZON = 30_000  # milliseconds


def killed(seed: int) -> Scenario:
    """The world of a seed; its processes are killed every few seconds, and the next ones see that."""
    dice = Random(f"outside kills {seed}")  # noqa: S311 - moments, no secrets
    scenario = make_scenario(seed)
    at, faults = 0, []
    while at < HORIZON:
        at += dice.choice([dice.randrange(20, 400), dice.randrange(500, 4_000)])
        faults.append(
            Fault(kind=Trouble.CRASH, slot=dice.randrange(scenario.slots), at=at, lasts=dice.randrange(200))
        )
    return msgspec.structs.replace(
        scenario,
        faults=tuple(faults),
        weather=Weather(latency=dice.choice([0, 1, 5])),
        poison=None,
        horizon=HORIZON,
        retention=None,
        oddity=Oddity(neighbours=True),
    )


def lived(monkeypatch: pytest.MonkeyPatch, seeds: range) -> tuple[list[str], Counters]:
    """What was violated, and set aside at any time."""
    aside: list[str] = []
    counters = Counters()

    def watched(_groups: Any, guilty: Any) -> list[Any]:
        aside.extend(f"{each} is set aside" for each in guilty)
        return []

    monkeypatch.setattr(MemoryGroups, "_quarantine", watched)
    monkeypatch.setattr(MemoryGroups, "_park", watched)
    for seed in seeds:
        aside.extend(f"{seed}: {each}" for each in live(killed(seed), counters))
    return aside, counters


def test_nobody_is_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    violated, counters = lived(monkeypatch, range(30))
    assert violated == []
    assert counters.troubles["CRASH"] > 300


@pytest.mark.prove
@pytest.mark.parametrize("first", range(1_000, 3_000, 200))
def test_nobody_is_set_aside_in_many_seeds(monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    violated, _counters = lived(monkeypatch, range(first, first + 200))
    assert violated == []
