"""Authors: write small definitions of every construct, and with each step what its work will do.

The dice decide. Whatever they say, a run of the definition can end: work that never ends by itself has a
timeout, and no step holds a scarce permit while it waits for steps inside it.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final, NamedTuple

import msgspec

from simulation.broken_loops import BREAKING, broken_steps
from simulation.directing import Director
from simulation.graphs import anyhow, apart, chain, fan
from simulation.policies import NEEDS_A_VALUE, dependency, failing_late, retries
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.properties import Properties, RunStrategy, RunStrategyRule
from stretto.model.retry import RetryPolicy
from stretto.model.signal import SignalOutputDefinition
from stretto.model.step import (
    AnyStep,
    FailureMode,
    ForeachStep,
    SubworkflowStep,
    TemplateStep,
    TypedStep,
)
from stretto.model.tag import Tag
from stretto.model.trigger import CronTrigger, SignalTrigger, SignalTriggerEntry
from stretto.model.user import User
from stretto.model.workflow import Criticality, Definition, Workflow
from stretto.testing.shapes import (
    UNIQUE,
    computed,
    edges,
    foreach,
    noop,
    number,
    numbers,
    step,
    subworkflow,
    while_,
)

LOCAL: Final = "Python"  # work that lives in a node, and dies with it
OUTSIDE: Final = "Shell"  # work that lives elsewhere, and is found again
UNKNOWN: Final = "Titus"  # nobody here can do it
SIGNALS: Final = ("rain", "snow")  # steps wait for these, and announce them
TRIGGERS: Final = ("hail", "wind")  # nobody but users announces these: else a run might start itself
TAGS: Final = (Tag(name="scarce", permit=1), Tag(name="few", permit=2), Tag(name="plain"))
LIMITS: Final = {tag.name: tag.permit for tag in TAGS if tag.permit is not None}
RATED: Final = 0.06  # of the steps that work have a rate
OWNER: Final = User(name="ann")
Make = Callable[[str, list[AnyStep], int], AnyStep]  # id, the steps before it, depth
TOO_LONG: Final = computed("x = 0; for (i = 0; i < 9; i += 1) { x = x + i; } return x;")  # for some worlds
BROKEN: Final = computed("x = 1; for (i = 0; i < 9; i += 1) { x = x + i; } return x / 0;")  # and no value
MISSING: Final = "nobody"  # a workflow that was never published


class Library(NamedTuple):
    """Other workflows that a step may run, or stand for."""

    children: Mapping[str, str | None] = {}
    templates: tuple[str, ...] = ()


class Author:
    """Writes workflows. Constructs that it has used are counted in `used`."""

    def __init__(self, dice: Random, director: Director, library: Library) -> None:
        self._dice = dice
        self._director = director
        self._library = library
        # Dice of their own: the others fall as before. The numbers alone have the same hash in each process.
        own = hash(dice.getstate()[1])
        self._undo_dice, self._rate_dice, self._late_dice = (Random(own + each) for each in range(3))  # noqa: S311
        self._loop_dice = Random(own + 3)  # noqa: S311 - as above
        self.used: dict[str, int] = {}

    def definition(self, workflow_id: str, prefix: str, most: int, *, triggers: bool = False) -> Definition:
        """A workflow with at most so many steps on its first level, and its properties."""
        dice = self._dice
        by_signal = triggers and self._seldom(0.1, "signal trigger")
        by_time = triggers and not by_signal and self._seldom(0.06, "time trigger")
        workflow = Workflow(
            id=workflow_id,
            steps=self._level(prefix, 0, most),
            timeout=dice.randint(3, 30) if self._seldom(0.06, "run timeout") else None,
            instance_step_concurrency=dice.randint(1, 2)
            if self._seldom(0.06, "instance step concurrency")
            else None,
            undo_on_stop=self._undo_dice.random() < 0.3 or None,
            criticality=dice.choice(list(Criticality)) if self._seldom(0.1, "criticality") else None,
            tags=(TAGS[2],) if self._seldom(0.1, "workflow tag") else None,
            params={"w": number(dice.randint(0, 4))} if dice.random() < 0.3 else None,
            signal_triggers=(self._signal_trigger(),) if by_signal else None,
            time_triggers=(CronTrigger(cron="0/7 * * * * ?", timezone="UTC"),) if by_time else None,
        )
        return Definition(workflow=workflow, properties=self._properties())

    def _signal_trigger(self) -> SignalTrigger:
        keys = ("day",) if self._seldom(0.5, "joined signals") else None
        return SignalTrigger(definitions={name: SignalTriggerEntry(join_keys=keys) for name in TRIGGERS})

    def _properties(self) -> Properties:
        dice = self._dice
        rule = dice.choice([*RunStrategyRule, RunStrategyRule.PARALLEL, RunStrategyRule.PARALLEL])
        self._note(f"strategy {rule.lower()}")
        slots = dice.randint(1, 3) if rule is RunStrategyRule.PARALLEL else 1
        return Properties(
            owner=OWNER,
            run_strategy=RunStrategy(rule=rule, workflow_concurrency=slots),
            step_concurrency=dice.randint(1, 3) if self._seldom(0.1, "step concurrency") else None,
        )

    def _note(self, construct: str) -> None:
        self.used[construct] = self.used.get(construct, 0) + 1

    def _seldom(self, chance: float, construct: str) -> bool:
        if self._dice.random() >= chance:
            return False
        self._note(construct)
        return True

    # ----------------------------------------------------------------------------------------------- levels
    def _level(self, prefix: str, depth: int, most: int) -> tuple[AnyStep, ...]:
        """Some steps and the edges between them: from earlier ones to later ones."""
        dice = self._dice
        size = 1 + min(int(dice.expovariate(0.45)), most - 1)
        ids = [f"{prefix}{place}" for place in range(size)]
        shape = dice.choice([chain, fan, anyhow, anyhow, apart])
        self._note(f"graph {shape.__name__}")
        after = shape(dice, ids)
        made: dict[str, AnyStep] = {}
        for step_id in ids:
            before = [each for each in made.values() if step_id in each.transition.successors]
            made[step_id] = self._step(step_id, after[step_id], before, depth)
        if shape is chain and size > 1 and self._seldom(0.12, "redirect"):
            self._go_back(list(made.values()))
        return tuple(made.values())

    def _go_back(self, chain: list[AnyStep]) -> None:
        """One step of a chain goes back to an earlier one, the first time that it runs."""
        place = self._dice.randrange(1, len(chain))
        if isinstance(chain[place], TypedStep) and chain[place].type in {LOCAL, OUTSIDE}:  # type: ignore[union-attr]
            self._director.redirect(chain[place].id, chain[self._dice.randrange(place)].id)

    def _step(self, step_id: str, after: list[str], before: list[AnyStep], depth: int) -> AnyStep:
        kind = self._kind(depth)
        self._note(kind)
        made = self._make(kind)(step_id, before, depth)
        fields: dict[str, Any] = {"failure_mode": self._failure_mode(), **self._signals(made)}
        if kind in _LEAVES:
            fields |= self._tags() | self._rate()
        made = msgspec.structs.replace(made, **fields)
        pairs = [(target, self._condition(made)) for target in after]
        made = msgspec.structs.replace(made, transition=edges(*pairs))
        late = failing_late(self._late_dice, made)
        if late is not None:
            self._note("error behind the work")
        return late or made

    def _make(self, kind: str) -> Make:
        return {
            "work": self._work,
            "noop": self._nothing,
            "join": self._join,
            "sleep": self._sleep,
            "wait": self._wait,
            "unknown type": self._unknown,
            "foreach": self._foreach,
            "while": self._while,
            "subworkflow": self._subworkflow,
            "template": self._template,
        }[kind]

    def _kind(self, depth: int) -> str:
        weights = dict(_WEIGHTS)
        if depth > 1:
            weights = {kind: weight for kind, weight in weights.items() if kind in _LEAVES}
        if not self._library.children:
            weights.pop("subworkflow", None)
        if not self._library.templates:
            weights.pop("template", None)
        return self._dice.choices(list(weights), list(weights.values()))[0]

    def _failure_mode(self) -> FailureMode | None:
        modes: list[FailureMode | None] = [None, *FailureMode]
        mode = self._dice.choices(modes, [10, 2, 1, 2])[0]
        if mode is not None:
            self._note(f"failure mode {mode.lower()}")
        return mode

    def _condition(self, made: AnyStep) -> str:
        choices = ["true"] * 6 + ["1 > 2", NEEDS_A_VALUE]
        if "n" in (made.params or {}):
            choices += ["n > 2"] * 2 + ["n <= 2"] * 2
        chosen = self._dice.choice(choices)
        if chosen != "true":
            self._note("conditional edge")
        return chosen

    def _tags(self) -> dict[str, Any]:
        if not self._seldom(0.15, "tag"):
            return {}
        return {"tags": tuple(self._dice.sample(TAGS, self._dice.randint(1, 2)))}

    def _rate(self) -> dict[str, Any]:
        if self._rate_dice.random() >= RATED:
            return {}
        self._note("rate")
        return {"rate": self._rate_dice.choice(["1/second", "2/second", "2/minute"])}

    def _signals(self, made: AnyStep) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if self._seldom(0.06, "signal dependency"):
            wanted = self._dice.sample(SIGNALS, self._dice.randint(1, 2))
            fields["signal_dependencies"] = tuple(dependency(self._dice, each) for each in wanted)
            if isinstance(made, TypedStep) and self._seldom(0.5, "parameter of a signal"):
                day = computed("return params.getFromSignalDependency('0', 'day');")
                fields["params"] = {**(made.params or {}), "day": day}
        if self._seldom(0.06, "signal output"):
            output = SignalOutputDefinition(
                name=self._dice.choice(SIGNALS), params={"day": number(self._dice.randint(1, 2))}
            )
            fields["signal_outputs"] = (output,)
        return fields

    # ---------------------------------------------------------------------------------------------- leaves
    def _nothing(self, step_id: str, before: list[AnyStep], _depth: int) -> AnyStep:
        """NoOp; if it stands behind one step only, it may read what that one left."""
        params = self._reading(before)
        return noop(step_id, params=params) if params else noop(step_id)

    def _join(self, step_id: str, _before: list[AnyStep], _depth: int) -> AnyStep:
        return step(step_id, type="Join")

    def _reading(self, before: list[AnyStep]) -> dict[str, ParamDefinition]:
        dice = self._dice
        if dice.random() < 0.15:
            self._note("fetched parameter")
            return {"p": UNIQUE}
        if dice.random() < 0.08:
            self._note("long expression")
            return {"p": TOO_LONG if dice.random() < 0.8 else BROKEN}
        if len(before) != 1 or dice.random() < 0.4:
            return {}
        (above,) = before
        if isinstance(above, ForeachStep) and (inner := _with_output(above)) is not None:
            self._note("collected parameter")
            expression = f"return params.getFromForeach('{above.id}', '{inner}', 'n');"
            return {"p": computed(expression, ParamType.LONG_ARRAY)}
        if isinstance(above, SubworkflowStep) and above.sync:
            child = str((above.params or {})["subworkflow_id"].value)
            told = self._library.children.get(child)
            if told is not None:
                self._note("parameter of a subworkflow")
                return {"p": computed(f"return params.getFromSubworkflow('{above.id}', '{told}', 'n');")}
        if _has_output(above):
            self._note("parameter of a step")
            return {"n": computed(f"{above.id}__n + 1")}
        return {}

    def _sleep(self, step_id: str, _before: list[AnyStep], _depth: int) -> AnyStep:
        return step(step_id, type="Sleep", params={"sleep_seconds": number(self._dice.randint(0, 4))})

    def _wait(self, step_id: str, _before: list[AnyStep], _depth: int) -> AnyStep:
        self._director.person(step_id)
        return step(step_id, type="Wait")

    def _unknown(self, step_id: str, _before: list[AnyStep], _depth: int) -> AnyStep:
        return step(step_id, type=UNKNOWN)

    def _work(self, step_id: str, before: list[AnyStep], depth: int) -> AnyStep:
        """Work of a runtime, with its retries, its timeout and its output."""
        dice = self._dice
        fields: dict[str, Any] = {
            "type": LOCAL if dice.random() < 0.7 else OUTSIDE,
            "retry_policy": self._retries(),  # the default one waits for minutes
        }
        params = {**self._reading(before), **({"n": number(1)} if dice.random() < 0.5 else {})}
        if params:
            fields["params"] = params
        if self._seldom(0.15, "step timeout"):
            fields["timeout"] = dice.randint(2, 12)
        made = step(step_id, **fields)
        added = self._added(step_id) if depth < 2 and self._seldom(0.05, "added steps") else ()
        self._director.work(made, added)
        if depth == 0 and self._seldom(0.06, "compensation"):
            undo = step(f"{step_id}u", type=LOCAL, retry_policy=self._retries())
            self._director.work(undo)
            made = msgspec.structs.replace(made, compensation=undo)
        return self._undone(made, 0.25, "compensation below")

    def _undone(self, made: TypedStep, chance: float, construct: str) -> TypedStep:
        """Maybe with a step that undoes it."""
        if made.compensation is not None or self._undo_dice.random() >= chance:
            return made
        self._note(construct)
        undo = step(f"{made.id}u", type=LOCAL, retry_policy=retries(self._undo_dice, conditional=False))
        self._director.undo(undo, self._undo_dice)
        return msgspec.structs.replace(made, compensation=undo)

    def _added(self, step_id: str) -> tuple[AnyStep, ...]:
        first = step(f"{step_id}x", f"{step_id}y", retry_policy=self._retries())
        second = noop(f"{step_id}y")
        third = step(f"{step_id}z", retry_policy=self._retries())
        for each in (first, third):
            self._director.work(each)
        return self._undone(first, 0.5, "compensation of an added step"), second, third

    def _retries(self) -> RetryPolicy:
        conditional = self._seldom(0.06, "retry_if")
        self._note("retries")
        return retries(self._dice, conditional=conditional)

    # --------------------------------------------------------------------------------------------- nesting
    def _foreach(self, step_id: str, _before: list[AnyStep], depth: int) -> AnyStep:
        dice = self._dice
        loop: dict[str, ParamDefinition] = {f"i{depth}": numbers(*range(dice.randint(0, 4)))}
        if dice.random() < 0.2:
            loop[f"j{depth}"] = numbers(*range(dice.randint(1, 2)))
            self._note("foreach over two parameters")
        fields: dict[str, Any] = {}
        if dice.random() < 0.6:
            fields["concurrency"] = dice.randint(1, 3)
        if self._seldom(0.2, "strict ordering"):
            fields["strict_ordering"] = True
        if depth:
            self._note("nested loop")
        steps = self._level(f"{step_id}i", depth + 1, 2)
        if self._loop_dice.random() < BREAKING:
            self._note("broken loop")
            loop = {f"i{depth}": numbers(0, 1)}
            steps = broken_steps(f"{step_id}i", self._director, self._loop_dice)
        return foreach(step_id, loop, *steps, **fields)

    def _while(self, step_id: str, _before: list[AnyStep], depth: int) -> AnyStep:
        dice = self._dice
        name = f"k{depth}"
        count = noop(f"{step_id}c", params={name: computed(f"{name} + 1")})
        rounds = dice.randint(0, 3)
        fields: dict[str, Any] = {}
        if self._seldom(0.15, "while with a limit"):
            fields["max_iterations"] = dice.randint(1, 3)
        body = self._level(f"{step_id}i", depth + 1, 2)
        return while_(step_id, f"{name} < {rounds}", {name: number(0)}, *body, count, **fields)

    def _subworkflow(self, step_id: str, _before: list[AnyStep], _depth: int) -> AnyStep:
        dice = self._dice
        sync = not self._seldom(0.25, "asynchronous subworkflow")
        explicit = dice.random() < 0.3
        child = dice.choice(list(self._library.children))
        if self._seldom(0.12, "subworkflow that is not there"):
            child = MISSING
        made = subworkflow(step_id, child, sync=sync, explicit_params=explicit)
        if self._seldom(0.1, "subworkflow timeout"):
            made = msgspec.structs.replace(made, timeout=dice.randint(3, 12))
        return made

    def _template(self, step_id: str, _before: list[AnyStep], _depth: int) -> AnyStep:
        return TemplateStep(id=step_id, sub_type=self._dice.choice(self._library.templates))


_WEIGHTS: Final[Mapping[str, float]] = {
    "work": 10,
    "noop": 3,
    "join": 0.5,
    "sleep": 1,
    "wait": 0.7,
    "unknown type": 0.2,
    "foreach": 1.5,
    "while": 0.8,
    "subworkflow": 2,
    "template": 0.7,
}
_LEAVES: Final = frozenset({"work", "noop", "join", "sleep", "wait", "unknown type"})


def _with_output(loop: ForeachStep) -> str | None:
    """A step of a loop whose output can be collected, if there is an iteration to collect it from."""
    rounds = [len(each.value) for each in (loop.params or {})["loop_params"].value.values()]
    return first_output(loop.steps) if all(rounds) else None


def first_output(steps: Sequence[AnyStep]) -> str | None:
    """A step that always begins, and has an output."""
    behind = {target for each in steps for target in each.transition.successors}
    for each in steps:
        if _has_output(each) and each.id not in behind:
            return each.id
    return None


def _has_output(step: AnyStep) -> bool:
    """Of a step whose parameters have no values, nothing can be read: the oracle does not go into that."""
    params = step.params or {}
    return isinstance(step, TypedStep) and "n" in params and BROKEN not in params.values()
