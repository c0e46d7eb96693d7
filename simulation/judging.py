"""The verdict of the oracle on runs that nobody interfered with."""

from collections.abc import Mapping
from typing import Final

from simulation.leaps import farthest
from simulation.oracle import Allowed, Oracle
from simulation.scenario import Scenario
from simulation.users import all_steps
from simulation.watch import Complain
from stretto.engine.inline_ids import Loop, is_inline, nearest_workflow
from stretto.engine.records import RunKey
from stretto.engine.settings import EngineSettings
from stretto.model.initiator import UpstreamFields
from stretto.model.run_config import RunPolicy
from stretto.model.status import StepStatus
from stretto.model.step import AnyStep, ForeachStep, SubworkflowStep, TemplateStep, TypedStep, WhileStep
from stretto.store.memory.database import Database
from stretto.store.memory.loading import newest_of_each_step

# A wait for functions that is read at load follows the database's clock, which may have leapt over its end.
FUNCTION_WITHIN: Final = EngineSettings().function_within
LOOPS = (Loop.FOREACH.tag, Loop.WHILE.tag)


def judge(scenario: Scenario, db: Database, complain: Complain) -> None:
    """Compare every fresh run, and every iteration, with what the oracle allows."""
    may_lack = scenario.mixed and farthest(scenario.faults) >= FUNCTION_WITHIN
    oracle = Oracle(scenario.definitions, scenario.script, may_lack_functions=may_lack)
    steps: dict[str, AnyStep] = {
        each.id: each for definition in scenario.definitions for each in all_steps(definition.workflow.steps)
    }
    poisoned = set() if scenario.poison is None else _poisoned(scenario, scenario.poison.step_id)
    for key in db.runs:
        allowed = _allowed(oracle, steps, db, key)
        if allowed is not None and db.runs[key].root.workflow_id not in poisoned:
            _compare(db, key, allowed, complain)


def _poisoned(scenario: Scenario, step_id: str) -> set[str]:
    """Workflows in which a step stands whose success can not be stored; all, if some run others."""
    found: set[str] = set()
    nested = False
    for definition in scenario.definitions:
        for each in all_steps(definition.workflow.steps):
            nested = nested or isinstance(each, SubworkflowStep | TemplateStep)
            plays = [play for row in scenario.script.rows.get(each.id, ()) for play in row]
            undo = each.compensation if isinstance(each, TypedStep) else None
            inside = {each.id, *(step.id for play in plays for step in play.added)}
            if step_id in inside or (undo is not None and undo.id == step_id):
                found.add(definition.workflow.id)
    return {each.workflow.id for each in scenario.definitions} if nested else found


def _allowed(oracle: Oracle, steps: Mapping[str, AnyStep], db: Database, key: RunKey) -> Allowed | None:
    row = db.runs[key]
    if row.record.policy is RunPolicy.UNDO:
        return None
    if not is_inline(key.workflow_id):
        return oracle.run(key.workflow_id, has_parent=row.parent is not None)
    if not key.workflow_id.startswith(LOOPS) or not isinstance(row.record.initiator, UpstreamFields):
        return None
    loop = steps.get(row.record.initiator.parent.step_id)
    if not isinstance(loop, ForeachStep | WhileStep):
        return None
    around = nearest_workflow(row.record.initiator.ancestors).workflow_id
    return oracle.iteration(around, loop.steps, key.instance_id)


def _compare(db: Database, key: RunKey, allowed: Allowed, complain: Complain) -> None:
    status = db.runs[key].record.status
    if status not in allowed.runs:
        complain(f"oracle: {key} is {status}, and only {sorted(allowed.runs)} are possible")
    found = {row.key.step_id: row.record.status for row in newest_of_each_step(db, key)}
    for step_id, ends in allowed.steps.items():
        end = found.get(step_id, StepStatus.NOT_CREATED)
        if end not in ends:
            complain(f"oracle: step {step_id} of {key} is {end}, and only {sorted(ends)} are possible")
