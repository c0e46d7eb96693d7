"""The parameters of a step attempt: put together, with what a job template brings along, and evaluated."""

from collections.abc import Iterable, Mapping

from stretto.engine.context import PARAMS, answer_key, scope_of, too_long
from stretto.engine.flow import Flow
from stretto.engine.job_templates import (
    NOTHING,
    Injected,
    TemplateKey,
    absent,
    resolve,
    template_key,
    wanted,
)
from stretto.engine.plan import Kind, StepPlan
from stretto.engine.records import AttemptRecord
from stretto.model.param import ParamDefinition, Parameter, Params
from stretto.model.status import StepStatus
from stretto.model.step import AnyStep, TypedStep
from stretto.params import (
    STEP_DEFAULTS,
    TYPE_DEFAULTS,
    MissingKeys,
    ParamError,
    Prepared,
    StepLayers,
    evaluate,
    step_params,
)


def needs_params(flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> bool:
    """Whether a step has parameters beyond the defaults, which are evaluated only if somebody reads them."""
    step = plan.step
    if plan.kind is Kind.UNDO:
        return False  # its parameters are those of what it undoes
    typed = not isinstance(step, TypedStep) or step.type in TYPE_DEFAULTS or step.sub_type is not None
    return bool(step.params or typed or is_overridden(flow, plan.id, attempt))


def needs_params_at_end(flow: Flow, plan: StepPlan, attempt: AttemptRecord, status: StepStatus) -> bool:
    """Whether a step ends before its parameters were evaluated, and conditions on its edges read them.

    Outside of Maestro a step may fail because they can not be evaluated: then they are not tried again.
    """
    if attempt.params is not None or all(edge.condition is None for edge in plan.edges):
        return False
    if status is StepStatus.COMPLETED_WITH_ERROR and not flow.tree.workflow.follows_maestro:
        return False
    return needs_params(flow, plan, attempt)


def evaluated_params(
    flow: Flow, plan: StepPlan, attempt: AttemptRecord, now: int
) -> Mapping[str, Parameter] | MissingKeys:
    """The parameters with their results, or what must be fetched first."""
    known: Mapping[str, Parameter] | None = flow.fetched.get(answer_key(attempt, PARAMS))
    if known is not None:
        return known
    template = injected_by_template(flow, plan)
    if isinstance(template, MissingKeys):
        return template
    try:
        params = _prepared(flow, plan, attempt, template)
        return evaluate(params, scope_of(flow, attempt, now), flow.tree.settings.params)
    except ParamError as error:
        return too_long(error)


def _prepared(flow: Flow, plan: StepPlan, attempt: AttemptRecord, template: Injected) -> Prepared:
    """The parameters before evaluation. Where this run adds nothing, they are the same for all runs."""
    if template is not NOTHING or is_overridden(flow, plan.id, attempt):
        return Prepared.of_step(merged_params(flow, plan, attempt, template))
    if plan.params is None:
        plan.params = Prepared.of_step(merged_params(flow, plan, attempt))
    return plan.params


def injected_by_template(flow: Flow, plan: StepPlan) -> Injected | MissingKeys:
    """What the job template of a step brings along, once all templates it inherits from are here."""
    key = template_key(plan.step, flow.run.params) if isinstance(plan.step, TypedStep) else None
    if key is None or not isinstance(plan.step, TypedStep):
        return NOTHING
    missing = wanted(key, flow.tree.templates)
    if missing:
        return MissingKeys(tuple(("template", each) for each in sorted(missing)))
    return resolve(plan.step, key, flow.tree.templates)


def absent_templates(flow: Flow, plan: StepPlan) -> list[TemplateKey]:
    """The job templates that a step names, itself or by another template, and that there are not."""
    if not isinstance(plan.step, TypedStep) or plan.step.sub_type is None:
        return []
    return absent(template_key(plan.step, flow.run.params), flow.tree.templates)


def merged_params(
    flow: Flow, plan: StepPlan, attempt: AttemptRecord, template: Injected = NOTHING
) -> Mapping[str, ParamDefinition]:
    """The parameters of a step before evaluation, in their order."""
    step = plan.step
    kind = step.type if isinstance(step, TypedStep) else str(type(step).__struct_config__.tag)
    layers = StepLayers(
        definition=step.params or {},
        defaults=STEP_DEFAULTS,
        type_defaults=TYPE_DEFAULTS.get(kind, {}),
        template=template.params,
        workflow=flow.run.params,
        run=launch_params(flow, plan.id),
        restart={**restart_params(flow, plan.id), **attempt.step_run_params},
    )
    return step_params(layers)


def own_names(flow: Flow, step: AnyStep, attempt: AttemptRecord) -> Iterable[str]:
    """The parameters of a step apart from defaults: those that it defines, and those that requests give."""
    step_id = step.id
    given = {**launch_params(flow, step_id), **attempt.step_run_params, **restart_params(flow, step_id)}
    return dict.fromkeys((*(step.params or ()), *given)) if given else step.params or ()


def is_overridden(flow: Flow, step_id: str, attempt: AttemptRecord | None = None) -> bool:
    """Whether a request gives parameters to a step."""
    given = None if attempt is None else attempt.step_run_params
    return bool(given or launch_params(flow, step_id) or restart_params(flow, step_id))


def launch_params(flow: Flow, step_id: str) -> Params:
    """Parameters that the request to start the run gives to a step, also to one inside a loop."""
    root = flow
    while root.parent is not None:
        root = root.parent[0]
    return root.run.step_run_params.get(step_id, {})


def restart_params(flow: Flow, step_id: str) -> Params:
    """Parameters that a restart gives to a step: where its path ends, and in all loops inside."""
    at: Flow | None = flow
    while at is not None:
        config = at.run.restart
        if config is not None:
            at_end = len(config.restart_path) <= 1
            return (config.step_restart_params or {}).get(step_id, {}) if at_end else {}
        at = None if at.parent is None else at.parent[0]
    return {}
