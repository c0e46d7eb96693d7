"""A definition is tried without a run: what can be merged and evaluated must be so before it is published."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from stretto.actions.parts.evaluation import Evaluator, FreshRun, evaluate_here, facts_of, question_of
from stretto.actions.parts.offload import offload, size_of
from stretto.definition.step_types import described
from stretto.engine.job_templates import NOTHING, TemplateKey, resolve, template_key, wanted
from stretto.engine.timeouts import timeout_millis
from stretto.model.errors import StrettoError
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
    declared_step_params,
    evaluate_text,
    for_dry_run,
    step_params,
    workflow_params,
)
from stretto.params.context import VALIDATION
from stretto.ports.store import Store
from stretto.ports.templates import read_template
from stretto.sel import Budget, compile_template

NO_TYPES: Final[AbstractSet[str]] = frozenset()
NO_PARAMS: Final[Params] = {}
TRIAL_VISITS: Final = 100_000  # of all expressions of a workflow together: a few milliseconds
TRIAL_MEMORY: Final = 8_000_000


async def dry_run(
    store: Store,
    workflow: Workflow,
    user: User,
    now: int,
    evaluate: Evaluator = evaluate_here,
    types: AbstractSet[str] = NO_TYPES,
) -> None:
    """Raise what a run of this definition would fail with before its first step begins.

    The parameters of the workflow are evaluated within a small budget, so that whoever publishes never waits
    for a long expression: what needs more is left to the runs. Those of its top-level steps are only merged:
    what a step reads is known when it runs. `types` may know of parameters that steps have by their type.
    """
    trial = await try_params(workflow, user, now, evaluate)
    trial.check_timeout()
    await merged_steps(store, workflow, trial.params, types)


@dataclass(frozen=True, slots=True)
class Trial:
    """A workflow whose parameters have been evaluated without a run, as far as the budget of a trial goes."""

    workflow: Workflow
    context: FreshRun
    now: int
    params: Mapping[str, Parameter]
    deferred: AbstractSet[str] = frozenset()  # parameters that only a run evaluates

    def check_timeout(self) -> None:
        """Raise `BadTimeout`, or what its text fails with; a timeout that reads a deferred parameter waits
        for the run, too.
        """
        timeout = self.workflow.timeout
        if isinstance(timeout, str) and not self.deferred.isdisjoint(compile_template(timeout).names):
            return

        def interpolate(text: str) -> str:
            scope = Scope(context=self.context, moment=Moment(self.now))
            return str(evaluate_text("timeout", text, scope, self.params))

        timeout_millis(timeout, interpolate)


async def try_params(
    workflow: Workflow, user: User, now: int, evaluate: Evaluator, given: Params = NO_PARAMS
) -> Trial:
    """The parameters of the workflow, as a run that is started with those that are given would have them."""
    facts = facts_of(workflow, ManualInitiator(user=user), user.name, RunPolicy.START_FRESH_NEW_RUN)
    context = FreshRun(replace(facts, initiator=VALIDATION))
    merged = workflow_params(for_dry_run(workflow.params or {}), given)
    budget = Budget(visits=TRIAL_VISITS, memory=TRIAL_MEMORY)
    found = await evaluate(question_of(merged, context, workflow.id, now, budget))
    return Trial(workflow, context, now, found, merged.keys() - found.keys())


async def merged_steps(
    store: Store,
    workflow: Workflow,
    params: Mapping[str, Parameter],
    types: AbstractSet[str] = NO_TYPES,
) -> dict[str, Params]:
    """The parameters of the top-level steps, merged with defaults and job templates and not evaluated."""
    steps, failed = await try_steps(store, workflow, params, types)
    for error in failed.values():
        raise error
    return steps


async def try_steps(
    store: Store,
    workflow: Workflow,
    params: Mapping[str, Parameter],
    types: AbstractSet[str] = NO_TYPES,
) -> tuple[dict[str, Params], dict[int, StrettoError]]:
    """The same with all errors, each at the place of its step."""
    size = size_of(workflow)
    templates = await _templates(store, await offload(size, _template_keys, workflow.steps, params))

    def merge() -> tuple[dict[str, Params], dict[int, StrettoError]]:
        made: dict[str, Params] = {}
        failed: dict[int, StrettoError] = {}
        for place, step in enumerate(workflow.steps):
            try:
                made[step.id] = step_params(_layers(step, params, templates, types))
            except StrettoError as error:
                failed[place] = error
        return made, failed

    return await offload(size, merge)


async def declared_steps(
    store: Store, workflow: Workflow, types: AbstractSet[str] = NO_TYPES
) -> dict[str, Params]:
    """The parameters of the top-level steps as they are declared, with those that have no value."""
    templates = await _templates(store, await offload(size_of(workflow), _template_keys, workflow.steps, {}))

    def merge() -> dict[str, Params]:
        steps = workflow.steps
        return {step.id: declared_step_params(_layers(step, {}, templates, types)) for step in steps}

    return await offload(size_of(workflow), merge)


async def layers_of(
    store: Store, steps: Sequence[AnyStep], params: Mapping[str, Parameter]
) -> Callable[[AnyStep], StepLayers]:
    """What has a say in the parameters of each of these steps, apart from requests."""
    templates = await _templates(store, await offload(len(steps), _template_keys, steps, params))
    return lambda step: _layers(step, params, templates, NO_TYPES)


def _template_keys(steps: Sequence[AnyStep], params: Mapping[str, Parameter]) -> list[TemplateKey]:
    """The job templates that steps name, each once."""
    keys = (template_key(step, params) for step in steps if isinstance(step, TypedStep))
    return list(dict.fromkeys(key for key in keys if key is not None))


async def _templates(
    store: Store, keys: Sequence[TemplateKey]
) -> dict[TemplateKey, JobTemplateDefinition | None]:
    """These templates, with those that they inherit from."""
    templates: dict[TemplateKey, JobTemplateDefinition | None] = {}
    for key in keys:
        while missing := wanted(key, templates):
            for each in missing:
                found = await read_template(store, *each)
                templates[each] = None if found is None else found.definition
    return templates


def _layers(
    step: AnyStep,
    params: Mapping[str, Parameter],
    templates: Mapping[TemplateKey, JobTemplateDefinition | None],
    types: AbstractSet[str],
) -> StepLayers:
    kind, injected, own = str(type(step).__struct_config__.tag), NOTHING, Params()
    if isinstance(step, TypedStep):
        key = template_key(step, params)
        kind, injected, own = step.type, resolve(step, key, templates), described(types, step).params
    return StepLayers(
        definition=step.params or {},
        defaults=STEP_DEFAULTS,
        type_defaults={**own, **TYPE_DEFAULTS.get(kind, {})},
        template=injected.params,
        workflow=params,
    )
