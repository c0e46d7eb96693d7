"""The parameters of a run, evaluated before it is made: outside of any lock."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha1
from typing import Protocol
from uuid import NAMESPACE_OID

from stretto.model.initiator import Initiator, ManualInitiator, SignalInitiator, TimeInitiator
from stretto.model.param import ParamDefinition, Parameter
from stretto.model.run_config import RunPolicy
from stretto.model.trigger import IntervalTrigger
from stretto.model.workflow import Workflow
from stretto.params import Evaluated, Moment, ParamLimits, RunFacts, Scope, evaluate
from stretto.params.context import Alone
from stretto.params.requests import DEFAULT_LIMITS
from stretto.ports.signals import read_signal
from stretto.ports.store import Store
from stretto.sel import Budget, Limits

SignalValues = Mapping[tuple[str, str], str | int]  # signal and parameter -> value


@dataclass(frozen=True, slots=True)
class FreshRun(Alone):
    """A run that is not there yet: it sees the signals that started it, and no step."""

    signals: SignalValues = field(default_factory=dict)
    number: int = 1  # the one that nobody else gets

    def signal(self, name: str, param: str) -> str | int | None:  # type: ignore[override]
        return self.signals.get((name, param))

    def next_unique_id(self) -> int:  # type: ignore[override]
        return self.number


def facts_of(workflow: Workflow, initiator: Initiator, owner: str | None, policy: RunPolicy) -> RunFacts:
    """What expressions of a run's own parameters may know of it; its ids are not given out yet."""
    triggers = [each for each in workflow.time_triggers or () if not isinstance(each, IntervalTrigger)]
    runner = initiator.user if isinstance(initiator, ManualInitiator) else None
    given = initiator.params if isinstance(initiator, SignalInitiator) else {}
    return RunFacts(
        workflow_id=workflow.id,
        owner=owner,
        initiator=str(type(initiator).__struct_config__.tag),
        runner=None if runner is None else runner.name,
        initiator_timezone=initiator.timezone if isinstance(initiator, TimeInitiator) else None,
        first_trigger_timezone=triggers[0].timezone if triggers else None,
        run_policy=policy.value,
        signal_params={name: param.evaluated_result for name, param in given.items()},
        trigger_signals=frozenset(
            name for each in workflow.signal_triggers or () for name in each.definitions
        ),
        follows_maestro=workflow.follows_maestro,
    )


async def signals_of(store: Store, initiator: Initiator) -> dict[tuple[str, str], str | int]:
    """The parameters of the announcements that started a run; one that is forgotten has none."""
    if not isinstance(initiator, SignalInitiator):
        return {}
    values: dict[tuple[str, str], str | int] = {}
    for name, seq in (initiator.signal_id_map or {}).items():
        found = await read_signal(store, name, seq)
        if found is not None:
            values |= {(name, param): value for param, value in (found.params or {}).items()}
    return values


@dataclass(frozen=True, slots=True, kw_only=True)
class RunQuestion:
    """Parameters of a run that are to be evaluated, with all that they may see: plain data, which can be sent
    to a process that can be killed.
    """

    params: Mapping[str, ParamDefinition]
    scope: Scope


def question_of(
    params: Mapping[str, ParamDefinition],
    context: FreshRun,
    request_id: str,
    now: int,
    budget: Budget | None = None,
) -> RunQuestion:
    """The same request has the same dice, whenever it is repeated. With a budget it is a trial: what needs
    more is left out of the answer.
    """
    moment = Moment(now, _number_of(request_id), budget=budget)
    return RunQuestion(params=params, scope=Scope(context=context, moment=moment))


def within_budget(scope: Scope, limits: ParamLimits) -> Scope:
    """The same with a budget for all expressions together, unless a trial has one of its own."""
    moment = scope.moment
    if moment.budget is not None and moment.budget.is_trial:
        return scope
    return replace(scope, moment=replace(moment, budget=budget_of(limits)))


def budget_of(limits: ParamLimits) -> Budget:
    """What all expressions in the parameters of a run, or of what starts it, may use together."""
    return Budget(visits=limits.visits, memory=limits.memory, is_trial=False)


def answer_to(question: RunQuestion, limits: ParamLimits = DEFAULT_LIMITS) -> Evaluated:
    """The parameters with their results. Those that need more than all of them may take are refused."""
    found = evaluate(question.params, within_budget(question.scope, limits), limits)
    assert isinstance(found, Evaluated)  # noqa: S101 - a new run has a value at hand, or none at all
    return found


class Evaluator(Protocol):
    """Who evaluates the parameters of a run that is asked for. One that takes too long for whoever waits is a
    `ParamError`, too, or `TimedOut`.
    """

    async def __call__(self, question: RunQuestion, /) -> Mapping[str, Parameter]: ...


async def evaluate_here(question: RunQuestion, /) -> Mapping[str, Parameter]:
    """At once, in this process: everything else waits meanwhile, for as long as the default budget lasts."""
    return answer_to(question)


def evaluator_within(expressions: Limits, params: ParamLimits) -> Evaluator:
    """The same, with other limits than ours."""

    async def evaluate_within(question: RunQuestion, /) -> Mapping[str, Parameter]:
        scope = question.scope
        bounded = replace(scope, moment=replace(scope.moment, limits=expressions))
        return answer_to(RunQuestion(params=question.params, scope=bounded), params)

    return evaluate_within


def unique_number(request_id: str) -> int:
    """A number that nobody else gets, as far as nobody else has the request id."""
    return _number_of(f"number of {request_id}")


def _number_of(name: str) -> int:
    """The last 63 bits of the UUID of a name (version 5), without making one; the first is never set."""
    digest = sha1(NAMESPACE_OID.bytes + name.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[8:16]) & (2**62 - 1)
