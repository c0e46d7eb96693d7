"""Typed parameters: merge them, evaluate them, check them.

    merged = workflow_params(workflow.params, request.run_params)        # defaults < definition < request
    found  = evaluate(merged, Scope(context=context, moment=Moment(now)))
    match found:
        case MissingKeys(keys): ...     # fetch them, then evaluate again with the same moment
        case Evaluated(): ...           # parameters by name, each with its result

    merged = step_params(StepLayers(definition=step.params, defaults=STEP_DEFAULTS, ...))
    found  = evaluate(merged, Scope(context=context, moment=moment, workflow=run_params, step=facts))
    params = merge_outputs(found, outputs, now)                          # what the step's work brought back

Promise: no clock, dice, I/O or logging; the same input gives the same answer, within the limits that the
moment carries. Failure: one exception, `ParamError`, which names the parameter and says by its `fault` what
is wrong with it.
"""

from stretto.params.context import Alone, Collected, Context, MissingKeys, RunFacts, StepFacts, Undelivered
from stretto.params.convert import use_as
from stretto.params.defaults import STEP_DEFAULTS, TYPE_DEFAULTS, WORKFLOW_DEFAULTS, for_dry_run
from stretto.params.derived import changed_names, derived_params
from stretto.params.errors import Fault, ParamError
from stretto.params.evaluate import evaluate, evaluate_one, evaluate_text
from stretto.params.evaluated import Evaluated
from stretto.params.foreach import iteration_count, iteration_values
from stretto.params.merge import merge
from stretto.params.modes import Stage
from stretto.params.outputs import is_retryable, merge_outputs
from stretto.params.prepared import (
    Prepared,
    StepLayers,
    declared_step_params,
    declared_workflow_params,
    restarted_params,
    retried_params,
    step_params,
    workflow_params,
)
from stretto.params.problems import problems_of
from stretto.params.references import references_of
from stretto.params.requests import RESERVED_NAMES, ParamLimits, check_request
from stretto.params.scope import Moment, Scope
from stretto.params.validators import check_validator
from stretto.params.values import is_null, null_of, result_text

__all__ = [
    "RESERVED_NAMES",
    "STEP_DEFAULTS",
    "TYPE_DEFAULTS",
    "WORKFLOW_DEFAULTS",
    "Alone",
    "Collected",
    "Context",
    "Evaluated",
    "Fault",
    "MissingKeys",
    "Moment",
    "ParamError",
    "ParamLimits",
    "Prepared",
    "RunFacts",
    "Scope",
    "Stage",
    "StepFacts",
    "StepLayers",
    "Undelivered",
    "changed_names",
    "check_request",
    "check_validator",
    "declared_step_params",
    "declared_workflow_params",
    "derived_params",
    "evaluate",
    "evaluate_one",
    "evaluate_text",
    "for_dry_run",
    "is_null",
    "is_retryable",
    "iteration_count",
    "iteration_values",
    "merge",
    "merge_outputs",
    "null_of",
    "problems_of",
    "references_of",
    "restarted_params",
    "result_text",
    "retried_params",
    "step_params",
    "use_as",
    "workflow_params",
]
