"""Runs a workflow in virtual time: carries out effects against scripted runtimes, checks each decision."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from tests.engine.invariants import Watchman
from tests.engine.reading import Reading
from tests.engine.world import ABOVE, NOW, World

from stretto.definition.parse import Options, load
from stretto.engine import effects as todo
from stretto.engine import events as happened
from stretto.engine.decide import Decision, decide
from stretto.engine.events import Reported, ResultState, RunActed, RunAction, StepActed
from stretto.engine.flow import Flow, Tree
from stretto.engine.live_rollup import rollup_of
from stretto.engine.machine.undo import is_undoable
from stretto.engine.plan import Plan
from stretto.engine.records import AttemptKey, AttemptRecord, RunKey, RunRecord
from stretto.engine.settings import EngineSettings
from stretto.model.actions import StepAction
from stretto.model.artifact import Artifact
from stretto.model.initiator import Ancestor, Initiator, ManualInitiator, SubworkflowInitiator
from stretto.model.param import Parameter, Params, ParamSource
from stretto.model.run_config import RunPolicy
from stretto.model.signal_instance import SignalOutput
from stretto.model.status import RunStatus
from stretto.model.step import AnyStep
from stretto.model.user import User
from stretto.model.workflow import Definition, Workflow
from stretto.params import Evaluated, Moment, RunFacts, Scope, evaluate, workflow_params
from stretto.params.context import Alone


class Work(msgspec.Struct, frozen=True):
    """How the work of an attempt goes: after some milliseconds it is in a state; None: it never ends."""

    state: Any = ResultState.DONE
    after: int | None = 0
    message: str | None = None
    outputs: Mapping[str, Parameter] = {}
    artifacts: Mapping[str, Artifact] = {}
    added: tuple[AnyStep, ...] = ()
    tolerance: float = 0.0
    redirect: str | None = None


Script = Callable[[todo.StartWork], Work | None]
FOREVER = Work(after=None)


def scripted(**scripts: Sequence[Work | str]) -> Script:
    """What each step does in its attempts, one after the other; the last counts for all that follow."""

    def play(effect: todo.StartWork) -> Work:
        script = scripts.get(effect.attempt.step_id, ["DONE"])
        chosen = script[min(effect.attempt.number, len(script)) - 1]
        return Work(ResultState(chosen)) if isinstance(chosen, str) else chosen

    return play


ALL_DONE = scripted()


def definition_of(given: Definition | Workflow | str) -> Workflow:
    if isinstance(given, str):
        (given,) = load(given, Options())
    return given.workflow if isinstance(given, Definition) else given


class Driver(Reading):
    """One root run and everything inside it, and the runs that its subworkflow steps start."""

    def __init__(
        self,
        definition: Definition | Workflow | str,
        *,
        run_params: Params | None = None,
        runtime: Script = ALL_DONE,
        settings: EngineSettings | None = None,
        limits: Mapping[str, int] | None = None,
        library: Mapping[str, Definition | Workflow | str] | None = None,
        breakpoints: frozenset[str] = frozenset(),
        world: World | None = None,
        initiator: Initiator | None = None,
        run: Mapping[str, Any] | None = None,
        plan: Plan | None = None,
        check: bool = True,
        now: int = NOW,
    ) -> None:
        self.world = world or World(now)
        self.world.limits.update(limits or {})
        self.runtime = runtime
        self.library = dict(library or {})
        self.workflow = definition_of(definition)
        self.tree = Tree(self.workflow, settings or EngineSettings(), internal_id=12345)
        self.standing = set(breakpoints)
        self.tree.breakpoints = self.standing
        self.stubborn = False  # work that does not end when it is asked to
        self.fetching = True  # what is missing is fetched at once
        self.effects: list[todo.Effect] = []
        self.records: dict[tuple[type, Any], Any] = {}
        self.past: dict[tuple[type, Any], Any] = {}
        self.fetched: dict[object, Any] = {}
        self.fetches: list[object] = []
        self.templates: dict[object, Any] = {}
        self.decisions = 0
        self.check = check
        self.initiator = initiator or ManualInitiator(user=User(name="tester"))
        self.flow = self._flow(run_params or {}, dict(run or {}), plan)
        self.watchman = Watchman(self)

    def _flow(self, run_params: Params, given: dict[str, Any], plan: Plan | None) -> Flow:
        self.world.instances[self.workflow.id] += 1
        key = given.pop("key", None) or RunKey(self.workflow.id, self.world.instances[self.workflow.id], 1)
        if "params" not in given:
            fresh = RunPolicy.START_FRESH_NEW_RUN.value
            facts = RunFacts(workflow_id=self.workflow.id, owner="tester", runner="tester", run_policy=fresh)
            nested = isinstance(self.initiator, SubworkflowInitiator)
            source = ParamSource.SUBWORKFLOW if nested else ParamSource.LAUNCH
            merged = workflow_params(self.workflow.params or {}, run_params, source)
            found = evaluate(merged, Scope(context=Alone(facts), moment=Moment(self.now)))
            assert isinstance(found, Evaluated)
            given["params"] = found
        record = RunRecord(
            key=key,
            uuid=f"00000000-0000-0000-0000-{key.instance_id:012}",
            version_id=1,
            initiator=self.initiator,
            correlation_id=f"{self.workflow.id}:{key.instance_id}:1",
            owner="tester",
            create_time=self.now,
            **given,
        )
        self.records[RunRecord, key] = record
        return Flow(record, plan or Plan(self.workflow.steps), self.tree)

    # --------------------------------------------------------------------------------------------- driving
    def send(self, event: happened.Event) -> Decision:
        if self.check:
            self.watchman.before()
        decision = decide(self.flow, event, self.now)
        self.decisions += 1
        for record in decision.changes:
            self.records[type(record), record.key] = record
        if self.check:
            self.watchman.after(decision)
        self.act_on(decision.effects)
        return decision

    def act_on(self, effects: Sequence[todo.Effect]) -> None:
        """What happens after the commit."""
        for effect in effects:
            self.effects.append(effect)
            self._carry_out(effect)

    def start(self) -> "Driver":
        self.send(happened.Launched(run=self.flow.run.key))
        return self

    def run(self, until: int | None = None) -> "Driver":
        self.world.run(until)
        return self

    def finish(self) -> "Driver":
        self.start().run()
        assert self.flow.is_over, self.statuses()
        assert self.world.no_permit_is_left
        return self

    def act(self, action: RunAction, *steps: str, run: RunKey | None = None) -> "Driver":
        key = run or self.flow.run.key
        self.send(RunActed(run=key, action=action, user="ann", steps=steps))
        return self

    def step(self, step_id: str, action: StepAction, run: RunKey | None = None, **params: Any) -> "Driver":
        key = AttemptKey(run or self.flow.run.key, step_id, 0)
        self.send(StepActed(attempt=key, action=action, user="ann", **params))
        return self

    def report(self, step_id: str, state: ResultState = ResultState.DONE, **more: Any) -> "Driver":
        attempt = self.attempt(step_id)
        self.send(Reported(attempt=attempt.key, launch=attempt.launch or 0, state=state, **more))
        return self

    # ------------------------------------------------------------------------------------------- effects
    def _carry_out(self, effect: todo.Effect) -> None:
        handle = getattr(self, f"_{type(effect).__name__}", None)
        if handle is not None:  # the tests that need the others answer themselves
            handle(effect)

    def _StartWork(self, effect: todo.StartWork) -> None:  # noqa: N802 - named like the effect
        self._work(effect)

    def _TerminateWork(self, effect: todo.TerminateWork) -> None:  # noqa: N802
        if not self.stubborn:
            state = ResultState.STOPPED
            self.world.soon(self, Reported(attempt=effect.attempt, launch=effect.launch, state=state))

    def _SetTimer(self, effect: todo.SetTimer) -> None:  # noqa: N802
        self._timer(effect)

    def _AskPermits(self, effect: todo.AskPermits) -> None:  # noqa: N802
        self.world.ask(self, effect)

    def _ReleasePermits(self, effect: todo.ReleasePermits) -> None:  # noqa: N802
        self.world.release(effect.attempt)

    def _WatchSignals(self, effect: todo.WatchSignals) -> None:  # noqa: N802
        self.world.watch(self, effect)

    def _AnnounceSignals(self, effect: todo.AnnounceSignals) -> None:  # noqa: N802
        if effect.attempt not in self.world.announcers:
            self.world.announcers.add(effect.attempt)
            for output in effect.outputs:
                self.world.announce(output["name"], **output["params"])
        told = tuple(SignalOutput(name=output["name"], params=output["params"]) for output in effect.outputs)
        self.world.soon(self, happened.SignalsAnnounced(attempt=effect.attempt, outputs=told))

    def _ResumeLoop(self, effect: todo.ResumeLoop) -> None:  # noqa: N802
        self.world.soon(self, happened.Resumed(attempt=effect.attempt))

    def _Fetch(self, effect: todo.Fetch) -> None:  # noqa: N802
        self.fetches += effect.keys
        if self.fetching:
            values = {key: self.look_up(effect.attempt, key) for key in effect.keys}
            self.world.soon(self, happened.Fetched(attempt=effect.attempt, values=values))

    def _LookForBreakpoint(self, effect: todo.LookForBreakpoint) -> None:  # noqa: N802
        if effect.attempt.step_id not in self.standing:
            self.world.soon(self, happened.BreakpointGone(attempt=effect.attempt))

    def _StartChild(self, effect: todo.StartChild) -> None:  # noqa: N802
        self._start_child(effect)

    def _StopChild(self, effect: todo.StopChild) -> None:  # noqa: N802
        driver = self.world.children.get(effect.child) if effect.child else None
        if driver is not None and not driver.flow.is_over:
            key = driver.flow.run.key
            self.world.soon(driver, RunActed(run=key, action=RunAction.STOP, user=ABOVE))

    def _HoldChild(self, effect: todo.HoldChild) -> None:  # noqa: N802
        driver = self.world.children.get(effect.child)
        if driver is not None:
            held = happened.RunHeld(run=effect.child, held=effect.held, parent=self.flow.run.key)
            self.world.soon(driver, held)

    def _RunEnded(self, effect: todo.RunEnded) -> None:  # noqa: N802
        self._tell_parent(effect.status)

    def _work(self, effect: todo.StartWork) -> None:
        work = self.runtime(effect)
        if work is not None and work.after is not None:
            self.will_answer(effect, work, self.now + work.after)

    def will_answer(self, effect: todo.StartWork | todo.LookAtWork, work: Work, due: int) -> None:
        fields = {name: getattr(work, name) for name in Work.__struct_fields__ if name != "after"}
        answer = Reported(attempt=effect.attempt, launch=effect.launch, **fields)
        if due <= self.now:
            self.world.soon(self, answer)
            return
        begun = Reported(attempt=effect.attempt, launch=effect.launch, state=ResultState.CONTINUE)
        self.world.soon(self, begun)
        self.world.at(due, self, answer)

    def _timer(self, effect: todo.SetTimer) -> None:
        event: happened.Event
        if effect.attempt is None:
            event = happened.RunTimeDue(run=effect.run, due=effect.due)
        elif effect.reason is None:
            event = happened.StepTimeDue(attempt=effect.attempt, due=effect.due)
        else:
            event = happened.Woken(attempt=effect.attempt, reason=effect.reason, due=effect.due)
        self.world.at(effect.due, self, event)

    # ------------------------------------------------------------------------------------------ children
    def _start_child(self, effect: todo.StartChild) -> None:
        if effect.workflow_id not in self.library:
            refused = happened.ChildRefused(
                attempt=effect.attempt, message=f"no workflow {effect.workflow_id}"
            )
            self.world.soon(self, refused)
            return
        known = self.child_of(effect.attempt)
        child = known or self._new_child(effect)
        key = child.flow.run.key
        started = happened.ChildStarted(
            attempt=effect.attempt,
            child=key,
            version_id=1,
            uuid=f"uuid-{key}",
            held=child.flow.run.held,
        )
        self.world.soon(self, started)
        if known is None:
            self.world.soon(child, happened.Launched(run=key))

    def child_of(self, attempt: AttemptKey) -> "Driver | None":
        """The run that was started for an attempt: there is one at most."""
        children = self.world.children.values()
        return next((child for child in children if child.parent == (self, attempt)), None)

    def _new_child(self, effect: todo.StartChild) -> "Driver":
        from tests.engine.restarting import next_child, undo_run  # noqa: PLC0415 - the two look at each other

        initiator = self._initiator(effect)
        child = (
            Driver(
                self.library[effect.workflow_id],
                run_params=dict(effect.params),
                runtime=self.runtime,
                settings=self.tree.settings,
                library=self.library,
                world=self.world,
                initiator=initiator,
            )
            if effect.again is None and effect.undo is None
            else (next_child if effect.undo is None else undo_run)(self, effect, initiator)
        )
        if effect.held:
            child.flow.run.held, child.flow.run.status = True, RunStatus.PAUSED
        self.world.children[child.flow.run.key] = child
        child.parent = (self, effect.attempt)
        return child

    def _initiator(self, effect: todo.StartChild) -> SubworkflowInitiator:
        run, step_id, number = effect.attempt
        above = self.tree.live[run].run.initiator
        own = Ancestor(
            workflow_id=run.workflow_id,
            instance_id=run.instance_id,
            run_id=run.run_id,
            step_id=step_id,
            step_attempt_id=number,
            sync=effect.sync,
        )
        return SubworkflowInitiator(ancestors=(*getattr(above, "ancestors", ()), own))

    parent: "tuple[Driver, AttemptKey] | None" = None

    def _tell_parent(self, status: RunStatus) -> None:
        if self.parent is not None:
            driver, attempt = self.parent
            rollup = rollup_of(self.flow)
            ended = happened.ChildEnded(
                attempt=attempt,
                child=self.flow.run.key,
                status=status,
                rollup=rollup,
                undoable=is_undoable(self.flow),
            )
            self.world.soon(driver, ended)


def attempts_of(driver: Driver, step_id: str) -> list[AttemptRecord]:
    """Every attempt that a step has had, in all iterations."""
    found = [each for (kind, _), each in driver.records.items() if kind is AttemptRecord]
    mine = [each for each in found if each.key.step_id == step_id]
    return sorted(mine, key=lambda each: each.key)
