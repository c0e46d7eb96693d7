"""The simulator finds bugs: each of these is planted into the shipped code, and found within its bound."""

import pytest
from tests.simulation.planted import PLANTS

from stretto.testing.simulation.campaign import first_failure

BOUND = 1_000
# What gives each away, as the violations begin; which comes first depends on the seed.
SIGNS = {
    "no_generation_check": ("I1:",),
    "effect_before_commit": ("I3:",),
    "no_count_down": ("I2:", "I8:", "order:", "oracle:"),
    "granted_after_reload": ("I10:",),
    "any_result_counts": ("a decision", "I5:", "I4:", "oracle:"),
    "lost_letter": ("I9:",),
    "lost_grant": ("I13:",),
    "dequeued_twice": ("G2:", "I6:", "I7:"),
    "journal_not_undone": ("I2:",),
    "early_step": ("order:", "I2:", "a decision"),
    "reloaded_without_claim": ("I8:", "I2:", "I4:", "I13:", "I14:", "a decision"),
    "relaunched_where_it_is": ("I5:",),
    "slots_ignored": ("I7:",),
    "log_with_a_gap": ("I14:",),
    "signals_passed_over": ("I12:",),
}
CHEAP = [
    name
    for name in PLANTS
    if name not in {"no_generation_check", "journal_not_undone", "reloaded_without_claim"}
]


def found(name: str, bound: int) -> None:
    with PLANTS[name]():
        failure = first_failure(range(bound))
    assert failure is not None, f"{name} was not found in {bound} seeds"
    assert failure.violations[0].startswith(SIGNS[name]), failure.violations[0]


@pytest.mark.parametrize("name", CHEAP)
def test_a_planted_bug_is_found_soon(name: str) -> None:
    found(name, 100)


@pytest.mark.prove
@pytest.mark.parametrize("name", PLANTS)
def test_every_planted_bug_is_found(name: str) -> None:
    found(name, BOUND)


def test_every_plant_has_its_sign() -> None:
    assert PLANTS.keys() == SIGNS.keys()


def test_plants_are_taken_out_again() -> None:
    for plant in PLANTS.values():
        with plant():
            pass
    assert first_failure(range(8)) is None
