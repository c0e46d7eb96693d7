"""Expressions that are too long for a decision: what to evaluate, as plain data, and what came of it.

question = question_of(flow, attempt)       inside the process that decides
answer(question) -> Evaluated               in a process of its own, which can be killed
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from stretto.engine.attempt_params import injected_by_template, merged_params
from stretto.engine.context import FlowContext, answer_key, step_facts
from stretto.engine.events import Evaluated
from stretto.engine.flow import Flow
from stretto.engine.job_templates import NOTHING
from stretto.engine.records import AttemptKey, AttemptRecord
from stretto.model.errors import StrettoError
from stretto.model.initiator import SignalInitiator
from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.model.status import StepStatus
from stretto.params import (
    Collected,
    MissingKeys,
    Moment,
    RunFacts,
    Scope,
    StepFacts,
    evaluate,
    evaluate_one,
)
from stretto.sel import Limits, Missing, SelError


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

    def step(self, step_id: str) -> StepFacts | Missing | None:
        return self.steps.get(step_id)

    def foreach(self, foreach_step: str, step_id: str, param: str) -> Collected | Missing | None:
        found: Collected | Missing | None = self._look(
            "foreach", foreach_step, self.attempts.get(foreach_step, 0), step_id, param
        )
        return found

    def subworkflow(self, subworkflow_step: str, step_id: str, param: str) -> Parameter | Missing | None:
        found: Parameter | Missing | None = self._look(
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
    """Parameters to evaluate: a set, or, if `seen` is given, conditions one by one that see it."""

    attempt: AttemptKey
    definitions: Mapping[str, ParamDefinition]
    scope: Scope
    seen: Mapping[str, ParamDefinition] | None = None


def question_of(flow: Flow, key: AttemptKey) -> Question | None:
    """What an attempt needs evaluated, with the full limits; None if it needs nothing any more."""
    attempt = flow.attempt(key)
    if attempt is None or attempt.asked_at is None:
        return None
    plan = flow.plan.steps[flow.plan.numbers[key.step_id]]
    moment = Moment(attempt.asked_at, seed=attempt.sequence * 31 + key.number, limits=Limits())
    facts = _plain(step_facts(flow, attempt))
    context = _snapshot(flow, attempt)
    scope = Scope(context=context, moment=moment, workflow=dict(flow.run.params), step=facts)
    if attempt.status is StepStatus.EVALUATING_PARAMS:
        template = injected_by_template(flow, plan)
        brought = NOTHING if isinstance(template, MissingKeys) else template
        definitions = merged_params(flow, plan, attempt, brought)
        return Question(attempt=key, definitions=definitions, scope=scope)
    conditions = {
        flow.plan.steps[edge.target].id: ParamDefinition(type=ParamType.BOOLEAN, expression=edge.condition)
        for edge in plan.edges
        if edge.condition is not None
    }
    return Question(attempt=key, definitions=conditions, scope=scope, seen=facts.params)


def answer(question: Question) -> Evaluated:
    """Evaluate it. The event goes back to the run."""
    try:
        found = _evaluate(question)
    except (StrettoError, SelError) as error:
        return Evaluated(attempt=question.attempt, error=str(error))
    if isinstance(found, MissingKeys):
        return Evaluated(attempt=question.attempt, missing=found.keys)
    return Evaluated(attempt=question.attempt, params=found)


def _evaluate(question: Question) -> Mapping[str, Parameter] | MissingKeys:
    if question.seen is None:
        return evaluate(question.definitions, question.scope)
    results: dict[str, Parameter] = {}
    for name, definition in question.definitions.items():
        found = evaluate_one(name, definition, question.scope, question.seen)
        if isinstance(found, MissingKeys):
            return found
        results[name] = found
    return results


def keep_answer(flow: Flow, attempt: AttemptRecord, params: Mapping[str, Parameter]) -> None:
    """Let the evaluation that asked find its values."""
    if attempt.status is StepStatus.EVALUATING_PARAMS:
        flow.fetched[answer_key(attempt, "")] = params
    else:
        flow.fetched |= {answer_key(attempt, name): each.evaluated_result for name, each in params.items()}


def _snapshot(flow: Flow, attempt: AttemptRecord) -> Snapshot:
    seen = FlowContext(flow, attempt)
    known = (seen.step(step_id) for step_id in {*flow.plan.numbers, *flow.earlier})
    steps = {facts.step_id: _plain(facts) for facts in known if isinstance(facts, StepFacts)}
    signals = attempt.signals.dependencies if attempt.signals is not None else ()
    initiator = flow.run.initiator
    return Snapshot(
        run=seen.run,
        steps=steps,
        attempts={each.key.step_id: each.key.number for each in flow.attempts if each is not None},
        fetched=dict(flow.fetched),
        signals=(initiator.signal_id_map or {}) if isinstance(initiator, SignalInitiator) else {},
        dependencies=tuple((each.name, each.signal_id) for each in signals),
        attempt=attempt.key,
    )


def _plain(facts: StepFacts) -> StepFacts:
    """The facts with parameters that hold nothing but data."""
    return replace(facts, params=dict(facts.params))
