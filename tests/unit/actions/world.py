"""A database with one node that owns every group: just enough of one to try actions on.

It decides with the engine and commits to the store, step by step, when the test says so: between two steps a
test sees what an action has left in the rows. `stretto.testing.harness` has a whole node, which never stands
still there.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from stretto.actions.caller import Caller, Role
from stretto.actions.dequeue import dequeue
from stretto.actions.parts.candidate import Sender
from stretto.actions.parts.messages import Patience
from stretto.actions.publish import publish
from stretto.actions.reading.aggregation import aggregate
from stretto.actions.reading.definitions import definition_of
from stretto.actions.start import start
from stretto.actions.start_child import start_child
from stretto.definition import load
from stretto.definition.parse import Options
from stretto.engine import effects as todo
from stretto.engine import events as happened
from stretto.engine.breakpoints import holds
from stretto.engine.decide import decide
from stretto.engine.flow import Flow, Tree
from stretto.engine.opening import plan_of_run
from stretto.engine.permits import granted
from stretto.engine.records import AttemptKey, RunKey, RunRecord
from stretto.engine.settings import EngineSettings
from stretto.model.breakpoint import PausedStepAttempt, StepBreakpoint
from stretto.model.errors import StrettoError
from stretto.model.initiator import Ancestor, ManualInitiator, SubworkflowInitiator, UpstreamFields
from stretto.model.param import Params
from stretto.model.request import StartRequest
from stretto.model.response import StartResponse
from stretto.model.user import User
from stretto.model.workflow import Criticality, WorkflowVersion
from stretto.node.perform.earlier import Earlier
from stretto.ports import messages as post
from stretto.ports.breakpoints import BreakpointPage
from stretto.ports.commit import Decided, GroupPart, PermitAsk
from stretto.ports.history import NewestInInstance
from stretto.ports.paging import Cut
from stretto.ports.rows import Lease, NodeId, RunRow
from stretto.ports.run_snapshot import read_newest_run, read_run
from stretto.ports.workflows import read_workflow
from stretto.store.memory import Database, MemoryStore

T = TypeVar("T")
NODE = NodeId("node-1")
BEGIN = 1_700_000_000_000
ANN = Caller(user=User(name="ann"))
Script = Callable[[todo.StartWork], happened.ResultState | None]  # None: it goes on


class Clock:
    """Time that moves when somebody sleeps; what should happen meanwhile is called."""

    def __init__(self) -> None:
        self.time = BEGIN
        self.meanwhile: Callable[[], Coroutine[Any, Any, None]] | None = None

    def now(self) -> int:
        return self.time

    def steady(self) -> float:
        return self.time / 1_000

    async def sleep_until(self, due: int) -> None:
        self.time = max(self.time, due)
        if self.meanwhile is not None:
            await self.meanwhile()


def done(_effect: todo.StartWork) -> happened.ResultState | None:
    return happened.ResultState.DONE


class World:
    """Everything that a test needs."""

    def __init__(self, runtime: Script = done) -> None:
        self.clock = Clock()
        self.store = MemoryStore(Database(self.clock))
        self.runtime = runtime
        self.flows: dict[RunKey, Flow] = {}
        self.events: deque[tuple[RunKey, happened.Event]] = deque()
        self.leases: dict[int, Lease] = {}
        self.timers: list[tuple[int, RunKey, happened.Event]] = []
        self.do(self._join())

    async def _join(self) -> None:
        await self.store.join(NODE)
        self.leases = {lease.group: lease for lease in await self.store.claim(NODE, 128)}

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(work)

    # ------------------------------------------------------------------------------------------- asking
    def publish(self, text: str, caller: Caller = ANN) -> WorkflowVersion:
        (definition,) = load(text, Options(rules=False))
        return self.do(publish(self.store, caller, definition)).workflow_definition

    def start(
        self, workflow_id: str = "flow", version: str = "latest", *, params: Params | None = None, **more: Any
    ) -> StartResponse:
        request = StartRequest(initiator=ManualInitiator(), run_params=params, **more)
        return self.do(start(self.store, ANN, workflow_id, version, request))

    def patience(self, millis: int = 5_000) -> Patience:
        """While somebody waits, the node works."""
        self.clock.meanwhile = self.work
        return Patience(clock=self.clock, millis=millis)

    def row(self, workflow_id: str = "flow", instance_id: int = 1) -> RunRow:
        row = self.do(read_newest_run(self.store, workflow_id, instance_id))
        assert row is not None
        return row

    def status(self, workflow_id: str = "flow", instance_id: int = 1) -> str:
        return self.row(workflow_id, instance_id).record.status.value

    def steps(self, workflow_id: str = "flow", instance_id: int = 1) -> dict[str, str]:
        rows = self.do(self.store.attempts(NewestInInstance(workflow_id, instance_id)))
        return {row.key.step_id: row.record.status.value for row in rows}

    def report(
        self, step_id: str, state: happened.ResultState, workflow_id: str = "flow", message: str | None = None
    ) -> None:
        """The work of the step that runs has ended so."""
        for root, flow in self.flows.items():
            for live in flow.tree.live.values():
                index = live.plan.numbers.get(step_id)
                record = None if index is None else live.attempts[index]
                if root.workflow_id == workflow_id and record is not None and record.launch is not None:
                    event = happened.Reported(
                        attempt=record.key, launch=record.launch, state=state, message=message
                    )
                    self.events.append((root, event))
        self.settle()

    def swap(self, method: str, stand_in: Callable[..., Any]) -> None:
        """From now on the store answers so: a race, or a failure."""
        setattr(self.store, method, stand_in)

    def advance(self, millis: int) -> "World":
        """Time passes, and what is due happens."""
        end = self.clock.time + millis
        while due := sorted((each for each in self.timers if each[0] <= end), key=lambda each: each[0]):
            at, root, event = due[0]
            self.timers.remove(due[0])
            self.clock.time = max(self.clock.time, at)
            if root in self.flows:
                self.events.append((root, event))
                self.settle()
        self.clock.time = end
        return self

    # ------------------------------------------------------------------------------------------- driving
    def settle(self) -> "World":
        """Go on until nothing is left to do by itself."""
        self.do(self.work())
        return self

    async def work(self) -> None:
        while True:
            mail = await self.store.fetch(NODE, self.leases)
            if not (mail.admitted or mail.messages or self.events):
                return
            for message in mail.messages:
                await self._receive(message)
            for key in mail.admitted:
                await self._decide(await self._load(key), happened.Launched(run=key), launch=True)
            while self.events:
                key, event = self.events.popleft()
                await self._decide(self.flows[key], event)

    async def _receive(self, message: post.Message) -> None:
        body = message.body
        event: Any  # of whichever kind the message brings
        match body:
            case post.Act():
                event = body.run or body.step
                assert event is not None
            case post.Stop() | post.ChildEnd() | post.Grant() | post.Callback():
                event = body.event
            case _:
                await self._commit(message.to_group or 0, Decided(consumed=(message.id,)))
                return
        run = event.run if isinstance(event, happened.RunActed) else event.attempt.run
        row = await read_run(self.store, run)
        root = row.root if row is not None else run
        flow = self.flows.get(root)
        if flow is None:
            outcome = post.Outcome(applied=False, message=f"{run} has ended")
            await self._commit(message.to_group or 0, self._dealt_with(message, outcome))
            return
        try:
            await self._decide(flow, event, message=message)
        except StrettoError as error:
            outcome = post.Outcome(applied=False, message=error.message)
            await self._commit(message.to_group or 0, self._dealt_with(message, outcome))

    def _dealt_with(self, message: post.Message | None, outcome: post.Outcome) -> Decided:
        if message is None:
            return Decided()
        if isinstance(message.body, post.Act):
            return Decided(answered={message.id: outcome})
        return Decided(consumed=(message.id,))

    async def _load(self, key: RunKey) -> Flow:
        row = await read_run(self.store, key)
        assert row is not None
        workflow = await definition_of(self.store, row)
        known = await read_workflow(self.store, key.workflow_id)
        assert known is not None
        before = await read_run(self.store, key._replace(run_id=key.run_id - 1))
        statuses = {} if before is None else (await aggregate(self.store, workflow, before)).statuses
        plan = plan_of_run(workflow, row.record.policy, statuses, row.record.restart)
        settings = EngineSettings(step_concurrency=known.properties.step_concurrency)
        tree = Tree(workflow, settings, self.leases[row.group].generation, known.internal_id)
        tree.breakpoints = {each.step_id for each in (await self._breakpoints())}
        self.flows[key] = Flow(row.record, plan, tree)
        return self.flows[key]

    async def _breakpoints(self) -> list[StepBreakpoint]:
        return list((await self.store.breakpoints(BreakpointPage(Cut()))).elements)

    async def _decide(
        self, flow: Flow, event: happened.Event, *, launch: bool = False, message: post.Message | None = None
    ) -> None:
        root = next(key for key, each in self.flows.items() if each is flow)
        row = await read_run(self.store, root)
        assert row is not None
        decision = decide(flow, event, self.clock.now())
        dealt = self._dealt_with(message, post.Outcome(applied=True))
        decided = Decided(
            root=root,
            launch=launch,
            records=tuple(decision.changes),
            consumed=dealt.consumed,
            answered=dealt.answered,
            sent=self._child_ends(row, decision.changes),
            permits=tuple(
                PermitAsk(
                    attempt=each.attempt,
                    limits=each.limits,
                    criticality=Criticality(each.criticality) if each.criticality else None,
                    since=each.since,
                )
                for each in decision.effects
                if isinstance(each, todo.AskPermits)
            ),
            released=tuple(
                each.attempt for each in decision.effects if isinstance(each, todo.ReleasePermits)
            ),
        )
        await self._commit(row.group, decided)
        for effect in decision.effects:
            await self._carry_out(root, flow, effect)
        if flow.is_over:
            self.flows.pop(root, None)
            await dequeue(self.store, root.workflow_id)

    def _child_ends(self, row: RunRow, changes: list[Any]) -> tuple[post.Letter, ...]:
        ended = [each for each in changes if isinstance(each, RunRecord) and each.key == row.key]
        if row.parent is None or not any(each.status.is_terminal for each in ended):
            return ()
        event = happened.ChildEnded(attempt=row.parent.attempt, child=row.key, status=ended[-1].status)
        letter = post.Letter(ref=str(row.key), body=post.ChildEnd(event=event), to_group=row.parent.group)
        return (letter,)

    async def _commit(self, group: int, decided: Decided) -> None:
        part = GroupPart(lease=self.leases[group], decisions=(decided,))
        answer = await self.store.commit(NODE, [part])
        assert not answer.fenced

    async def _carry_out(self, root: RunKey, flow: Flow, effect: todo.Effect) -> None:
        match effect:
            case todo.StartWork():
                state = self.runtime(effect)
                said = state or happened.ResultState.CONTINUE
                event = happened.Reported(attempt=effect.attempt, launch=effect.launch, state=said)
                self.events.append((root, event))
            case todo.TerminateWork(attempt=attempt, launch=launch):
                stopped = happened.ResultState.STOPPED
                self.events.append((root, happened.Reported(attempt=attempt, launch=launch, state=stopped)))
            case todo.AskPermits() | todo.ReleasePermits():
                tags = effect.limits if isinstance(effect, todo.AskPermits) else effect.tags
                await self.store.grant(list(tags), granted)
            case todo.LookForBreakpoint(attempt=attempt):
                if not await self._is_held(attempt, flow):
                    self.events.append((root, happened.BreakpointGone(attempt=attempt)))
            case todo.SetTimer():
                self._set_timer(root, effect)
            case todo.AnnounceSignals(attempt=attempt):
                self.events.append((root, happened.SignalsAnnounced(attempt=attempt)))
            case todo.ResumeLoop(attempt=attempt):
                self.events.append((root, happened.Resumed(attempt=attempt)))
            case todo.StartChild():
                await self._start_child(root, flow, effect)
            case todo.Fetch(attempt=attempt, keys=keys):
                values = {key: await self._fetch(key, flow) for key in keys}
                self.events.append((root, happened.Fetched(attempt=attempt, values=values)))
            case _:
                pass

    def _set_timer(self, root: RunKey, timer: todo.SetTimer) -> None:
        due, attempt, reason = timer.due, timer.attempt, timer.reason
        if attempt is None:
            self.timers.append((due, root, happened.RunTimeDue(run=timer.run, due=due)))
        elif reason is None:
            self.timers.append((due, root, happened.StepTimeDue(attempt=attempt, due=due)))
        else:
            self.timers.append((due, root, happened.Woken(attempt=attempt, reason=reason, due=due)))

    async def _fetch(self, key: Any, flow: Flow) -> Any:
        match key:
            case ("earlier", workflow_id, instance_id, below):
                return await Earlier(self.store).run(flow.tree.workflow, workflow_id, instance_id, below)
            case ("iterations" | "undone iterations" as kind, inline_id, _):
                return await Earlier(self.store).loop(inline_id, undone=kind != "iterations")
            case _:
                raise AssertionError(key)

    async def _is_held(self, attempt: AttemptKey, flow: Flow) -> bool:
        paused = PausedStepAttempt(
            workflow_id=attempt.run.workflow_id,
            workflow_version_id=flow.run.version_id,
            workflow_instance_id=attempt.run.instance_id,
            workflow_run_id=attempt.run.run_id,
            step_id=attempt.step_id,
            step_attempt_id=attempt.number,
        )
        return any(holds(each, paused) for each in await self._breakpoints())

    async def _start_child(self, root: RunKey, flow: Flow, effect: todo.StartChild) -> None:
        live = flow.tree.live[effect.attempt.run]
        above = live.run.initiator.ancestors if isinstance(live.run.initiator, UpstreamFields) else ()
        run = effect.attempt.run
        own = Ancestor(
            workflow_id=run.workflow_id,
            instance_id=run.instance_id,
            run_id=run.run_id,
            step_id=effect.attempt.step_id,
            step_attempt_id=effect.attempt.number,
            sync=effect.sync,
        )
        row = await read_run(self.store, root)
        assert row is not None
        sender = Sender(
            attempt=effect.attempt,
            lease=self.leases[row.group],
            correlation_id=flow.run.correlation_id,
            waits=effect.sync,
        )
        initiator = SubworkflowInitiator(ancestors=(*above, own))
        try:
            made = await start_child(self.store, effect, initiator, sender, str(effect.attempt))
        except StrettoError as error:
            refused = happened.ChildRefused(attempt=effect.attempt, message=error.message)
            self.events.append((root, refused))
            return
        child = RunKey(made.workflow_id, made.workflow_instance_id, made.workflow_run_id)
        event = happened.ChildStarted(
            attempt=effect.attempt, child=child, version_id=made.workflow_version_id, uuid=str(effect.attempt)
        )
        self.events.append((root, event))


def flow(
    *steps: str, name: str = "flow", strategy: str = "PARALLEL", owner: str = "ann", more: str = ""
) -> str:
    """A definition: steps as `{id: a, type: NoOp}`, each in a line of its own."""
    lines = "\n".join(
        f"    - {step if step.startswith(('foreach', 'while', 'sub')) else 'step: ' + step}" for step in steps
    )
    return (
        f"properties: {{owner: {owner}, run_strategy: {{rule: {strategy}}}}}\n"
        f"workflow:\n  id: {name}\n{more}  steps:\n{lines}\n"
    )


NOOP = "{id: a, type: NoOp}"
WORK = "{id: a, type: Python}"
CHAIN = (
    "{id: a, type: Python, transition: {successors: {b: 'true'}}}",
    "{id: b, type: Python, transition: {successors: {c: 'true'}}}",
    "{id: c, type: Python}",
)


def going_on(_effect: todo.StartWork) -> happened.ResultState | None:
    """Work that ends when the test says so."""
    return None


def failing(*step_ids: str) -> Script:
    """Work that fails for good in these steps."""

    def script(effect: todo.StartWork) -> happened.ResultState | None:
        fails = effect.attempt.step_id in step_ids
        return happened.ResultState.FATAL_ERROR if fails else happened.ResultState.DONE

    return script


def viewer(name: str) -> Caller:
    return Caller(user=User(name=name), roles=frozenset({Role.VIEWER}))


def author(name: str) -> Caller:
    return Caller(user=User(name=name), roles=frozenset({Role.AUTHOR}))
