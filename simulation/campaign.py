"""Many seeds, in one process or in several: who failed, and what was tried."""

import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from typing import Final

from simulation.counters import Counters
from simulation.scenario import Scenario, make_scenario
from simulation.world import World

CHUNK: Final = 25  # seeds that a process takes at once
_DETAILS: Final = re.compile(r"\[[^\]]*\]|'[^']*'|\d+")


class Failure:
    """A seed that does not hold."""

    def __init__(self, seed: int, violations: list[str]) -> None:
        self.seed = seed
        self.violations = violations

    @property
    def kind(self) -> str:
        """What went wrong, without names and numbers: two seeds with the same bug have the same kind."""
        return kind_of(self.violations[0])


def kind_of(violation: str) -> str:
    return _DETAILS.sub("#", violation)[:60]


def live(scenario: Scenario, counters: Counters | None = None) -> list[str]:
    """Run a scenario. What is raised by the shipped code where nobody expects it is a violation, too."""
    world = World(scenario)
    try:
        world.run()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is to be told
        world.complain(f"raised {type(error).__name__}: {error}")
    if counters is not None:
        counters.add(world.counters)
    return world.violations


def run_seeds(seeds: Iterable[int]) -> tuple[list[Failure], Counters]:
    """Run some seeds here."""
    counters = Counters()
    failures: list[Failure] = []
    for seed in seeds:
        violations = live(make_scenario(seed), counters)
        counters.figures["seeds"] += 1
        if violations:
            failures.append(Failure(seed, violations))
    return failures, counters


def campaign(start: int, seeds: int, jobs: int = 1) -> Iterator[tuple[list[Failure], Counters]]:
    """Run seeds from `start` on; what came of each chunk is told as soon as it is known."""
    chunks = [range(first, min(first + CHUNK, start + seeds)) for first in range(start, start + seeds, CHUNK)]
    if jobs == 1:
        yield from map(run_seeds, chunks)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(run_seeds, chunks)


def first_failure(seeds: Iterable[int]) -> Failure | None:
    """The first of these seeds that does not hold."""
    for seed in seeds:
        failures, _ = run_seeds((seed,))
        if failures:
            return failures[0]
    return None


def story_of(scenario: Scenario) -> list[str]:
    """Everything that happens in a scenario, line by line."""
    world = World(scenario, told=True)
    with suppress(Exception):
        world.run()
    return world.story.lines
