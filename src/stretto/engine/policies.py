"""Retry policy, timeout and permits of a step, resolved with the parameters of its run."""

from collections.abc import Mapping
from typing import Final

from stretto.engine.attempt_params import injected_by_template
from stretto.engine.context import FlowContext
from stretto.engine.effects import AskPermits, SetTimer, StartWork, WatchSignals
from stretto.engine.flow import Flow
from stretto.engine.job_templates import NOTHING
from stretto.engine.permits import Concurrency, permits_of, rate_tag, runtime_permits
from stretto.engine.plan import LEAVES, StepPlan
from stretto.engine.records import NO_PARAMS, AttemptRecord, RunRecord
from stretto.engine.retry import DEFAULT_RETRIES, NO_RETRIES, Interpolate, Retries, retries_of
from stretto.engine.timeouts import timeout_millis
from stretto.model.errors import Unprocessable
from stretto.model.retry import Number
from stretto.model.step import TypedStep
from stretto.model.tag import Tag
from stretto.params import MissingKeys, Moment, Scope, evaluate_text

NO_PERMITS: Final[Mapping[str, int | None]] = {}


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
    """How often a step is tried again: loops and subworkflows are not."""
    return policy_of(flow, plan, now) if isinstance(plan.step, TypedStep) else NO_RETRIES


def policy_of(flow: Flow, plan: StepPlan, now: int) -> Retries:
    """The retry policy of a step; the default one, where it has none or can have none."""
    policy = plan.step.retry_policy if isinstance(plan.step, TypedStep) else None
    return DEFAULT_RETRIES if policy is None else retries_of(policy, interpolator(flow, now))


def timeout_of(flow: Flow, timeout: Number | None, now: int) -> int:
    """Milliseconds that a step, or a run, may take."""
    default = flow.tree.settings.default_timeout_millis
    return default if timeout is None else timeout_millis(timeout, interpolator(flow, now), default=default)


def own_permits(flow: Flow, plan: StepPlan) -> Mapping[str, int | None]:
    """The permits of a step that has neither job template nor rate, found once for all runs of a tree."""
    if flow.tree.unlimited and not plan.step.tags:
        return NO_PERMITS
    known = flow.tree.limits.get(plan)
    if known is None:
        known = flow.tree.limits[plan] = permits_for(flow, plan)
    return known


def permits_for(flow: Flow, plan: StepPlan, more: tuple[Tag, ...] = ()) -> dict[str, int | None]:
    """The tags that a step must hold while it runs, with the limits that the definition knows: its own, and
    those that its job template gives it (`more`). Tags of the workflow and of the run only label the run.

    A step that only waits for others takes none of the engine's own: they would wait for what it holds.
    """
    workflow, run = flow.tree.workflow, flow.run
    tags = (*more, *(plan.step.tags or ()))
    paced = {} if plan.step.rate is None else {rate_tag(workflow.id, plan.id): None}
    if flow.tree.unlimited or plan.kind not in LEAVES:
        return permits_of(tags, paced)
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
    return permits_of(tags, {**runtime, **paced})


def run_timer(run: RunRecord, due: int) -> SetTimer:
    """When a run has taken too long."""
    return SetTimer(attempt=None, run=run.key, due=due, reason=None)


def timeout_timer(attempt: AttemptRecord, due: int) -> SetTimer:
    """When an attempt has taken too long."""
    return SetTimer(attempt=attempt.key, run=attempt.key.run, due=due, reason=None)


def wake_timer(attempt: AttemptRecord, due: int) -> SetTimer:
    """When an attempt goes on by itself, for the reason that it noted."""
    return SetTimer(attempt=attempt.key, run=attempt.key.run, due=due, reason=attempt.wake_reason)


def start_work(plan: StepPlan, attempt: AttemptRecord, launch: int) -> StartWork:
    params = attempt.params or NO_PARAMS
    return StartWork(attempt=attempt.key, launch=launch, step=plan.step, params=params)


def watch_signals(attempt: AttemptRecord) -> WatchSignals | None:
    """Look for the signals that an attempt waits for; None if there are none."""
    signals = attempt.signals
    if signals is None or signals.is_satisfied:
        return None
    return WatchSignals(attempt=attempt.key, dependencies=signals)


def permit_limits(flow: Flow, plan: StepPlan) -> Mapping[str, int | None]:
    """The permits that a step needs, with the limits that are known here."""
    template = injected_by_template(flow, plan)
    more = NOTHING.tags if isinstance(template, MissingKeys) else template.tags
    if not more and plan.step.rate is None:
        return own_permits(flow, plan)
    return permits_for(flow, plan, more)


def ask_permits(
    flow: Flow, attempt: AttemptRecord, limits: Mapping[str, int | None], *, taken: bool = False
) -> AskPermits:
    """Queue for the permits of an attempt, since it waits for them; or take them."""
    criticality = flow.criticality
    rate = flow.plan.steps[flow.plan.numbers[attempt.key.step_id]].step.rate
    paced = rate_tag(flow.tree.workflow.id, attempt.key.step_id)
    return AskPermits(
        attempt=attempt.key,
        limits=limits,
        criticality=criticality.value if criticality else None,
        since=attempt.wait_permit_time or 0,
        rates={paced: rate} if rate is not None and paced in limits else {},
        taken=taken,
    )
