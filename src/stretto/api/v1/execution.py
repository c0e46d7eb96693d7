"""Parameters that a request to start an instance brings."""

from collections.abc import Mapping
from typing import Any

from stretto.api.v1.shapes import V1Execution
from stretto.definition.doubts.texts import reads_of, words_of
from stretto.definition.functions import all_steps
from stretto.definition.rules.visits import WORKFLOW, Visit
from stretto.model.errors import InvalidRequest
from stretto.model.param import Params
from stretto.model.step import TemplateStep
from stretto.model.suggest import hints_for
from stretto.model.workflow import Definition, Workflow
from stretto.params.defaults import WORKFLOW_DEFAULTS
from stretto.params.plain import param_of_json


def run_params_of(workflow: Workflow, given: Mapping[str, Any]) -> Params:
    """The parameters of the instance, of any JSON type."""
    declared = workflow.params or {}
    return {name: param_of_json(value, declared.get(name)) for name, value in given.items()}


def task_params_of(workflow: Workflow, given: Mapping[str, Mapping[str, Any]]) -> dict[str, Params]:
    """The parameters of single tasks, of any JSON type."""
    declared = {step.id: step.params or {} for step in all_steps(workflow.steps)}
    return {
        task_id: {
            name: param_of_json(value, declared.get(task_id, {}).get(name)) for name, value in params.items()
        }
        for task_id, params in given.items()
    }


def check_names(workflow: Workflow, given: V1Execution) -> None:
    """Refuse parameters that the workflow neither declares nor reads. Its templates may read any name."""
    if not given.params or any(isinstance(step, TemplateStep) for step in all_steps(workflow.steps)):
        return
    declared = workflow.params or {}
    unknown = [name for name in given.params if name not in declared and name not in WORKFLOW_DEFAULTS]
    if not unknown:
        return
    read = words_of(Definition(workflow=workflow))
    lost = [name for name in unknown if name not in read]
    if lost:
        raise InvalidRequest(
            f"Workflow [{workflow.id}] has no parameter {', '.join(f'[{name}]' for name in lost)}",
            hint=_hint(lost, workflow),
        )


def _hint(lost: list[str], workflow: Workflow) -> str:
    reads = {
        read.name
        for step in all_steps(workflow.steps)
        for read in reads_of(Visit(step, (WORKFLOW, step.id), ()))
        if read.call is None
    }
    known = sorted({*(workflow.params or {}), *reads})
    return "; ".join(hints_for(lost, known)) or f"it has {', '.join(known) or 'none'}"
