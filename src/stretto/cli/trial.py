"""What a server refuses though the rules of a definition allow it: tried here, without one.

A server knows more: who may push, job templates, which functions running processes know, the runs that a run
strategy must go on with.
"""

import asyncio
from typing import Final

import msgspec

from stretto.actions.parts.definition_trial import try_definition
from stretto.actions.parts.evaluation import evaluate_here
from stretto.cli.database import caller
from stretto.definition import Checked
from stretto.definition.parse import Options
from stretto.model.problem import Code, Problem
from stretto.model.step import TypedStep
from stretto.model.workflow import Definition
from stretto.node.clock import SystemClock
from stretto.params.requests import DEFAULT_LIMITS
from stretto.store.memory import Database, MemoryStore

NO_STEPS: Final = "the workflow has no steps: `stretto run` runs it, and a server refuses the push"


def tried(found: Checked, options: Options) -> Checked:
    """Valid definitions, with the problems that a push would find in them."""
    if found.problems:
        return found
    problems = [
        each for definition in found.definitions for each in asyncio.run(_problems(definition, options))
    ]
    empty = [
        Problem(code=Code.EMPTY, path="workflow.steps", message=f"{definition.workflow.id}: {NO_STEPS}")
        for definition in found.definitions
        if not definition.workflow.steps
    ]
    return found._replace(problems=tuple(problems), warnings=(*found.warnings, *empty))


async def _problems(definition: Definition, options: Options) -> list[Problem]:
    store = MemoryStore(Database(SystemClock()))
    how = options.limits, DEFAULT_LIMITS, evaluate_here
    wrong = (await try_definition(store, caller(), definition, {}, how)).problems
    name = definition.workflow.id
    return [
        msgspec.structs.replace(each, message=f"{name}: {each.message}")
        for each in wrong
        if not each.path.startswith(_templated(definition))
    ]


def _templated(definition: Definition) -> tuple[str, ...]:
    """Where steps stand whose parameters a job template completes, which a server knows."""
    steps = enumerate(definition.workflow.steps)
    return tuple(
        f"workflow.steps[{place}]."
        for place, step in steps
        if isinstance(step, TypedStep) and step.sub_type is not None
    )
