"""Retry policy, timeout and permits of a step, resolved with the parameters of its run."""

from stretto.engine.context import FlowContext
from stretto.engine.flow import Flow
from stretto.engine.permits import Concurrency, permits_of, runtime_permits
from stretto.engine.plan import LEAVES, StepPlan
from stretto.engine.retry import DEFAULT_RETRIES, NO_RETRIES, Interpolate, Retries, retries_of
from stretto.engine.timeouts import timeout_millis
from stretto.model.errors import Unprocessable
from stretto.model.retry import Number
from stretto.model.step import TypedStep
from stretto.model.tag import Tag
from stretto.params import MissingKeys, Moment, Scope, evaluate_text


def interpolator(flow: Flow, now: int) -> Interpolate:
    """Texts of a step that know the run's parameters and nothing else. All of those have their results, so
    nothing is computed here that could take long.
    """
    scope = Scope(context=FlowContext(flow), moment=Moment(now))

    def interpolate(text: str) -> str:
        found = evaluate_text("text", text, scope, flow.run.params)
        if isinstance(found, MissingKeys):
            message = f"`{text}` refers to what is known only later"
            raise Unprocessable(message)
        return found

    return interpolate


def retries_for(flow: Flow, plan: StepPlan, now: int) -> Retries:
    if not isinstance(plan.step, TypedStep):
        return NO_RETRIES
    if plan.step.retry_policy is None:
        return DEFAULT_RETRIES
    return retries_of(plan.step.retry_policy, interpolator(flow, now))


def timeout_of(flow: Flow, timeout: Number | None, now: int) -> int:
    """Milliseconds that a step, or a run, may take."""
    default = flow.tree.settings.default_timeout_millis
    return default if timeout is None else timeout_millis(timeout, interpolator(flow, now), default=default)


def permits_for(flow: Flow, plan: StepPlan, more: tuple[Tag, ...] = ()) -> dict[str, int | None]:
    """The tags that a step must hold while it runs, with the limits that the definition knows.

    A step that only waits for others takes none of the engine's own: they would wait for what it holds.
    """
    workflow, run = flow.tree.workflow, flow.run
    tags = (*more, *(plan.step.tags or ()), *run.tags)
    if flow.tree.unlimited or plan.kind not in LEAVES:
        return permits_of(tags, {})
    settings = flow.tree.settings
    concurrency = Concurrency(workflow=settings.step_concurrency, instance=workflow.instance_step_concurrency)
    runtime = runtime_permits(
        workflow.id,
        plan.id,
        run.correlation_id,
        concurrency,
        leaf=True,
        defaults=settings.permit_defaults,
    )
    return permits_of(tags, runtime)
