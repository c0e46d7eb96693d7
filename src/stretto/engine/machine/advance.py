"""An attempt on its way: from status to status, until it waits for something outside."""

from collections.abc import Callable, Mapping
from typing import Final

from stretto.engine.context import scope_of
from stretto.engine.effects import AskPermits, Fetch, LookForBreakpoint, SetTimer, WatchSignals
from stretto.engine.flow import Flow
from stretto.engine.job_templates import NOTHING, Injected, resolve, template_key, wanted
from stretto.engine.kinds import launch
from stretto.engine.machine.finish import complete, fail_internally, finish
from stretto.engine.plan import StepPlan
from stretto.engine.policies import permits_for, timeout_of
from stretto.engine.records import AttemptRecord
from stretto.engine.signals import wanted_signals
from stretto.engine.skips import is_skipped
from stretto.engine.turn import Turn
from stretto.model.errors import StrettoError
from stretto.model.param import ParamDefinition, ParamSource
from stretto.model.status import StepStatus
from stretto.model.step import TypedStep
from stretto.params import (
    STEP_DEFAULTS,
    TYPE_DEFAULTS,
    MissingKeys,
    StepLayers,
    evaluate,
    step_params,
)
from stretto.sel import SelError

S = StepStatus
Goes = bool  # True: the attempt has moved and goes on; False: it waits, or has ended


def advance(turn: Turn, flow: Flow, index: int) -> None:
    """Move the newest attempt of a step as far as it can go. What can not be decided fails the step."""
    attempt = flow.attempts[index]
    plan = flow.plan.steps[index]
    if attempt is None:
        return
    try:
        while (go := _BY_STATUS.get(attempt.status)) is not None and go(turn, flow, plan, attempt):
            pass
    except (StrettoError, SelError) as error:
        fail_internally(turn, flow, plan, attempt, str(error))


def _created(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> Goes:
    if not flow.satisfied[plan.index] and not attempt.manual:
        attempt.reason = "no incoming edge is taken"
        complete(turn, flow, plan, attempt, S.UNSATISFIED)
        return False
    if is_skipped(plan.id, flow.run.restart):
        turn.note(flow, attempt, "Step is skipped because of a user skip action.")
        complete(turn, flow, plan, attempt, S.SKIPPED)
        return False
    if attempt.signals is None and plan.step.signal_dependencies:
        found = wanted_signals(plan.step.signal_dependencies, scope_of(flow, attempt, turn.now))
        if isinstance(found, MissingKeys):
            return _fetch(turn, attempt, found)
        attempt.signals = found
    turn.move(flow, attempt, S.INITIALIZED)
    return True


def _initialized(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> Goes:
    if plan.id in flow.tree.breakpoints:
        # What we know of breakpoints may be old: pause first, then look whether one stands.
        turn.move(flow, attempt, S.PAUSED)
        turn.act(LookForBreakpoint(attempt=attempt.key))
        return False
    turn.move(flow, attempt, S.WAITING_FOR_SIGNALS)
    if attempt.signals is not None and not attempt.signals.is_satisfied:
        turn.act(WatchSignals(attempt=attempt.key, dependencies=attempt.signals))
    return True


def _waiting_for_signals(turn: Turn, flow: Flow, _plan: StepPlan, attempt: AttemptRecord) -> Goes:
    if attempt.signals is not None and not attempt.signals.is_satisfied:
        return False
    turn.move(flow, attempt, S.EVALUATING_PARAMS)
    return True


def _evaluating(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> Goes:
    """Evaluated again with the time of the first try, so that waiting for a value changes no result."""
    if needs_params(flow, plan, attempt):
        moment = attempt.evaluate_param_time or turn.now
        template = injected_by_template(flow, plan)
        found = (
            template
            if isinstance(template, MissingKeys)
            else evaluate(merged_params(flow, plan, attempt, template), scope_of(flow, attempt, moment))
        )
        if isinstance(found, MissingKeys):
            return _fetch(turn, attempt, found)
        turn.touch(attempt, flow)
        attempt.params = found
    turn.move(flow, attempt, S.WAITING_FOR_PERMITS)
    limits = permits_for(flow, plan)
    if limits:
        attempt.permits = tuple(limits)
        criticality = flow.tree.workflow.criticality
        turn.act(
            AskPermits(
                attempt=attempt.key,
                limits=limits,
                criticality=criticality.value if criticality else None,
                since=turn.now,
            )
        )
    return True


def needs_params(flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> bool:
    """Whether a step has parameters beyond the defaults, which are evaluated only if somebody reads them."""
    step = plan.step
    typed = not isinstance(step, TypedStep) or step.type in TYPE_DEFAULTS or step.sub_type is not None
    return bool(step.params or attempt.step_run_params or plan.id in flow.run.step_run_params or typed)


def injected_by_template(flow: Flow, plan: StepPlan) -> Injected | MissingKeys:
    """What the job template of a step brings along, once all templates it inherits from are here."""
    if not isinstance(plan.step, TypedStep):
        return NOTHING
    key = template_key(plan.step, flow.run.params)
    missing = set() if key is None else wanted(key, flow.tree.templates)
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
    layers = StepLayers(
        definition=step.params or {},
        defaults=STEP_DEFAULTS,
        type_defaults=TYPE_DEFAULTS.get(kind, {}),
        template=template.params,
        workflow=run.params,
        run={**run.step_run_params.get(plan.id, {}), **attempt.step_run_params},
        restart=restart or {},
        source=ParamSource.LAUNCH if run.restart is None else ParamSource.RESTART,
        restarting=run.restart is not None,
    )
    return step_params(layers)


def _waiting_for_permits(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> Goes:
    if attempt.permits and not attempt.granted:
        return False
    timeout = timeout_of(flow, plan.step.timeout, turn.now)
    turn.move(flow, attempt, S.STARTING)
    attempt.timeout_at = turn.now + timeout
    return True


def _starting(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> Goes:
    went_on = launch(turn, flow, plan, attempt)
    if not attempt.status.is_terminal and attempt.timeout_at is not None:
        turn.act(SetTimer(attempt=attempt.key, run=flow.run.key, due=attempt.timeout_at, reason=None))
    return went_on


def _finishing(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> Goes:
    finish(turn, flow, plan, attempt)
    return False


def _fetch(turn: Turn, attempt: AttemptRecord, missing: MissingKeys) -> Goes:
    turn.act(Fetch(attempt=attempt.key, keys=missing.keys))
    return False


_BY_STATUS: Final[Mapping[StepStatus, Callable[[Turn, Flow, StepPlan, AttemptRecord], Goes]]] = {
    S.CREATED: _created,
    S.INITIALIZED: _initialized,
    S.WAITING_FOR_SIGNALS: _waiting_for_signals,
    S.EVALUATING_PARAMS: _evaluating,
    S.WAITING_FOR_PERMITS: _waiting_for_permits,
    S.STARTING: _starting,
    S.FINISHING: _finishing,
}
