"""What expressions of a run may see: the engine's side of the parameters' `Context`."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from hashlib import sha1
from typing import Any, Final
from uuid import NAMESPACE_OID

from stretto.engine.flow import Flow
from stretto.engine.outcome import error_of, is_undelivered
from stretto.engine.plan import Kind
from stretto.engine.records import NO_PARAMS, AttemptKey, AttemptRecord, copy_of
from stretto.model.initiator import Initiator, ManualInitiator, SignalInitiator, TimeInitiator
from stretto.model.param import RESULT, ParamDefinition, Parameter, ParamType
from stretto.model.status import StepStatus
from stretto.model.step import AnyStep, TypedStep
from stretto.model.trigger import IntervalTrigger
from stretto.params import (
    STEP_DEFAULTS,
    Collected,
    Evaluated,
    MissingKeys,
    Moment,
    ParamError,
    Prepared,
    RunFacts,
    Scope,
    StepFacts,
    Undelivered,
    evaluate,
    evaluate_one,
    null_of,
)
from stretto.sel import Limits, Missing
from stretto.sel.runtime.frame import VALUE_SIZE

_OID: Final = NAMESPACE_OID.bytes
LEAST_MEMORY: Final = 8_000_000  # of an expression in a decision: some milliseconds
_DEFAULTS: Final = Prepared.of_step(STEP_DEFAULTS)  # looked at once for all steps


class FlowContext:
    """A run as the parameters of its steps see it. What is not in memory is Missing until it was fetched."""

    __slots__ = ("_attempt", "_flow")

    def __init__(self, flow: Flow, attempt: AttemptRecord | None = None) -> None:
        self._flow = flow
        self._attempt = attempt

    @property
    def run(self) -> RunFacts:
        return facts_of(self._flow)

    def step(self, step_id: str) -> StepFacts | Missing | None:
        index = self._own(step_id)
        record = None if index is None else self._flow.attempts[index]
        if record is not None and (record.status.is_complete or record is self._attempt):
            return step_facts(self._flow, record)
        if index is not None:
            return None  # it is part of this run: what an older one made of it does not count
        earlier = self._flow.earlier
        return Missing(self._flow.earlier_key) if earlier is None else earlier.steps.get(step_id)

    def foreach(self, foreach_step: str, step_id: str, param: str) -> Collected | Missing | None:
        found: Collected | Missing | None = self._look(
            "foreach", *self._attempt_of(foreach_step), step_id, param
        )
        return found

    def subworkflow(
        self, subworkflow_step: str, step_id: str, param: str
    ) -> Parameter | Undelivered | Missing | None:
        found: Parameter | Undelivered | Missing | None = self._look(
            "subworkflow", *self._attempt_of(subworkflow_step), step_id, param
        )
        return found

    def signal(self, name: str, param: str) -> str | int | Missing | None:
        initiator = self._flow.run.initiator
        if not isinstance(initiator, SignalInitiator) or name not in (initiator.signal_id_map or {}):
            return None
        return self._signal(name, (initiator.signal_id_map or {})[name], param)

    def signal_dependency(self, index: int, param: str) -> str | int | Missing | None:
        signals = self._attempt.signals if self._attempt is not None else None
        if signals is None or not 0 <= index < len(signals.dependencies):
            return None
        dependency = signals.dependencies[index]
        if dependency.signal_id is None:
            return None
        return self._signal(dependency.name, dependency.signal_id, param)

    def next_unique_id(self) -> int | Missing:
        key = self._attempt.key if self._attempt is not None else self._flow.run.key
        found: int | Missing = self._look("unique", key)
        return found

    def _signal(self, name: str, signal_id: int, param: str) -> str | int | Missing | None:
        found: str | int | Missing | None = self._look("signal", name, signal_id, param)
        return found

    def _attempt_of(self, step_id: str) -> tuple[str, int]:
        """A step and its newest attempt in this run (0: in an earlier one): what that left may change."""
        index = self._own(step_id)
        record = None if index is None else self._flow.attempts[index]
        return step_id, 0 if record is None else record.key.number

    def _own(self, step_id: str) -> int | None:
        """The number of a step of this run. One that undoes what is below a step of that id is not meant."""
        plan = self._flow.plan
        index = plan.numbers.get(step_id)
        return None if index is not None and plan.steps[index].kind is Kind.UNDO else index

    def _look(self, *key: object) -> Any:
        return self._flow.fetched[key] if key in self._flow.fetched else Missing(key)


def facts_of(flow: Flow) -> RunFacts:
    """What expressions may know of a run: the same from its start to its end."""
    if flow.facts is None:
        flow.facts = run_facts(flow)
    return flow.facts


def run_facts(flow: Flow) -> RunFacts:
    run, workflow = flow.run, flow.tree.workflow
    initiator = run.initiator
    triggers = [each for each in workflow.time_triggers or () if not isinstance(each, IntervalTrigger)]
    manual = isinstance(initiator, ManualInitiator) and initiator.user is not None
    return RunFacts(
        workflow_id=run.key.workflow_id,
        instance_id=run.key.instance_id,
        run_id=run.key.run_id,
        owner=run.owner,
        initiator=str(type(initiator).__struct_config__.tag),
        runner=initiator.user.name if manual else None,  # type: ignore[union-attr]
        initiator_timezone=initiator.timezone if isinstance(initiator, TimeInitiator) else None,
        first_trigger_timezone=triggers[0].timezone if triggers else None,
        run_policy=run.policy.value,
        signal_params=_signal_params(initiator),
        trigger_signals=frozenset(
            name for each in workflow.signal_triggers or () for name in each.definitions
        ),
        follows_maestro=workflow.follows_maestro,
        step_ids=flow.plan.numbers,
    )


def _signal_params(initiator: Initiator) -> Mapping[str, Any]:
    given = initiator.params if isinstance(initiator, SignalInitiator) else {}
    return {name: param.evaluated_result for name, param in given.items()}


def step_uuid(run: str, key: AttemptKey) -> str:
    """Derived from what identifies the attempt, so that it needs no dice and no column: a UUID of version 5,
    written by hand, because every step has one, and `uuid5` takes three times as long.
    """
    text = sha1(_OID + f"{run}{key}".encode(), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(text[16], 16) & 3]
    return f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{variant}{text[17:20]}-{text[20:32]}"


def step_facts(flow: Flow, record: AttemptRecord) -> StepFacts:
    step = flow.plan.steps[flow.plan.numbers[record.key.step_id]].step
    typed = isinstance(step, TypedStep)
    return StepFacts(
        step_id=record.key.step_id,
        type=step.type if isinstance(step, TypedStep) else str(type(step).__struct_config__.tag),
        sub_type=step.sub_type if typed else None,  # type: ignore[union-attr]
        step_instance_id=record.sequence,
        step_attempt_id=record.key.number,
        uuid=partial(step_uuid, flow.run.uuid, record.key),
        error_retries=record.error_retries,
        status=record.status.value,
        end_time=record.end_time,
        params=_left_in(flow, step, record),
        declared=step.params or NO_PARAMS,
        total_loop_count=record.loop_total,
        error=error_of(flow.run, record),
    )


def params_at_end(flow: Flow, record: AttemptRecord, status: StepStatus) -> Mapping[str, ParamDefinition]:
    """The parameters of a step as others will read them, once it has ended so."""
    ended = copy_of(record)
    ended.status = status
    return step_facts(flow, ended).params


def _left_in(flow: Flow, step: AnyStep, record: AttemptRecord) -> Mapping[str, ParamDefinition]:
    """The parameters of a step, as others may read them. Outside of Maestro, what was declared and never got
    a value is null, once the attempt has ended.
    """
    params: Mapping[str, ParamDefinition]
    params = record.params if record.params is not None else LazyDefaults(flow, record)
    if flow.tree.workflow.follows_maestro or not record.status.is_terminal:
        return params
    if record.params is None:
        missing = list(step.params or ()) if record.status is not StepStatus.SUCCEEDED else []
    else:
        missing = [RESULT] if is_missing(flow, record) else []
    if not missing:
        return params
    ended = record.end_time or 0
    nulls = {name: null_of((record.params or step.params or {})[name].type, ended) for name in missing}
    return {**params, **nulls}


def is_missing(flow: Flow, record: AttemptRecord) -> bool:
    """Whether the result of an attempt that has ended is null: only its placeholder is there."""
    follows_maestro = flow.tree.workflow.follows_maestro
    return not follows_maestro and record.status.is_terminal and is_undelivered(record, RESULT)


def default_params(flow: Flow, record: AttemptRecord) -> Mapping[str, Parameter]:
    """The parameters of a step that has none of its own."""
    facts = StepFacts(
        step_id=record.key.step_id,
        type="",
        step_instance_id=record.sequence,
        step_attempt_id=record.key.number,
        uuid=partial(step_uuid, flow.run.uuid, record.key),
    )
    moment = Moment(record.create_time or 0)
    scope = Scope(context=FlowContext(flow), moment=moment, workflow=flow.run.params, step=facts)
    found = evaluate(_DEFAULTS, scope)
    return found if isinstance(found, Evaluated) else NO_PARAMS


class LazyDefaults(Mapping[str, ParamDefinition]):
    """The parameters of a step that has none of its own: the defaults, evaluated if somebody asks."""

    def __init__(self, flow: Flow, record: AttemptRecord) -> None:
        self._flow = flow
        self._record = record

    def __getitem__(self, name: str) -> ParamDefinition:
        return default_params(self._flow, self._record)[name]

    def __iter__(self) -> Any:
        return iter(STEP_DEFAULTS)

    def __len__(self) -> int:
        return len(STEP_DEFAULTS)


@lru_cache(maxsize=16)
def _within_decision(limits: Limits, visits: int) -> Limits:
    """What an expression may use before it is evaluated elsewhere: fewer visits, and fewer values."""
    memory = max(VALUE_SIZE * visits, LEAST_MEMORY)
    return replace(limits, visit=min(limits.visit, visits), memory=min(limits.memory, memory))


def scope_of(flow: Flow, record: AttemptRecord, now: int) -> Scope:
    """The surroundings of a step's expressions. The dice are those of the attempt: the same again later.

    An evaluation that had to wait for a value is repeated with the moment of its first try, so that the
    waiting changes no result.
    """
    settings = flow.tree.settings
    limits = _within_decision(settings.expressions, settings.expression_visits)
    asked = now if record.asked_at is None else record.asked_at
    moment = Moment(asked, seed=record.sequence * 31 + record.key.number, limits=limits)
    context = FlowContext(flow, record)
    return Scope(context=context, moment=moment, workflow=flow.run.params, step=step_facts(flow, record))


# --------------------------------------------------------------------------------------------- the limit
FUEL: Final = frozenset({"visit", "memory"})  # limits of an expression that may have more elsewhere


class TooLong(MissingKeys):
    """Nothing is missing but time: what was to be evaluated must be so elsewhere."""

    __slots__ = ()


TOO_LONG: Final = TooLong(())


def too_long(error: ParamError) -> TooLong:
    """If an expression took longer than one may inside a decision; any other error is raised again."""
    if error.limit not in FUEL:
        raise error
    return TOO_LONG


# What can be evaluated elsewhere, by the name of its answer.
PARAMS: Final = "params"
SIGNALS: Final = "signals"
OUTPUTS: Final = "outputs"
RETRY_IF: Final = "retry_if"


def edge_to(target: str) -> str:
    return f"edge to {target}"


def round_of(index: int) -> str:
    return f"condition of round {index}"


def answer_key(record: AttemptRecord, name: str) -> object:
    """Under which key something is found that was evaluated elsewhere."""
    return ("answer", record.key, name)


def condition_holds(
    flow: Flow,
    record: AttemptRecord,
    name: str,
    text: str,
    now: int,
    more: Mapping[str, Parameter] = NO_PARAMS,
) -> bool | MissingKeys:
    """Evaluate a condition with the parameters of a step, and whatever else it may see. `name`: of its
    answer, if it is evaluated elsewhere.
    """
    known = flow.fetched.get(answer_key(record, name))
    if known is not None:
        return bool(known)
    scope = scope_of(flow, record, now)
    params = step_facts(flow, record).params
    if more:
        params = {**params, **more}
    try:
        return is_met(name, text, scope, params)
    except ParamError as error:
        return too_long(error)


def is_met(name: str, text: str, scope: Scope, params: Mapping[str, ParamDefinition]) -> bool | MissingKeys:
    """The result of a condition."""
    definition = ParamDefinition(type=ParamType.BOOLEAN, expression=text)
    found = evaluate_one(name, definition, scope, params)
    return found if isinstance(found, MissingKeys) else bool(found.evaluated_result)
