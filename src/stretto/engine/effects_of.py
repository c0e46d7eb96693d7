"""What a record asks of the outside: when it comes to that, and again when a run was loaded from its rows."""

from collections.abc import Mapping

from stretto.engine.attempt_params import injected_by_template
from stretto.engine.effects import AskPermits, SetTimer, StartWork, WatchSignals
from stretto.engine.flow import Flow
from stretto.engine.job_templates import NOTHING
from stretto.engine.permits import rate_tag
from stretto.engine.plan import StepPlan
from stretto.engine.policies import own_permits, permits_for
from stretto.engine.records import NO_PARAMS, AttemptRecord, RunRecord
from stretto.params import MissingKeys


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
