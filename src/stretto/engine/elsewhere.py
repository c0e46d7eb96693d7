"""Expressions that are too long for a decision: what to evaluate, as plain data, and what came of it.

question = question_of(flow, attempt)       inside the process that decides
answer(question) -> Evaluated               in a process of its own, which can be killed
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stretto.engine.attempt_params import injected_by_template, merged_params, needs_params_at_end
from stretto.engine.context import (
    OUTPUTS,
    PARAMS,
    RETRY_IF,
    SIGNALS,
    FlowContext,
    answer_key,
    edge_to,
    is_met,
    params_at_end,
    round_of,
    step_facts,
)
from stretto.engine.events import Evaluated
from stretto.engine.flow import Flow
from stretto.engine.job_templates import NOTHING
from stretto.engine.plan import StepPlan
from stretto.engine.records import AttemptKey, AttemptRecord
from stretto.engine.signals import output_signals, wanted_signals
from stretto.model.errors import StrettoError
from stretto.model.initiator import SignalInitiator
from stretto.model.param import ParamDefinition, Parameter
from stretto.model.signal import SignalDependencyDefinition, SignalOutputDefinition
from stretto.model.status import StepStatus
from stretto.model.step import TypedStep, WhileStep
from stretto.params import (
    Collected,
    MissingKeys,
    Moment,
    ParamLimits,
    RunFacts,
    Scope,
    StepFacts,
    Undelivered,
    evaluate,
)
from stretto.sel import Missing, SelError

S = StepStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What an evaluation may see of a run, without the run: it can be sent to another process."""

    run: RunFacts
    steps: Mapping[str, StepFacts]
    attempts: Mapping[str, int]  # step id -> number of its newest attempt
    fetched: Mapping[object, Any]
    signals: Mapping[str, int] = field(default_factory=dict)  # that triggered the run: name -> id
    dependencies: tuple[tuple[str, int | None], ...] = ()  # of the step: name and id
    attempt: AttemptKey
    covers: frozenset[str] = frozenset()  # the steps of the run
    unknown: object | None = None  # what to fetch to know the others, if nobody has

    def step(self, step_id: str) -> StepFacts | Missing | None:
        if self.unknown is not None and step_id not in self.covers:
            return Missing(self.unknown)
        return self.steps.get(step_id)

    def foreach(self, foreach_step: str, step_id: str, param: str) -> Collected | Missing | None:
        found: Collected | Missing | None = self._look(
            "foreach", foreach_step, self.attempts.get(foreach_step, 0), step_id, param
        )
        return found

    def subworkflow(
        self, subworkflow_step: str, step_id: str, param: str
    ) -> Parameter | Undelivered | Missing | None:
        found: Parameter | Undelivered | Missing | None = self._look(
            "subworkflow", subworkflow_step, self.attempts.get(subworkflow_step, 0), step_id, param
        )
        return found

    def signal(self, name: str, param: str) -> str | int | Missing | None:
        found: str | int | Missing | None
        found = self._look("signal", name, self.signals[name], param) if name in self.signals else None
        return found

    def signal_dependency(self, index: int, param: str) -> str | int | Missing | None:
        name, signal_id = self.dependencies[index] if 0 <= index < len(self.dependencies) else ("", None)
        found: str | int | Missing | None
        found = None if signal_id is None else self._look("signal", name, signal_id, param)
        return found

    def next_unique_id(self) -> int | Missing:
        found: int | Missing = self._look("unique", self.attempt)
        return found

    def _look(self, *key: object) -> Any:
        return self.fetched[key] if key in self.fetched else Missing(key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What an attempt needs evaluated: a set of parameters; or conditions, and signals."""

    attempt: AttemptKey
    scope: Scope
    definitions: Mapping[str, ParamDefinition] | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)  # name of the answer -> expression
    dependencies: Sequence[SignalDependencyDefinition] = ()
    outputs: Sequence[SignalOutputDefinition] = ()
    seen: Mapping[str, ParamDefinition] = field(default_factory=dict)  # what conditions and outputs read
    limits: ParamLimits = field(default_factory=ParamLimits)


def question_of(flow: Flow, key: AttemptKey) -> Question | None:
    """What an attempt needs evaluated, with the full limits; None if it needs nothing any more.

    It follows from where the attempt is: there is one thing at a time that it can be waiting for.
    """
    attempt = flow.attempt(key)
    if attempt is None or attempt.asked_at is None:
        return None
    plan = flow.plan.steps[flow.plan.numbers[key.step_id]]
    settings = flow.tree.settings
    seed = attempt.sequence * 31 + key.number
    moment = Moment(attempt.asked_at, seed=seed, limits=settings.expressions)
    facts = _plain(step_facts(flow, attempt))
    if attempt.decided is not None or attempt.status is S.FINISHING:
        status = attempt.decided or S.SUCCEEDED
        left = dict(params_at_end(flow, attempt, status))
        facts = replace(facts, status=status.value, params=left)
    scope = Scope(
        context=_snapshot(flow, attempt, facts), moment=moment, workflow=dict(flow.run.params), step=facts
    )
    blank = Question(attempt=key, scope=scope, seen=facts.params, limits=settings.params)
    if attempt.decided is not None and not attempt.decided.is_complete:
        return replace(blank, conditions=_retry_condition(plan))
    if attempt.decided is None and attempt.status is not S.FINISHING:
        return _on_the_way(flow, plan, attempt, blank)
    if needs_params_at_end(flow, plan, attempt, attempt.decided or S.SUCCEEDED):
        return replace(blank, definitions=_definitions(flow, plan, attempt))
    outputs = () if attempt.decided is not None or attempt.announced else plan.step.signal_outputs or ()
    return replace(blank, conditions=_edge_conditions(flow, plan), outputs=outputs)


def _on_the_way(flow: Flow, plan: StepPlan, attempt: AttemptRecord, blank: Question) -> Question | None:
    """Of an attempt whose end nothing has decided yet."""
    loop = flow.loops.get(plan.index)
    if attempt.status is S.CREATED:
        return replace(blank, dependencies=plan.step.signal_dependencies or ())
    if attempt.status is S.EVALUATING_PARAMS:
        return replace(blank, definitions=_definitions(flow, plan, attempt))
    if isinstance(plan.step, WhileStep) and loop is not None:
        conditions = {round_of(loop.next_index): plan.step.condition}
        return replace(blank, conditions=conditions, seen={**blank.seen, **loop.carried})
    return None  # it waits for something else


def _definitions(flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> Mapping[str, ParamDefinition]:
    template = injected_by_template(flow, plan)
    brought = NOTHING if isinstance(template, MissingKeys) else template
    return merged_params(flow, plan, attempt, brought)


def _retry_condition(plan: StepPlan) -> Mapping[str, str]:
    policy = plan.step.retry_policy if isinstance(plan.step, TypedStep) else None
    return {} if policy is None or policy.retry_if is None else {RETRY_IF: policy.retry_if}


def _edge_conditions(flow: Flow, plan: StepPlan) -> Mapping[str, str]:
    steps = flow.plan.steps
    return {
        edge_to(steps[edge.target].id): edge.condition for edge in plan.edges if edge.condition is not None
    }


def answer(question: Question) -> Evaluated:
    """Evaluate it. The event goes back to the run."""
    try:
        found = _evaluate(question)
    except (StrettoError, SelError) as error:
        return Evaluated(attempt=question.attempt, error=str(error))
    if isinstance(found, MissingKeys):
        return Evaluated(attempt=question.attempt, missing=found.keys)
    return Evaluated(attempt=question.attempt, params=found)


def _evaluate(question: Question) -> Mapping[str, Any] | MissingKeys:
    """The parameters, or the other answers by name, as plain data."""
    scope, seen = question.scope, question.seen
    if question.definitions is not None:
        params = evaluate(question.definitions, scope, question.limits)
        return params if isinstance(params, MissingKeys) else dict(params)
    results: dict[str, Any] = {}
    if question.dependencies:
        results[SIGNALS] = wanted_signals(question.dependencies, scope)
    if question.outputs:
        results[OUTPUTS] = output_signals(question.outputs, seen, scope)
    for name, text in question.conditions.items():
        results[name] = is_met(name, text, scope, seen)
    return next((each for each in results.values() if isinstance(each, MissingKeys)), results)


def keep_answer(flow: Flow, attempt: AttemptRecord, answers: Mapping[str, Any]) -> None:
    """Let the evaluation that asked find its results. Parameters are one answer, all together."""
    if any(isinstance(each, Parameter) for each in answers.values()):
        answers = {PARAMS: answers}
    flow.fetched |= {answer_key(attempt, name): each for name, each in answers.items()}


def _snapshot(flow: Flow, attempt: AttemptRecord, own: StepFacts) -> Snapshot:
    seen = FlowContext(flow, attempt)
    earlier = flow.earlier.steps if flow.earlier is not None else ()
    known = (seen.step(step_id) for step_id in {*flow.plan.numbers, *earlier})
    steps = {facts.step_id: _plain(facts) for facts in known if isinstance(facts, StepFacts)}
    signals = attempt.signals.dependencies if attempt.signals is not None else ()
    initiator = flow.run.initiator
    return Snapshot(
        run=seen.run,
        steps={**steps, own.step_id: own},
        attempts={each.key.step_id: each.key.number for each in flow.attempts if each is not None},
        fetched=dict(flow.fetched),
        signals=(initiator.signal_id_map or {}) if isinstance(initiator, SignalInitiator) else {},
        dependencies=tuple((each.name, each.signal_id) for each in signals),
        attempt=attempt.key,
        covers=frozenset(flow.plan.numbers),
        unknown=flow.earlier_key if flow.earlier is None else None,
    )


def _plain(facts: StepFacts) -> StepFacts:
    """The facts with parameters that hold nothing but data."""
    return replace(facts, params=dict(facts.params))
