"""A smaller scenario that goes wrong in the same way: parts are left out as long as it does."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec

from simulation.campaign import kind_of, live
from simulation.cursing import PLAIN
from simulation.plays import Play, Script
from simulation.scenario import Scenario
from simulation.troubles import CALM
from stretto.model.step import AnyStep, ForeachStep, Transition, WhileStep
from stretto.model.workflow import Definition

ORDERS: Final = 4  # orders of events that are tried: leaving something out changes the dice
# What a scenario can do without: its field, and the value that means that it is not there.
EXTRAS: Final[tuple[tuple[str, str, Any], ...]] = (
    ("poison", "poison", None),
    ("ghosts", "ghosts", False),
    ("forgetting", "retention", None),
    ("what is odd", "oddity", PLAIN),
    ("the asyncio loop", "driven", False),
    ("impatience", "impatient", False),
)

replace = msgspec.structs.replace


def shrink(scenario: Scenario, told: Callable[[str], None] = lambda _text: None) -> Scenario:
    """The smallest scenario that is found with the kind of violation that the given one has."""
    violations = live(scenario)
    if not violations:
        return scenario
    kind = kind_of(violations[0])
    progress = True
    while progress:
        progress = False
        for what, smaller in smaller_ones(scenario):
            found = _still_fails(smaller, kind)
            if found is not None:
                told(f"without {what}")
                scenario, progress = found, True
                break
    return scenario


def _still_fails(scenario: Scenario, kind: str) -> Scenario | None:
    for turn in range(ORDERS):
        tried = replace(scenario, order=scenario.order + turn)
        violations = live(tried)
        if violations and kind_of(violations[0]) == kind:
            return tried
    return None


def smaller_ones(scenario: Scenario) -> Iterator[tuple[str, Scenario]]:
    """The scenario without one thing, the largest things first."""
    for place, each in enumerate(scenario.inputs):
        yield f"the input {each.verb}", replace(scenario, inputs=_without(scenario.inputs, place))
    for place, fault in enumerate(scenario.faults):
        yield f"the fault {fault.kind}", replace(scenario, faults=_without(scenario.faults, place))
    if scenario.weather != CALM:
        yield "bad weather", replace(scenario, weather=CALM)
        for name in scenario.weather.__struct_fields__:
            calm = getattr(CALM, name)
            if getattr(scenario.weather, name) != calm:
                yield (
                    f"{name} in the weather",
                    replace(scenario, weather=replace(scenario.weather, **{name: calm})),
                )
    if scenario.slots > 1:
        yield "one place for a node", replace(scenario, slots=scenario.slots - 1)
    for what, name, without in EXTRAS:
        if getattr(scenario, name) != without:
            yield what, replace(scenario, **{name: without})
    yield from _smaller_definitions(scenario)
    yield from _smaller_scripts(scenario)


def _without(items: tuple[Any, ...], place: int) -> tuple[Any, ...]:
    return items[:place] + items[place + 1 :]


# ---------------------------------------------------------------------------------------------- definitions
def _smaller_definitions(scenario: Scenario) -> Iterator[tuple[str, Scenario]]:
    for place, definition in enumerate(scenario.definitions):
        workflow = definition.workflow
        started = {each.workflow_id for each in scenario.inputs}
        if len(scenario.definitions) > 1 and workflow.id not in started:
            yield (
                f"the workflow {workflow.id}",
                replace(scenario, definitions=_without(scenario.definitions, place)),
            )
        for what, steps in smaller_levels(workflow.steps):
            if steps:
                yield what, _with(scenario, place, replace(workflow, steps=steps))
        for name in ("timeout", "tags", "criticality", "instance_step_concurrency", "params"):
            if getattr(workflow, name) is not None:
                yield f"{name} of {workflow.id}", _with(scenario, place, replace(workflow, **{name: None}))


def _with(scenario: Scenario, place: int, workflow: Any) -> Scenario:
    made: Definition = replace(scenario.definitions[place], workflow=workflow)
    before, after = scenario.definitions[:place], scenario.definitions[place + 1 :]
    return replace(scenario, definitions=(*before, made, *after))


def smaller_levels(steps: Sequence[AnyStep]) -> Iterator[tuple[str, tuple[AnyStep, ...]]]:
    """A level without one step, or with a step that has less."""
    for place, step in enumerate(steps):
        rest = [each for at, each in enumerate(steps) if at != place]
        yield f"the step {step.id}", tuple(_without_edge(each, step.id) for each in rest)
        for what, less in _smaller_steps(step):
            yield what, tuple(less if each is step else each for each in steps)


def _without_edge(step: AnyStep, target: str) -> AnyStep:
    kept = {name: text for name, text in step.transition.successors.items() if name != target}
    return replace(step, transition=Transition(successors=kept))


def _smaller_steps(step: AnyStep) -> Iterator[tuple[str, AnyStep]]:
    for name in ("failure_mode", "tags", "signal_dependencies", "signal_outputs", "compensation"):
        if getattr(step, name, None) is not None:
            yield f"{name} of {step.id}", replace(step, **{name: None})
    if isinstance(step, ForeachStep | WhileStep):
        for what, inner in smaller_levels(step.steps):
            if inner:
                yield what, replace(step, steps=inner)


# -------------------------------------------------------------------------------------------------- scripts
def _smaller_scripts(scenario: Scenario) -> Iterator[tuple[str, Scenario]]:
    """Work that does something odd does nothing odd."""
    plain = Play()
    for step_id, rows in scenario.script.rows.items():
        if any(play != plain for row in rows for play in row):
            less = {**scenario.script.rows, step_id: ((plain,),)}
            script = Script(less, scenario.script.approved)
            yield f"the play of {step_id}", replace(scenario, script=script)
