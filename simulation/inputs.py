"""What users do while runs go on: a list of inputs, as data, fixed before anything runs."""

from collections.abc import Sequence
from random import Random
from typing import Final

import msgspec

from stretto.model.words import Word


class Verb(Word):
    """One thing that a user asks for."""

    START = "START"
    START_AGAIN = "START_AGAIN"  # with a request id that was used before
    STOP = "STOP"
    KILL = "KILL"
    STOP_ALL = "STOP_ALL"  # runs of a workflow
    PAUSE = "PAUSE"
    RESUME = "RESUME"
    SUSPEND = "SUSPEND"  # a step
    LET_GO = "LET_GO"
    RESTART = "RESTART"
    STEP_RESTART = "STEP_RESTART"
    STEP_SKIP = "STEP_SKIP"
    STEP_STOP = "STEP_STOP"
    STEP_KILL = "STEP_KILL"
    BYPASS = "BYPASS"
    OUTPUT = "OUTPUT"  # what a job outside reports for its step
    SET_BREAKPOINT = "SET_BREAKPOINT"
    DELETE_BREAKPOINT = "DELETE_BREAKPOINT"
    ANSWER = "ANSWER"  # for a step that waits for somebody
    ANNOUNCE = "ANNOUNCE"
    STORM = "STORM"  # one of the signals that start workflows
    LIMIT = "LIMIT"  # of a tag
    STRATEGY = "STRATEGY"
    UNBLOCK = "UNBLOCK"


# These change when things happen, but not how a run ends: the oracle speaks about runs that saw no others.
HARMLESS: Final = frozenset(
    {
        Verb.START,
        Verb.START_AGAIN,
        Verb.PAUSE,
        Verb.RESUME,
        Verb.SUSPEND,
        Verb.LET_GO,
        Verb.OUTPUT,
        Verb.SET_BREAKPOINT,
        Verb.DELETE_BREAKPOINT,
        Verb.ANSWER,
        Verb.ANNOUNCE,
        Verb.STORM,
        Verb.LIMIT,
        Verb.UNBLOCK,
    }
)
SKIPPING: Final = 0.5  # of the worlds in which users interfere with runs
_SELDOM: Final = (Verb.START, Verb.START_AGAIN, Verb.KILL, Verb.STOP_ALL, Verb.STRATEGY)
_OFTEN: Final = tuple(verb for verb in Verb if verb not in _SELDOM)


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """An input at a time. Which run and step it is about depends on what is there then: `pick` says which."""

    at: int  # milliseconds after the beginning
    verb: Verb
    workflow_id: str
    pick: int = 0


def make_inputs(
    dice: Random, workflow_ids: Sequence[str], horizon: int, *, storms: bool
) -> tuple[Input, ...]:
    """Some starts, and in half of the scenarios something else, too; in a fourth something that ends runs."""
    starts = 1 + min(int(dice.expovariate(0.5)), 5)
    made = [
        _input(dice, Verb.START, workflow_ids, int(dice.random() ** 2 * horizon / 2)) for _ in range(starts)
    ]
    if storms:
        made += [_input(dice, Verb.STORM, workflow_ids, dice.randrange(horizon)) for _ in range(6)]
    if dice.random() < 0.12:
        made += [_input(dice, Verb.SET_BREAKPOINT, workflow_ids, 0)]
    mood = dice.random()
    if mood > 0.45:
        verbs = [verb for verb in (*_OFTEN, *_OFTEN, *_SELDOM) if mood > 0.7 or verb in HARMLESS]
        for at in [int(dice.random() ** 1.5 * horizon) for _ in range(dice.randint(1, 12))]:
            made += [_input(dice, dice.choice(verbs), workflow_ids, at)]
    return tuple(sorted(made, key=lambda each: each.at))


def make_pauses(seed: int, given: tuple[Input, ...], horizon: int) -> tuple[Input, ...]:
    """In an eighth of the worlds, runs are paused and resumed again and again, those with children more often
    than others, and soon after they were started. The dice are its own: other worlds are as they were.
    """
    dice = Random(f"pauses {seed}")  # noqa: S311 - dice, not secrets
    starts = [each for each in given if each.verb is Verb.START]
    if dice.random() > 0.125 or not starts:
        return given
    made = list(given)
    for _ in range(dice.randint(2, 6)):
        start = dice.choice(starts)
        at = _soon_after(dice, start.at, horizon)
        pick = dice.randrange(1 << 30) | 1  # odd: of runs that have children
        made.append(Input(at=at, verb=Verb.PAUSE, workflow_id=start.workflow_id, pick=pick))
        after = _soon_after(dice, at, horizon)
        made.append(Input(at=after, verb=Verb.RESUME, workflow_id=start.workflow_id, pick=pick))
    return tuple(sorted(made, key=lambda each: each.at))


def make_ends(seed: int, given: tuple[Input, ...], horizon: int) -> tuple[Input, ...]:
    """In an eighth of the worlds, runs with several iterations are stopped and killed, soon after they were
    started. The dice are its own: other worlds are as they were.
    """
    dice = Random(f"ends {seed}")  # noqa: S311 - dice, not secrets
    starts = [each for each in given if each.verb is Verb.START]
    if dice.random() > 0.125 or not starts:
        return given
    made = list(given)
    for _ in range(dice.randint(3, 9)):
        start = dice.choice(starts)
        at = _soon_after(dice, start.at, horizon)
        pick = dice.randrange(1 << 30) | 1  # odd: of runs that have iterations
        verb = dice.choice((Verb.STOP, Verb.KILL))
        made.append(Input(at=at, verb=verb, workflow_id=start.workflow_id, pick=pick))
    return tuple(sorted(made, key=lambda each: each.at))


def make_skips(seed: int, given: tuple[Input, ...], horizon: int) -> tuple[Input, ...]:
    """In some worlds in which users interfere with runs anyway, they skip one step after the other, soon
    after a run was started. The dice are its own: other worlds are as they were.
    """
    dice = Random(f"skips {seed}")  # noqa: S311 - dice, not secrets
    starts = [each for each in given if each.verb is Verb.START]
    if dice.random() > SKIPPING or not starts or all(each.verb in HARMLESS for each in given):
        return given
    skips = [
        Input(
            at=_soon_after(dice, start.at, horizon),
            verb=Verb.STEP_SKIP,
            workflow_id=start.workflow_id,
            pick=dice.randrange(1 << 30),
        )
        for start in starts
        for _ in range(dice.randint(2, 8))
    ]
    return tuple(sorted((*given, *skips), key=lambda each: each.at))


def _soon_after(dice: Random, at: int, horizon: int) -> int:
    """A later time, more often near than far."""
    return at + int(dice.random() ** 2 * horizon / 2)


def _input(dice: Random, verb: Verb, workflow_ids: Sequence[str], at: int) -> Input:
    return Input(at=at, verb=verb, workflow_id=dice.choice(workflow_ids), pick=dice.randrange(1 << 30))
