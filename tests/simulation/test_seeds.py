"""Worlds from seeds: whatever goes wrong in them, the invariants hold and every run ends."""

import gc
import os
import subprocess
import sys

import msgspec
import pytest
from simulation.campaign import campaign, live, run_seeds, story_of
from simulation.counters import Counters
from simulation.cursing import Curse
from simulation.inputs import HARMLESS, Verb
from simulation.scenario import make_scenario
from simulation.troubles import Trouble

from simulation import cursing, leaps, retaining
from stretto.engine.flow import Flow

CHUNK = 25
TELL = (
    "from simulation.campaign import story_of;"
    "from simulation.scenario import make_scenario;"
    "print('\\n'.join(story_of(make_scenario({seed}))))"
)


@pytest.mark.parametrize("first", range(0, 200, CHUNK))
def test_nothing_is_violated(first: int) -> None:
    failures, counters = run_seeds(range(first, first + CHUNK))
    assert not failures, "\n".join(
        f"make simulate SEEDS=1 START={each.seed}: {each.violations[0]}" for each in failures
    )
    assert counters.figures["seeds"] == CHUNK
    assert counters.figures["runs compared with their rows"] > CHUNK


@pytest.mark.prove
@pytest.mark.parametrize("first", range(100_000, 110_000, 1_000))
def test_nothing_is_violated_in_many_seeds(first: int) -> None:
    failures, _ = run_seeds(range(first, first + 1_000))
    assert not failures, failures[0].violations[0]


# Seeds in which something was violated once: an orphan of a step that faulted while its child was started; an
# oracle that did not know of leaps over the end of a wait for functions; an invariant that asked for an undo
# by a restart that its strategy had dropped; an invariant that took the beginning and the end of a loop in
# one transaction for a beginning after the end.
@pytest.mark.parametrize("seed", [71_000_579, 103_127, 102_853, 50_412])
def test_what_once_failed_holds(seed: int) -> None:
    assert live(make_scenario(seed)) == []


def test_nothing_stays_in_memory() -> None:
    """Records are not seen by the collector of cycles: nothing that they hold may lead back to them."""
    gc.collect()
    before = flows_in_memory()  # a test that has failed keeps what it had
    run_seeds(range(10))
    gc.collect()
    assert flows_in_memory() <= before


def flows_in_memory() -> set[int]:
    return {id(each) for each in gc.get_objects() if isinstance(each, Flow)}


# --------------------------------------------------------------------------------------------- determinism
# Those behind the first four run in asyncio loops, forget, and are odd.
@pytest.mark.parametrize("seed", [3, 11, 19, 44, 15, 31, 47, 4, 41])
def test_a_seed_is_always_the_same_run(seed: int) -> None:
    assert story_of(make_scenario(seed)) == story_of(make_scenario(seed))


@pytest.mark.parametrize("seed", [5, 31])
def test_neither_the_process_nor_its_hashes_matter(seed: int) -> None:
    stories = {
        subprocess.run(  # noqa: S603 - our own code
            [sys.executable, "-c", TELL.format(seed=seed)],
            env={**os.environ, "PYTHONHASHSEED": hashes},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for hashes in ("1", "2")
    }
    assert stories == {"\n".join(story_of(make_scenario(seed))) + "\n"}


def test_processes_share_the_seeds() -> None:
    seen = [counters.figures["seeds"] for _failures, counters in campaign(0, 60, jobs=2)]
    assert seen == [25, 25, 10]


# ------------------------------------------------------------------------------------------------ scenarios
def test_seeds_try_everything() -> None:
    scenarios = [make_scenario(seed) for seed in range(600)]
    verbs = {given.verb for each in scenarios for given in each.inputs}
    assert verbs == set(Verb)
    assert {fault.kind for each in scenarios for fault in each.faults} == set(Trouble)
    assert {each.slots for each in scenarios} == {1, 2, 3, 4}
    used = {construct for each in scenarios for construct in each.used}
    assert {"foreach", "while", "subworkflow", "template", "wait", "sleep", "added steps", "redirect"} <= used
    assert {"signal trigger", "time trigger", "compensation", "retry_if", "nested loop"} <= used
    assert {each.oddity.curse for each in scenarios} == {None, *Curse}
    assert {each.driven for each in scenarios} == {True, False}
    assert {each.driven for each in scenarios if each.retention is not None} == {True, False}
    assert {f"strategy {rule}" for rule in ("parallel", "first_only", "last_only")} <= used


def test_what_is_drawn_apart_leaves_the_rest_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a world forgets, and what is odd about it, has dice of its own."""
    monkeypatch.setattr(leaps, "SHARE", 0.0)  # only worlds that forget nothing have leaps
    scenarios = [make_scenario(seed) for seed in range(200)]
    monkeypatch.setattr(cursing, "SHARE", 0.0)
    monkeypatch.setattr(retaining, "SHARE", 0.0)
    for each in scenarios:
        bare = make_scenario(each.seed)
        assert each.faults[: len(bare.faults)] == bare.faults
        own = {name: getattr(bare, name) for name in ("faults", "weather", "retention", "oddity")}
        assert msgspec.structs.replace(each, **own) == bare
        assert bare.driven is (each.seed % 16 == 15)


def test_worlds_forget_while_others_go_on() -> None:
    counters = Counters()
    for seed in range(80):
        scenario = make_scenario(seed)
        if scenario.retention is not None:
            assert not live(scenario, counters)
    assert counters.figures["runs that were forgotten"] > 3
    assert counters.figures["rows that were forgotten"] > 50


def test_half_of_the_scenarios_can_be_judged() -> None:
    scenarios = [make_scenario(seed) for seed in range(300)]
    judged = [each for each in scenarios if all(given.verb in HARMLESS for given in each.inputs)]
    assert len(judged) > 150


def test_what_is_raised_is_a_violation() -> None:
    scenario = make_scenario(0)
    nameless = scenario.inputs[0].__class__(at=0, verb=Verb.LIMIT, workflow_id="nobody", pick=0)
    broken = type(scenario)(
        **{
            name: getattr(scenario, name)
            for name in scenario.__struct_fields__
            if name not in {"definitions", "inputs"}
        },
        definitions=(),
        inputs=(type(nameless)(at=0, verb=Verb.SET_BREAKPOINT, workflow_id="nobody", pick=0),),
    )
    (violation, *_) = live(broken)
    assert violation.startswith("raised StopIteration")
