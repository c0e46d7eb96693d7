"""Leaps of the database's clock: by hours, forward and back, in some worlds."""

from collections.abc import Iterable, Sequence
from random import Random
from typing import Final, NamedTuple

import msgspec

from simulation.authors import LOCAL
from simulation.inputs import Input, Verb
from simulation.troubles import Fault, Trouble
from stretto.model.step import AnyStep, TypedStep
from stretto.model.workflow import Definition

SHARE: Final = 0.15  # of the worlds
HOUR: Final = 3_600_000  # milliseconds
BEAT: Final = 2_500  # milliseconds in which nodes hear of a leap


class Leaps(NamedTuple):
    """Leaps, and what they are to meet: steps that have a rate, or runs that are paused meanwhile."""

    definitions: tuple[Definition, ...]
    inputs: tuple[Input, ...]
    faults: tuple[Fault, ...] = ()


def make_leaps(seed: int, given: Leaps, roots: Sequence[str], horizon: int) -> Leaps:
    """In some worlds the clock is set hours ahead or back, and mostly set right again a little later. The
    dice are its own: other worlds stay as they are.
    """
    dice = Random(f"leaps {seed}")  # noqa: S311 - dice, not secrets
    if dice.random() >= SHARE:
        return given
    millis = dice.choice([HOUR, HOUR, 3 * HOUR]) * dice.choice([1, 1, -1])
    first = dice.randrange(horizon // 3)
    then = first + dice.randrange(1_000, horizon // 2)
    leaps = [Fault(kind=Trouble.CLOCK, at=first, lasts=millis)]
    if dice.random() < 0.8:
        leaps.append(Fault(kind=Trouble.CLOCK, at=then, lasts=-millis))
    definitions, inputs = given.definitions, list(given.inputs)
    meets = dice.random()
    if meets < 0.5:
        rate = dice.choice(["1/second", "1/second", "2/minute"])
        definitions = tuple(_paced(each, rate) if each.workflow.id in roots else each for each in definitions)
        inputs += [_input(dice, Verb.START, roots, dice.randrange(first, then)) for _ in range(3)]
        inputs += [_input(dice, Verb.START, roots, dice.randrange(then, horizon)) for _ in range(3)]
    elif meets < 0.75:
        for leap in leaps:
            inputs += [
                _input(dice, Verb.START, roots, max(0, leap.at - dice.randrange(2_000))) for _ in "abc"
            ]
            for root in roots:
                at, pick = leap.at + dice.randrange(1_000), dice.randrange(1 << 30)
                inputs.append(Input(at=at, verb=Verb.PAUSE, workflow_id=root, pick=pick))
                after = at + BEAT + dice.randrange(1_000)
                inputs.append(Input(at=after, verb=Verb.RESUME, workflow_id=root, pick=pick))
    return Leaps(definitions, tuple(sorted(inputs, key=lambda each: each.at)), (*given.faults, *leaps))


def farthest(faults: Iterable[Fault]) -> int:
    """How far the clock leaps, there or back: a timer that is read at load may be so late."""
    leaps = [abs(each.lasts) for each in faults if each.kind is Trouble.CLOCK]
    return max((each for each in leaps if each >= HOUR), default=0)


def _input(dice: Random, verb: Verb, roots: Sequence[str], at: int) -> Input:
    return Input(at=at, verb=verb, workflow_id=dice.choice(roots), pick=dice.randrange(1 << 30))


def _paced(definition: Definition, rate: str) -> Definition:
    """The same, but with a rate for its steps of work."""

    def paced(step: AnyStep) -> AnyStep:
        works = isinstance(step, TypedStep) and step.type == LOCAL and step.rate is None
        return msgspec.structs.replace(step, rate=rate) if works else step

    workflow = definition.workflow
    steps = tuple(paced(each) for each in workflow.steps)
    return msgspec.structs.replace(definition, workflow=msgspec.structs.replace(workflow, steps=steps))
