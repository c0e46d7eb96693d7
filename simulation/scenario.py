"""Everything that a seed decides before anything runs; the order in which things happen it decides later."""

from random import Random
from typing import Final

import msgspec

from simulation.authors import Author, Library, first_output
from simulation.cursing import PLAIN, Oddity, make_oddity
from simulation.directing import Director
from simulation.held import make_troubled_commits
from simulation.inputs import Input, make_ends, make_inputs, make_pauses, make_skips
from simulation.leaps import Leaps, make_leaps
from simulation.plays import Script
from simulation.retaining import make_forgetful
from simulation.troubles import (
    Fault,
    Poison,
    Trouble,
    Weather,
    make_faults,
    make_poison,
    make_weather,
)
from stretto.model.workflow import Definition, Semantics
from stretto.node.settings import RetentionSettings
from stretto.ports.places import GROUPS

CHILD: Final = "kid"
TEMPLATE: Final = "mould"
MIXED: Final = 0.25  # of the worlds; the dice are its own
QUEUED: Final = 0.3  # of the worlds; the dice are its own
DRIVEN_EVERY: Final = 16  # seeds
ROOTS: Final = "ab"  # prefixes of the workflows that users start


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """A world to be: small enough to be run in milliseconds, and shrunk by leaving parts of it out."""

    seed: int
    order: int  # the seed of everything that is decided while it runs
    definitions: tuple[Definition, ...]
    script: Script
    inputs: tuple[Input, ...]
    faults: tuple[Fault, ...] = ()
    weather: Weather = Weather()
    slots: int = 1  # places for nodes
    groups: int = GROUPS  # fewer than in a real database, so that runs share them
    horizon: int = 20_000  # milliseconds until the trouble is over
    poison: Poison | None = None
    ghosts: bool = False  # events come that are too late, or about something else
    impatient: bool = False  # nodes park runs soon, sweep often, and take little at once
    retention: RetentionSettings | None = None  # None: nothing is ever forgotten
    mixed: bool = False  # processes know different functions, until the trouble is over
    queued: bool = False  # launches wait inside of the runtimes of nodes before their work begins
    driven: bool = False  # nodes run in the asyncio loop of the product
    oddity: Oddity = PLAIN
    used: dict[str, int] = {}  # constructs, for the counters


def make_scenario(seed: int) -> Scenario:
    """The scenario of a seed."""
    dice = Random(f"scenario {seed}")  # noqa: S311 - dice, not secrets
    restless = dice.random() < 0.25
    director = Director(dice, slow=restless)
    used: dict[str, int] = {}
    definitions: list[Definition] = []

    def write(workflow_id: str, prefix: str, most: int, library: Library) -> str:
        author = Author(dice, director, library)
        definitions.append(author.definition(workflow_id, prefix, most, triggers=prefix in ROOTS))
        for construct, count in author.used.items():
            used[construct] = used.get(construct, 0) + count
        return workflow_id

    children: dict[str, str | None] = {}
    if dice.random() < 0.6:
        write(CHILD, "k", 2, Library())
        children[CHILD] = first_output(definitions[0].workflow.steps)
    templates = (write(TEMPLATE, "m", 2, Library()),) if dice.random() < 0.3 else ()
    library = Library(children, templates)
    roots = [write(f"flow_{name}", name, 6, library) for name in ROOTS[: dice.choice([1, 1, 2])]]
    definitions = [_with_semantics(seed, each) for each in definitions]
    used["semantics stretto"] = sum(not each.workflow.follows_maestro for each in definitions)
    horizon = dice.choice([3_000, 8_000, 8_000, 20_000])
    slots = dice.choices([1, 2, 3, 4], [4, 5, 3, 1])[0]
    script = director.script()
    made = Scenario(
        seed=seed,
        order=dice.randrange(1 << 30),
        definitions=tuple(definitions),
        script=script,
        inputs=make_inputs(
            dice, roots, horizon, storms=any(each.workflow.signal_triggers for each in definitions)
        ),
        faults=make_faults(dice, slots, horizon, restless=restless),
        weather=make_weather(dice),
        slots=slots,
        groups=dice.choices([2, 4, 8, 16, GROUPS], [4, 3, 4, 2, 0.2])[0],
        horizon=horizon,
        poison=make_poison(dice, list(script.rows)),
        impatient=dice.random() < 0.4,
        ghosts=dice.random() < 0.6,
        oddity=make_oddity(seed, horizon),
        mixed=Random(f"functions {seed}").random() < MIXED,  # noqa: S311 - dice, not secrets
        driven=seed % DRIVEN_EVERY == DRIVEN_EVERY - 1,
        used=used,
    )
    made = _with_queues(made)
    made = msgspec.structs.replace(made, faults=(*made.faults, *make_troubled_commits(seed, made.slots)))
    forgetful = make_forgetful(seed, made.weather, made.faults, slots)
    inputs = make_skips(seed, make_pauses(seed, made.inputs, horizon), horizon)
    ended = make_ends(seed, inputs, horizon)
    if ended is not inputs:  # and their ends take several decisions
        made = msgspec.structs.replace(made, impatient=True)
    made = msgspec.structs.replace(made, inputs=ended, **msgspec.structs.asdict(forgetful))
    return _with_leaps(made, roots)


def _with_leaps(made: Scenario, roots: list[str]) -> Scenario:
    """Not where things are forgotten, which would be old at once, and not where there are schedules: of
    hours, not all moments are caught up.
    """
    if made.retention is not None or any(each.workflow.time_triggers for each in made.definitions):
        return made
    leaps = Leaps(made.definitions, made.inputs, made.faults)
    return msgspec.structs.replace(made, **make_leaps(made.seed, leaps, roots, made.horizon)._asdict())


def _with_queues(made: Scenario) -> Scenario:
    """In some worlds launches wait inside of runtimes, and nodes stand still meanwhile for longer than their
    leases last. The dice are its own: other worlds do not change.
    """
    dice = Random(f"queues {made.seed}")  # noqa: S311 - dice, not secrets
    if dice.random() >= QUEUED:
        return made
    slots = max(2, made.slots)
    begin = dice.randrange(200, 3_000)
    freezes = tuple(
        Fault(kind=Trouble.FREEZE, slot=dice.randrange(slots), at=at, lasts=dice.choice([15_000, 25_000]))
        for at in range(begin, made.horizon, 4_000)
    )
    return msgspec.structs.replace(made, queued=True, slots=slots, faults=(*made.faults, *freezes))


def _with_semantics(seed: int, definition: Definition) -> Definition:
    """Half of the definitions do not follow Maestro. The dice are its own: nothing else changes."""
    workflow = definition.workflow
    ours = Random(f"semantics {seed} {workflow.id}").random() < 0.5  # noqa: S311 - dice, not secrets
    semantics = Semantics.STRETTO if ours else None
    return msgspec.structs.replace(
        definition, workflow=msgspec.structs.replace(workflow, semantics=semantics)
    )
