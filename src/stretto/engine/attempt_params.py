"""The parameters of a step attempt: put together, with what a job template brings along, and evaluated."""

from collections.abc import Mapping

from stretto.engine.context import scope_of
from stretto.engine.flow import Flow
from stretto.engine.job_templates import NOTHING, Injected, resolve, template_key, wanted
from stretto.engine.plan import StepPlan
from stretto.engine.records import AttemptRecord
from stretto.model.param import ParamDefinition, Parameter, ParamSource
from stretto.model.step import TypedStep
from stretto.params import STEP_DEFAULTS, TYPE_DEFAULTS, MissingKeys, StepLayers, evaluate, step_params


def needs_params(flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> bool:
    """Whether a step has parameters beyond the defaults, which are evaluated only if somebody reads them."""
    step = plan.step
    typed = not isinstance(step, TypedStep) or step.type in TYPE_DEFAULTS or step.sub_type is not None
    return bool(step.params or attempt.step_run_params or plan.id in flow.run.step_run_params or typed)


def evaluated_params(
    flow: Flow, plan: StepPlan, attempt: AttemptRecord, now: int
) -> Mapping[str, Parameter] | MissingKeys:
    """The parameters with their results, or what must be fetched first."""
    template = injected_by_template(flow, plan)
    if isinstance(template, MissingKeys):
        return template
    return evaluate(merged_params(flow, plan, attempt, template), scope_of(flow, attempt, now))


def injected_by_template(flow: Flow, plan: StepPlan) -> Injected | MissingKeys:
    """What the job template of a step brings along, once all templates it inherits from are here."""
    key = template_key(plan.step, flow.run.params) if isinstance(plan.step, TypedStep) else None
    if key is None or not isinstance(plan.step, TypedStep):
        return NOTHING
    missing = wanted(key, flow.tree.templates)
    if missing:
        return MissingKeys(tuple(("template", each) for each in sorted(missing)))
    return resolve(plan.step, key, flow.tree.templates)


def merged_params(
    flow: Flow, plan: StepPlan, attempt: AttemptRecord, template: Injected = NOTHING
) -> Mapping[str, ParamDefinition]:
    """The parameters of a step before evaluation, in their order."""
    step, run = plan.step, flow.run
    kind = step.type if isinstance(step, TypedStep) else str(type(step).__struct_config__.tag)
    restart = (run.restart.step_restart_params or {}).get(plan.id) if run.restart is not None else None
    restarting = run.restart is not None or attempt.manual
    layers = StepLayers(
        definition=step.params or {},
        defaults=STEP_DEFAULTS,
        type_defaults=TYPE_DEFAULTS.get(kind, {}),
        template=template.params,
        workflow=run.params,
        run={**run.step_run_params.get(plan.id, {}), **attempt.step_run_params},
        restart=restart or {},
        source=ParamSource.RESTART if restarting else ParamSource.LAUNCH,
        restarting=restarting,
    )
    return step_params(layers)
