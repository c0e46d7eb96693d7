"""A node's performer on a database of its own, and just enough around it to make runs that it can load.

Decisions are the engine's and every ask is answered by the performer; what a node would decide about itself
is not here.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Coroutine, Mapping
from typing import Any, TypeVar

from stretto.actions.caller import Caller
from stretto.actions.publish import publish
from stretto.actions.restart import restart
from stretto.actions.start import start
from stretto.engine import effects as todo
from stretto.engine import events as happened
from stretto.engine.decide import Decision, decide
from stretto.engine.elsewhere import question_of
from stretto.engine.flow import Flow
from stretto.engine.records import NO_PARAMS, AttemptKey, AttemptRecord, RunKey
from stretto.model.initiator import ManualInitiator
from stretto.model.properties import Properties, RunStrategy, RunStrategyRule
from stretto.model.request import InstanceRestartRequest, StartRequest
from stretto.model.run_config import RunPolicy
from stretto.model.step import AnyStep
from stretto.model.user import User
from stretto.model.workflow import Definition, Workflow
from stretto.node import asks
from stretto.node.answers import LoadedRun
from stretto.node.perform.values import InProcess
from stretto.node.performer import Performer
from stretto.node.settings import NodeSettings
from stretto.ports import messages as post
from stretto.ports.commit import Decided, GroupPart, PermitAsk
from stretto.ports.history import AttemptsOfStep
from stretto.ports.rows import Lease, NodeId, RunRow
from stretto.ports.run_snapshot import NewestAttempts, read_run
from stretto.ports.runtime import Done, FatalError, Injected, Launch, StepContext, StepResult, Stopped
from stretto.ports.signals import SignalWait
from stretto.ports.store import Store
from stretto.store.memory import Database, MemoryStore
from stretto.testing.clock import VirtualClock

T = TypeVar("T")
NODE = NodeId("node-1")
ANN = Caller(user=User(name="ann"))
CARRIED: Mapping[type, type[asks.Carry[Any]]] = {
    todo.Fetch: asks.FetchValues,
    todo.LookForBreakpoint: asks.CheckBreakpoint,
    todo.WatchSignals: asks.FindSignals,
    todo.AnnounceSignals: asks.StoreSignals,
    todo.StartChild: asks.StartChildRun,
    todo.StopChild: asks.FindChildRun,
}


class Worker:
    """A runtime that does what it is told; steps in `failing` fail for good."""

    outside = False

    def __init__(self) -> None:
        self.failing: set[str] = set()
        self.started: list[str] = []
        self.outputs: dict[str, Mapping[str, Any]] = {}

    def params(self, step: AnyStep) -> Injected:  # noqa: ARG002
        return Injected()

    async def start(self, ctx: StepContext) -> StepResult:
        self.started.append(ctx.step.id)
        if ctx.step.id in self.failing:
            return FatalError(message="told to")
        return Done(outputs=self.outputs.get(ctx.step.id, {}))

    async def execute(self, ctx: StepContext) -> StepResult:
        return await self.start(ctx)

    async def terminate(self, ctx: StepContext) -> StepResult:  # noqa: ARG002
        return Stopped()


class Heard:
    """Hints, as they were given."""

    def __init__(self) -> None:
        self.groups: list[int] = []

    def hint(self, groups: Collection[int], admitted: Collection[RunKey] = ()) -> None:  # noqa: ARG002 - not asked for
        self.groups += groups

    def listen(self, heard: Any) -> Any:
        raise NotImplementedError


class Bench:
    """One node that owns all groups, and the runs that it has in memory."""

    def __init__(self, settings: NodeSettings | None = None) -> None:
        self.clock = VirtualClock()
        self.store: Store = MemoryStore(Database(self.clock))
        self.hints = Heard()
        self.worker = Worker()
        self.settings = settings or NodeSettings()
        self.performer = self.make(self.store)
        self.flows: dict[RunKey, Flow] = {}
        self.rows: dict[RunKey, RunRow] = {}
        self.held: list[todo.Effect] = []  # effects of kinds that are in `holding`
        self.holding: tuple[type, ...] = ()
        self.events: deque[tuple[RunKey, happened.Event]] = deque()
        self.ask(asks.Join(node=NODE))
        leases = self.ask(asks.Claim(node=NODE, most=128, held=frozenset())).taken
        self.leases: dict[int, Lease] = {lease.group: lease for lease in leases}

    def make(self, store: Store) -> Performer:
        return Performer(
            store, self.hints, {"Python": self.worker}, InProcess(), settings=self.settings, address="here"
        )

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(work)

    def ask(self, ask: asks.Ask) -> Any:
        return self.do(self.performer.answer(ask))

    def swap(self, method: str, stand_in: Callable[..., Any]) -> None:
        """From now on the store answers so: a race, or a failure."""
        setattr(self.store, method, stand_in)

    # ------------------------------------------------------------------------------------------------ users
    def publish(self, workflow: Workflow, rule: str = "PARALLEL", **properties: Any) -> None:
        strategy = RunStrategy(rule=RunStrategyRule(rule))
        given = Properties(owner=User(name="ann"), run_strategy=strategy, **properties)
        self.do(publish(self.store, ANN, Definition(workflow=workflow, properties=given)))

    def start(self, workflow_id: str = "w", **more: Any) -> RunKey:
        request = StartRequest(initiator=ManualInitiator(), **more)
        made = self.do(start(self.store, ANN, workflow_id, "latest", request))
        return RunKey(made.workflow_id, made.workflow_instance_id, made.workflow_run_id)

    def restart(self, run: RunKey, policy: RunPolicy = RunPolicy.RESTART_FROM_INCOMPLETE) -> RunKey:
        request = InstanceRestartRequest(restart_policy=policy)
        made = self.do(restart(self.store, ANN, run.workflow_id, run.instance_id, request))
        return RunKey(made.workflow_id, made.workflow_instance_id, made.workflow_run_id)

    # ---------------------------------------------------------------------------------------------- reading
    def row(self, run: RunKey) -> RunRow:
        row = self.do(read_run(self.store, run))
        assert row is not None
        return row

    def lease_of(self, run: RunKey) -> Lease:
        return self.leases[self.row(run).group]

    def load(self, *runs: RunKey) -> tuple[LoadedRun, ...]:
        leases = tuple(self.leases.values())
        found: tuple[LoadedRun, ...] = self.ask(asks.LoadRuns(leases=leases, runs=runs))
        return found

    def attempt(self, run: RunKey, step_id: str) -> AttemptRecord:
        return self.do(self.store.attempts(AttemptsOfStep(run, step_id)))[-1].record

    def statuses(self, run: RunKey) -> dict[str, str]:
        rows = self.do(self.store.attempts(NewestAttempts((run,))))
        return {row.key.step_id: row.record.status.value for row in rows}

    def value(self, run: RunKey, step_id: str, name: str) -> Any:
        return (self.attempt(run, step_id).params or {})[name].evaluated_result

    def messages(self) -> list[post.Message]:
        mail = self.ask(
            asks.FetchMail(node=NODE, groups=frozenset(self.leases), known=frozenset(), launching=frozenset())
        )
        return list(mail.messages)

    # ---------------------------------------------------------------------------------------------- driving
    def launch(self, run: RunKey) -> Flow:
        """Take a run that was admitted into memory, and let it begin."""
        (loaded,) = self.load(run)
        self.flows[run], self.rows[run] = loaded.flow, loaded.row
        self.send(run, happened.Launched(run=run), launch=True)
        return loaded.flow

    def run(self, *runs: RunKey) -> str:
        """Go on until nothing happens by itself any more; the status of the first of these runs."""
        for run in runs:
            self.launch(run)
        self.settle()
        return self.row(runs[0]).record.status.value

    def settle(self) -> None:
        while True:
            while self.events:
                run, event = self.events.popleft()
                if run in self.flows:
                    self.send(run, event)
            mail = self.ask(
                asks.FetchMail(
                    node=NODE, groups=frozenset(self.leases), known=frozenset(), launching=frozenset()
                )
            )
            for run in mail.admitted:
                self.launch(run)
            for message in mail.messages:
                self._receive(message)
            if not (mail.admitted or mail.messages or self.events):
                return

    def _receive(self, message: post.Message) -> None:
        body = message.body
        lease = self.leases[message.to_group or 0]
        if isinstance(body, post.ChildEnd | post.Signalled | post.Grant):
            root = self.ask(asks.FindRoot(run=body.event.attempt.run))
            if root in self.flows:
                self.events.append((root, body.event))
            self.commit(lease, Decided(consumed=(message.id,)))
        else:
            decided = self.ask(asks.Deal(lease=lease, message=message))
            if decided is not None:
                self.commit(lease, decided)

    def send(self, run: RunKey, event: happened.Event, *, launch: bool = False) -> Decision:
        """Decide, commit, act."""
        flow, group = self.flows[run], self.rows[run].group
        decision = decide(flow, event, self.clock.now())
        self.commit(
            self.leases[group],
            Decided(
                root=run,
                launch=launch,
                records=tuple(decision.changes),
                runs_on={each.attempt: NODE for each in decision.effects if isinstance(each, todo.StartWork)},
                sent=tuple(self._letters(run, decision)),
                permits=tuple(
                    PermitAsk(attempt=each.attempt, limits=each.limits, since=each.since)
                    for each in decision.effects
                    if isinstance(each, todo.AskPermits)
                ),
                waits=tuple(wait for each in decision.effects for wait in _waits(each, group)),
                released=tuple(
                    each.attempt for each in decision.effects if isinstance(each, todo.ReleasePermits)
                ),
            ),
        )
        for effect in decision.effects:
            if isinstance(effect, self.holding):
                self.held.append(effect)
            else:
                self.carry_out(run, effect)
        if flow.is_over:
            del self.flows[run]
            self.ask(asks.LookAtQueues(workflow_ids=(run.workflow_id,)))
        return decision

    def commit(self, lease: Lease, decided: Decided) -> None:
        part = GroupPart(lease=lease, decisions=(decided,), seq=self._next_seq(lease.group))
        assert not self.ask(asks.Commit(node=NODE, parts=(part,))).fenced

    def _next_seq(self, group: int) -> int:
        return self.do(self.store.newest_seqs())[group] + 1

    def _letters(self, run: RunKey, decision: Decision) -> list[post.Letter]:
        parent = self.rows[run].parent
        ends = [each for each in decision.effects if isinstance(each, todo.RunEnded)]
        if parent is None or not ends:
            return []
        event = happened.ChildEnded(attempt=parent.attempt, child=run, status=ends[0].status)
        return [post.Letter(ref=str(run), body=post.ChildEnd(event=event), to_group=parent.group)]

    def carry_out(self, run: RunKey, effect: todo.Effect) -> None:
        """Let the performer do it; what comes of it waits in `events`."""
        match effect:
            case todo.StartWork() | todo.LookAtWork() | todo.TerminateWork():
                event = self.ask(
                    asks.CallRuntime(verb=VERBS[type(effect)], context=self.context(run, effect))
                )
                self.events.append((run, event))
            case todo.ResumeLoop():
                self.events.append((run, happened.Resumed(attempt=effect.attempt)))
            case todo.AskPermits():
                self.ask(asks.GrantTags(tags=tuple(effect.limits)))
            case todo.ReleasePermits():
                self.ask(asks.GrantTags(tags=effect.tags))
            case todo.EvaluateElsewhere(attempt=attempt):
                question = question_of(self.flows[run].tree.live[attempt.run], attempt)
                assert question is not None
                event = self.ask(asks.Evaluate(lease=self.lease_of(run), root=run, question=question))
                self.events.append((run, event))
            case todo.SetTimer() | todo.RunEnded():
                pass
            case _:
                self.events += [(run, event) for event in self.carry(run, effect)]

    def carry(self, run: RunKey, effect: Any, lease: Lease | None = None) -> tuple[happened.Event, ...]:
        record = self.flows[run].tree.live[effect.attempt.run].run
        make = CARRIED[type(effect)]
        ask = make(lease=lease or self.lease_of(run), root=run, effect=effect, run=record)
        events: tuple[happened.Event, ...] = self.ask(ask)
        return events

    def context(self, run: RunKey, effect: Any) -> StepContext:
        flow = self.flows[run].tree.live[effect.attempt.run]
        record = flow.attempt(effect.attempt)
        plan = flow.step(effect.attempt.step_id)
        assert record is not None
        assert plan is not None
        return context_of(plan.step, effect.attempt, effect.launch, params=record.params or NO_PARAMS)


VERBS = {
    todo.StartWork: asks.Verb.START,
    todo.LookAtWork: asks.Verb.EXECUTE,
    todo.TerminateWork: asks.Verb.TERMINATE,
}


def _waits(effect: todo.Effect, group: int) -> list[SignalWait]:
    if not isinstance(effect, todo.WatchSignals):
        return []
    return [
        SignalWait(
            name=each.name,
            attempt=effect.attempt,
            index=index,
            group=group,
            match_params=each.match_params or {},
        )
        for index, each in enumerate(effect.dependencies.dependencies)
        if not each.status.is_done
    ]


async def nobody(result: StepResult) -> None:
    raise AssertionError(f"whoever calls a runtime puts in its own way to report: {result}")


def context_of(
    step: AnyStep, attempt: AttemptKey, launch: int = 1, params: Mapping[str, Any] = NO_PARAMS
) -> StepContext:
    return StepContext(launch=Launch(attempt, launch), step=step, params=params, report=nobody)
