"""Runs a workflow in virtual time: carries out effects against scripted runtimes, permits and signals."""

import heapq
from collections import Counter, deque
from collections.abc import Callable, Mapping
from typing import Any

from stretto.definition.parse import Options, load
from stretto.engine import effects as todo
from stretto.engine import events as happened
from stretto.engine.decide import Decision, decide
from stretto.engine.events import Reported, ResultState
from stretto.engine.flow import Flow, Tree
from stretto.engine.permits import Waiter, granted
from stretto.engine.plan import Plan
from stretto.engine.records import AttemptKey, AttemptRecord, RunKey, RunRecord, WakeReason
from stretto.engine.settings import EngineSettings
from stretto.model.initiator import Initiator, ManualInitiator
from stretto.model.param import Parameter, Params
from stretto.model.user import User
from stretto.model.workflow import Criticality, Definition
from stretto.params import Evaluated, Moment, RunFacts, Scope, evaluate, workflow_params
from stretto.params.context import Alone

Script = Callable[[todo.StartWork], list[Reported] | None]


def done(effect: todo.StartWork) -> list[Reported]:
    return [Reported(attempt=effect.attempt, launch=effect.launch, state=ResultState.DONE)]


class Driver:
    """One root run and everything inside it."""

    def __init__(
        self,
        definition: Definition | str,
        *,
        run_params: Params | None = None,
        runtime: Script = done,
        settings: EngineSettings | None = None,
        limits: Mapping[str, int] | None = None,
        now: int = 1_700_000_000_000,
        breakpoints: frozenset[str] = frozenset(),
    ) -> None:
        if isinstance(definition, str):
            (definition,) = load(definition, Options())
        self.now = now
        self.runtime = runtime
        self.limits: dict[str, int | None] = dict(limits or {})
        self.workflow = definition.workflow
        self.tree = Tree(self.workflow, settings or EngineSettings(), internal_id=12345)
        self.tree.breakpoints = breakpoints
        self.flow = self._flow(run_params or {})
        self.timers: list[tuple[int, int, happened.Event]] = []
        self.queue: deque[happened.Event] = deque()
        self.waiters: dict[AttemptKey, Waiter] = {}
        self.held: Counter[str] = Counter()
        self.holders: dict[AttemptKey, tuple[str, ...]] = {}
        self.effects: list[todo.Effect] = []
        self.decisions = 0
        self.records: dict[Any, Any] = {}
        self.fetched: dict[object, Any] = {}
        self._ticket = 0

    def _flow(self, run_params: Params) -> Flow:
        key = RunKey(self.workflow.id, 1, 1)
        initiator: Initiator = ManualInitiator(user=User(name="tester"))
        facts = RunFacts(workflow_id=self.workflow.id, owner="tester", runner="tester", run_policy="START_FRESH_NEW_RUN")
        merged = workflow_params(self.workflow.params or {}, run_params)
        params = evaluate(merged, Scope(context=Alone(facts), moment=Moment(self.now)))
        assert isinstance(params, Evaluated)
        run = RunRecord(
            key=key,
            uuid="00000000-0000-0000-0000-000000000001",
            version_id=1,
            initiator=initiator,
            correlation_id=f"{self.workflow.id}:1:1",
            owner="tester",
            params=params,
            create_time=self.now,
        )
        return Flow(run, Plan(self.workflow.steps), self.tree)

    # --------------------------------------------------------------------------------------------- driving
    def send(self, event: happened.Event) -> Decision:
        decision = decide(self.flow, event, self.now)
        self.decisions += 1
        for record in decision.changes:
            self.records[(type(record).__name__, record.key)] = record
        for effect in decision.effects:
            self.effects.append(effect)
            self._carry_out(effect)
        return decision

    def start(self) -> "Driver":
        self.send(happened.Launched(run=self.flow.run.key))
        return self

    def drain(self) -> None:
        while self.queue:
            self.send(self.queue.popleft())

    def run(self, until: int | None = None, most: int = 1_000_000) -> "Driver":
        """Go on until nothing is left, or until a time (milliseconds from now)."""
        end = None if until is None else self.now + until
        for _ in range(most):
            self.drain()
            if not self.timers or (end is not None and self.timers[0][0] > end) or self.flow.is_over:
                break
            due, _, event = heapq.heappop(self.timers)
            self.now = max(self.now, due)
            self.send(event)
        else:
            raise AssertionError("the run does not come to an end")
        if end is not None:
            self.now = end
        return self

    def finish(self) -> "Driver":
        return self.start().run()

    # ------------------------------------------------------------------------------------------- effects
    def _carry_out(self, effect: todo.Effect) -> None:
        match effect:
            case todo.StartWork():
                self.queue.extend(self.runtime(effect) or [])
            case todo.SetTimer(attempt=attempt, run=run, due=due, reason=reason):
                self._timer(attempt, run, due, reason)
            case todo.AskPermits():
                self._ask(effect)
            case todo.ReleasePermits(attempt=attempt):
                self._release(attempt)
            case todo.ResumeLoop(attempt=attempt):
                self.queue.append(happened.Resumed(attempt=attempt))
            case todo.Fetch(attempt=attempt, keys=keys):
                values = {key: self.fetched[key] for key in keys}
                self.queue.append(happened.Fetched(attempt=attempt, values=values))
            case _:
                pass

    def _timer(self, attempt: AttemptKey | None, run: RunKey, due: int, reason: WakeReason | None) -> None:
        event: happened.Event
        if attempt is None:
            event = happened.RunTimeDue(run=run, due=due)
        elif reason is None:
            event = happened.StepTimeDue(attempt=attempt, due=due)
        else:
            event = happened.Woken(attempt=attempt, reason=reason, due=due)
        self._ticket += 1
        heapq.heappush(self.timers, (due, self._ticket, event))

    def _ask(self, effect: todo.AskPermits) -> None:
        self._ticket += 1
        for tag, limit in effect.limits.items():
            self.limits.setdefault(tag, limit)
        criticality = Criticality(effect.criticality) if effect.criticality else None
        tags = tuple(effect.limits)
        self.waiters[effect.attempt] = Waiter(str(effect.attempt), tags, criticality, effect.since, self._ticket)
        self._grant()

    def _release(self, attempt: AttemptKey) -> None:
        self.waiters.pop(attempt, None)
        for tag in self.holders.pop(attempt, ()):
            self.held[tag] -= 1
        self._grant()

    def _grant(self) -> None:
        by_name = {str(key): key for key in self.waiters}
        for waiter in granted(self.waiters.values(), self.held, self.limits):
            key = by_name[waiter.attempt]
            self.holders[key] = self.waiters.pop(key).tags
            self.held.update(waiter.tags)
            for tag in waiter.tags:
                limit = self.limits.get(tag)
                assert limit is None or self.held[tag] <= limit
            self.queue.append(happened.Granted(attempt=key))

    # ------------------------------------------------------------------------------------------- looking
    @property
    def status(self) -> str:
        return self.flow.run.status.value

    def attempt(self, step_id: str, flow: Flow | None = None) -> AttemptRecord | None:
        flow = flow or self.flow
        return flow.attempts[flow.plan.numbers[step_id]]

    def statuses(self, flow: Flow | None = None) -> dict[str, str]:
        flow = flow or self.flow
        return {
            step.id: record.status.value if (record := flow.attempts[step.index]) else "NOT_CREATED"
            for step in flow.plan.steps
        }

    def value(self, step_id: str, name: str) -> Any:
        record = self.attempt(step_id)
        assert record is not None
        param: Parameter = (record.params or {})[name]
        return param.evaluated_result
