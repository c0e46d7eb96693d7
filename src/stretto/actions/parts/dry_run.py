"""A definition is tried without a run: what can be merged and evaluated must be so before it is published."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from stretto.actions.parts.evaluation import Evaluator, FreshRun, evaluate_here, facts_of, question_of
from stretto.definition.step_types import described
from stretto.engine.job_templates import NOTHING, TemplateKey, resolve, template_key, wanted
from stretto.engine.timeouts import timeout_millis
from stretto.model.initiator import ManualInitiator
from stretto.model.job_template import JobTemplateDefinition
from stretto.model.param import Parameter, Params
from stretto.model.run_config import RunPolicy
from stretto.model.step import AnyStep, TypedStep
from stretto.model.user import User
from stretto.model.workflow import Workflow
from stretto.params import (
    STEP_DEFAULTS,
    TYPE_DEFAULTS,
    Moment,
    Scope,
    StepLayers,
    evaluate_text,
    for_dry_run,
    step_params,
    workflow_params,
)
from stretto.params.context import VALIDATION
from stretto.ports.store import Store

NO_TYPES: Final[AbstractSet[str]] = frozenset()
NO_PARAMS: Final[Params] = {}


async def dry_run(
    store: Store,
    workflow: Workflow,
    user: User,
    now: int,
    evaluate: Evaluator = evaluate_here,
    types: AbstractSet[str] = NO_TYPES,
) -> None:
    """Raise what a run of this definition would fail with before its first step begins.

    The parameters of the workflow are evaluated, those of its top-level steps only merged: what a step reads
    is known when it runs. `types` may know of parameters that steps have by their type.
    """
    trial = await try_params(workflow, user, now, evaluate)
    trial.check_timeout()
    await merged_steps(store, workflow, trial.params, types)


@dataclass(frozen=True, slots=True)
class Trial:
    """A workflow whose parameters have been evaluated without a run."""

    workflow: Workflow
    context: FreshRun
    now: int
    params: Mapping[str, Parameter]

    def check_timeout(self) -> None:
        """Raise `BadTimeout`, or what its text fails with."""

        def interpolate(text: str) -> str:
            scope = Scope(context=self.context, moment=Moment(self.now))
            return str(evaluate_text("timeout", text, scope, self.params))

        timeout_millis(self.workflow.timeout, interpolate)


async def try_params(
    workflow: Workflow, user: User, now: int, evaluate: Evaluator, given: Params = NO_PARAMS
) -> Trial:
    """The parameters of the workflow, as a run that is started with those that are given would have them."""
    facts = facts_of(workflow, ManualInitiator(user=user), user.name, RunPolicy.START_FRESH_NEW_RUN)
    context = FreshRun(replace(facts, initiator=VALIDATION))
    merged = workflow_params(for_dry_run(workflow.params or {}), given)
    return Trial(workflow, context, now, await evaluate(question_of(merged, context, workflow.id, now)))


async def merged_steps(
    store: Store,
    workflow: Workflow,
    params: Mapping[str, Parameter],
    types: AbstractSet[str] = NO_TYPES,
) -> dict[str, Params]:
    """The parameters of the top-level steps, merged with defaults and job templates and not evaluated."""
    templates: dict[TemplateKey, JobTemplateDefinition | None] = {}
    return {step.id: await _merged_step(store, step, params, templates, types) for step in workflow.steps}


async def _merged_step(
    store: Store,
    step: AnyStep,
    params: Mapping[str, Parameter],
    templates: dict[TemplateKey, JobTemplateDefinition | None],
    types: AbstractSet[str],
) -> Params:
    kind, injected, own = str(type(step).__struct_config__.tag), NOTHING, Params()
    if isinstance(step, TypedStep):
        key = template_key(step, params)
        while key is not None and (missing := wanted(key, templates)):
            for each in missing:
                found = await store.template(*each)
                templates[each] = None if found is None else found.definition
        kind, injected, own = step.type, resolve(step, key, templates), described(types, step).params
    return step_params(
        StepLayers(
            definition=step.params or {},
            defaults=STEP_DEFAULTS,
            type_defaults={**own, **TYPE_DEFAULTS.get(kind, {})},
            template=injected.params,
            workflow=params,
        )
    )
