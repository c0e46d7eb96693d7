"""A failing seed is made smaller, and the command line tells of it."""

import re

import pytest
from click.testing import CliRunner
from simulation.__main__ import main
from simulation.campaign import first_failure, live
from simulation.scenario import Scenario, make_scenario
from simulation.shrinking import shrink, smaller_levels, smaller_ones
from tests.simulation.planted import PLANTS


def steps_in(scenario: Scenario) -> int:
    return sum(len(each.workflow.steps) for each in scenario.definitions)


def test_only_what_is_needed_is_left() -> None:
    with PLANTS["lost_letter"]():
        failure = first_failure(range(100))
        assert failure is not None
        scenario = make_scenario(failure.seed)
        said: list[str] = []
        small = shrink(scenario, said.append)
        assert live(small)
    assert steps_in(small) <= steps_in(scenario)
    assert len(small.inputs) <= len(scenario.inputs)
    assert len(small.inputs) == 1
    assert not small.faults
    assert all(each.startswith("without ") for each in said)


def test_what_holds_is_left_alone() -> None:
    scenario = make_scenario(0)
    assert shrink(scenario) == scenario


def test_every_smaller_scenario_can_be_run() -> None:
    for _what, smaller in smaller_ones(make_scenario(19)):
        assert not [each for each in live(smaller) if each.startswith("raised ")]


def test_edges_go_with_their_steps() -> None:
    for definition in make_scenario(19).definitions:
        for _what, steps in smaller_levels(definition.workflow.steps):
            ids = {step.id for step in steps}
            assert all(target in ids for step in steps for target in step.transition.successors)


# --------------------------------------------------------------------------------------------- command line
def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, list(arguments))
    return done.exit_code, done.output


def a_failing_seed() -> str:
    failure = first_failure(range(50))
    assert failure is not None
    return str(failure.seed)


def test_seeds_that_hold() -> None:
    code, text = run("--seeds", "10", "--start", "20")
    assert code == 0
    assert "10 seeds, 0 violations" in text
    for title in (
        "Figures",
        "Constructs",
        "Trouble",
        "Events by the status",
        "Can not be met",
        "Never met",
        "Met fewer",
    ):
        assert title in text


def test_a_seed_that_fails_says_how_to_repeat_it() -> None:
    with PLANTS["effect_before_commit"]():
        seed = a_failing_seed()
        code, text = run("--seeds", "1", "--start", seed, "--quiet")
    assert code == 1
    assert f"seed {seed}: I3: " in text
    assert f"    make simulate SEEDS=1 START={seed}\n" in text
    assert "1 seeds, 1 violations" in text


def test_the_story_of_a_seed() -> None:
    code, text = run("--story", "0")
    assert code == 0
    assert "process 1: join is committed" in text


@pytest.mark.parametrize("planted", [True, False])
def test_shrinking_from_the_command_line(planted: bool) -> None:
    if not planted:
        assert run("--shrink", "0") == (0, "seed 0 holds: there is nothing to shrink\n")
        return
    with PLANTS["effect_before_commit"]():
        code, text = run("--shrink", a_failing_seed())
    assert code == 1
    assert "VIOLATION: I3: " in text
    assert re.search(r"^workflow \w+: ", text, re.MULTILINE)
