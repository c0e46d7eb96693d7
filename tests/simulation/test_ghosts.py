"""Ghosts: each kind of event meets each status, and nothing heeds it."""

from random import Random
from typing import Any

import msgspec
import pytest
from simulation.campaign import live, run_seeds
from simulation.counters import Counters
from simulation.echoes import Echoes
from simulation.ghosts import ALWAYS, MAKERS, VICTIMS, GhostlyError, Ghosts
from simulation.report import IMPOSSIBLE, OF_ATTEMPTS, PAIRS, tables
from simulation.scenario import make_scenario
from simulation.troubles import Fault, Trouble
from simulation.world import World
from tests.engine.driver import Driver
from tests.simulation.planted import PLANTS

from stretto.engine import events as happened
from stretto.engine.decide import decide
from stretto.engine.flow import Flow
from stretto.model.errors import WrongState
from stretto.model.status import RunStatus, StepStatus
from stretto.node.entry import Entry
from stretto.testing.shapes import step, workflow

SEEDS = 3_000
LEAST = 2  # the rarest pair comes about eight times in so many
TWO = workflow(step("a", "b"), step("b"), id="two")


class House:
    """A run that stands at its first step, and ghosts in it."""

    def __init__(self, seed: int = 1, *, harsh: bool = False) -> None:
        self.driver = Driver(TWO, check=False).start()
        self.entry = Entry(self.driver.flow.run.key, 0)
        self.entry.flow = self.driver.flow
        self.said: list[str] = []
        self.ghosts = Ghosts(Random(seed), self.entry_of, self.said.append, harsh=harsh)  # noqa: S311 - dice

    def entry_of(self, flow: Flow) -> Entry | None:
        return self.entry if flow is self.entry.flow else None

    def haunt(self, decide: Any = decide) -> list[Any]:
        """Something real happens; then come the ghosts, until there are no more."""
        haunted = self.ghosts.haunting(decide)
        flow = self.driver.flow
        met: list[Any] = []
        event: Any = happened.Resumed(attempt=flow.attempts[0].key)  # type: ignore[union-attr]
        while True:
            try:
                haunted(flow, event, self.driver.now)
            except WrongState:
                assert isinstance(event, happened.StepActed | happened.RunActed | happened.CalledBack)
            if not self.entry.inbox:
                return met
            event = self.entry.inbox.popleft().event
            met.append(event)


def test_they_come_and_nothing_changes() -> None:
    kinds: set[str] = set()
    for seed in range(150):
        house = House(seed)
        before = msgspec.json.encode(house.driver.flow.attempts)
        kinds |= {type(each).__name__ for each in house.haunt()}
        assert not house.said
        assert msgspec.json.encode(house.driver.flow.attempts) == before
    assert kinds >= set(OF_ATTEMPTS) | {"RunActed", "RunTimeDue", "Launched"}


def test_who_heeds_one_is_found() -> None:
    with PLANTS["any_result_counts"]():
        assert any("heeded a ghost: Reported" in text for text in _said_in(150))


def test_who_refuses_one_is_found() -> None:
    def picky(flow: Flow, event: Any, now: int) -> Any:
        if isinstance(event, happened.Granted):
            raise WrongState("no")
        return decide(flow, event, now)

    house = House()
    house.ghosts._put(house.entry, happened.Granted(attempt=house.driver.attempt("a").key))
    with pytest.raises(WrongState, match="no"):
        house.ghosts.haunting(picky)(house.driver.flow, house.entry.inbox.popleft().event, 0)
    assert house.said == [
        f"a ghost, {happened.Granted(attempt=house.driver.attempt('a').key)}, was refused by STARTING"
    ]


def test_a_run_that_nobody_has_in_memory_is_not_haunted() -> None:
    house = House()
    house.entry.flow = None
    assert house.haunt() == []


def _said_in(houses: int) -> list[str]:
    said: list[str] = []
    for seed in range(houses):
        house = House(seed)
        house.haunt()
        said += house.said
    return said


# ------------------------------------------------------------------------------------------------- harshness
def test_a_harsh_world_strikes() -> None:
    ends: set[StepStatus] = set()
    broken = 0
    for seed in range(60):
        house = House(seed, harsh=True)
        try:
            house.haunt()
            house.haunt()
        except GhostlyError:
            broken += 1
        ends.add(house.driver.attempt("a").ending or house.driver.attempt("a").status)
    assert broken
    assert ends >= {StepStatus.STARTING, StepStatus.INTERNALLY_FAILED, StepStatus.FATALLY_FAILED}


def test_what_is_being_ended_is_not_told_that_its_work_is_over() -> None:
    house = House()
    attempt = house.driver.attempt("a")
    house.ghosts._put(house.entry, happened.Faulted(attempt=attempt.key, message="boo"))
    attempt.ending = StepStatus.STOPPED
    house.ghosts.haunting(decide)(house.driver.flow, house.entry.inbox.popleft().event, 0)
    assert (attempt.status, attempt.ending) == (StepStatus.STARTING, StepStatus.STOPPED)


def test_what_can_happen_elsewhere_is_known_by_name() -> None:
    names = {status.value for status in StepStatus} | {f"run {status}" for status in RunStatus}
    assert {*VICTIMS, *ALWAYS} <= names
    assert {each.__name__ for each in MAKERS} == set(OF_ATTEMPTS)


# ----------------------------------------------------------------------------------------------------- pairs
def test_some_seeds_meet_most_pairs() -> None:
    failures, counters = run_seeds(range(40))
    assert not failures
    assert counters.figures["ghosts"] > 40
    met = [pair for pair in PAIRS if counters.pairs[pair]]
    assert len(met) > len(PAIRS) * 0.7
    assert not [pair for pair in counters.pairs if pair[0] in {each.value for each in IMPOSSIBLE}]


@pytest.mark.prove
def test_every_pair_is_met() -> None:
    failures, counters = run_seeds(range(SEEDS))
    assert not failures, failures[0].violations[0]
    assert not {pair: counters.pairs[pair] for pair in PAIRS if counters.pairs[pair] < LEAST}


def test_what_was_not_met_is_told() -> None:
    counters = Counters()
    for pair in PAIRS[1:]:
        counters.pairs[pair] = 100
    counters.pairs[PAIRS[1]] = 7
    lines = list(tables(counters))
    assert f"Never met: 1 of {len(PAIRS)} pairs" in lines
    assert f"Met fewer than 100 times: 2 of {len(PAIRS)} pairs" in lines
    status, (first, second) = PAIRS[0][0], (PAIRS[0][1], PAIRS[1][1])
    assert f"  {status:<32} {first} 0" in lines
    assert f"  {status:<32} {first} 0, {second} 7" in lines


# ---------------------------------------------------------------------------------------------------- echoes
def test_letters_come_again() -> None:
    """Also if there is none yet that could."""
    echoes = tuple(Fault(kind=Trouble.ECHO, at=at) for at in (0, 1_500, 2_500))
    echoed = 0
    for seed in range(8):
        world = World(msgspec.structs.replace(make_scenario(seed), faults=echoes), told=True)
        assert not world.run()
        echoed += any(" again: " in line for line in world.story.lines)
    assert echoed
    assert Echoes().one(3) is None


def test_a_world_without_ghosts_has_none() -> None:
    scenario = msgspec.structs.replace(make_scenario(3), ghosts=False)
    counters = Counters()
    assert not live(scenario, counters)
    assert counters.figures["ghosts"] == 0
