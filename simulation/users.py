"""Users: they start runs, interfere with them, and in the end let everything go that they hold up."""

from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from simulation.authors import OWNER, SIGNALS, TAGS, TRIGGERS
from simulation.handle import handle_of
from simulation.inputs import Input, Verb
from simulation.troubles import Fault
from stretto.actions.act_on_step import bypass_step, kill_step, stop_step
from stretto.actions.announce import announce
from stretto.actions.answer_step import answer_step
from stretto.actions.caller import Caller
from stretto.actions.deactivate import deactivate
from stretto.actions.delete_breakpoint import delete_breakpoint
from stretto.actions.pause import pause, resume
from stretto.actions.report_output import report_output
from stretto.actions.restart import restart
from stretto.actions.restart_step import restart_step
from stretto.actions.resume_attempt import resume_attempt
from stretto.actions.set_breakpoint import set_breakpoint
from stretto.actions.skip_step import skip_step
from stretto.actions.start import start
from stretto.actions.stop import kill, stop
from stretto.actions.stop_workflow import stop_workflow
from stretto.actions.tag_permits import set_tag_permit
from stretto.actions.unblock import unblock_workflow
from stretto.actions.update_properties import update_properties
from stretto.engine.inline_ids import is_inline
from stretto.engine.records import RunKey
from stretto.model.artifact import Artifacts, DefaultArtifact
from stretto.model.errors import StrettoError, Unavailable
from stretto.model.initiator import ManualInitiator
from stretto.model.output_data import OutputDataRequest
from stretto.model.permit import TagPermitRequest
from stretto.model.properties import PropertiesUpdate, RunStrategy, RunStrategyRule
from stretto.model.request import (
    BreakpointRequest,
    CallbackRequest,
    InstanceRestartRequest,
    SignalRequest,
    StartRequest,
    StepRestartRequest,
)
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import AnyStep, ForeachStep, SubworkflowStep, WhileStep
from stretto.ports.rows import Phase
from stretto.testing.scheduler import Task

if TYPE_CHECKING:
    from simulation.world import World

POLICIES: Final = (RunPolicy.RESTART_FROM_INCOMPLETE, RunPolicy.RESTART_FROM_BEGINNING)
CALLER: Final = Caller(user=OWNER)


class Users:
    """Everybody who is not a node. Their calls take time and go wrong, too, but they never crash."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._store = handle_of(world.store, self, world.sky, world.scheduler, world.watch.note)
        self._requests: list[tuple[str, str]] = []  # workflow and request id
        self._broken_off: list[tuple[str, str]] = []  # breakpoints that were perhaps deleted, and no more
        self._began_again = False
        self.who = "a user"
        self.busy = 0  # actions that are under way

    @property
    def blocked(self) -> bool:
        return False

    def befalls(self, call: str) -> Fault | None:  # noqa: ARG002 - only what befalls everybody
        return None

    def crash(self, fault: Fault) -> None:
        """It is not among what befalls a user."""

    # ------------------------------------------------------------------------------------------------ inputs
    def do(self, given: Input) -> None:
        """Carry an input out, whatever is there for it now."""
        make = self._BY_VERB[given.verb](self, given)
        if make is not None:
            self._world.story.note(f"user: {given.verb} {given.workflow_id}")
            self.run(make, given.verb.value)

    def run(self, coroutine: Coroutine[Any, None, Any], what: str) -> None:
        """Refusals are the user's; anything else that is raised is ours."""
        world = self._world
        self.busy += 1

        def failed(error: Exception) -> None:
            self.busy -= 1
            if not isinstance(error, StrettoError):
                world.complain(f"the action {what} raised {type(error).__name__}: {error}")

        def done(_answer: object) -> None:
            self.busy -= 1
            if world.dice.random() < 0.5:
                world.hint(range(world.groups))

        Task(world.scheduler, coroutine, done=done, failed=failed, gate=lambda _task: 0).go()

    def _start(self, given: Input) -> Awaitable[Any]:
        request_id = f"request {len(self._requests)}"
        self._requests.append((given.workflow_id, request_id))
        return self._started(given.workflow_id, request_id)

    def _start_again(self, given: Input) -> Awaitable[Any] | None:
        if not self._requests:
            return None
        return self._started(*self._requests[given.pick % len(self._requests)])

    def _started(self, workflow_id: str, request_id: str) -> Awaitable[Any]:
        request = StartRequest(initiator=ManualInitiator(user=OWNER), request_id=request_id)
        return start(self._store, CALLER, workflow_id, "latest", request)

    def _run(self, given: Input) -> RunKey | None:
        """One of the runs that are there; those that go on are preferred."""
        rows = [row for row in self._world.rows("runs") if not is_inline(row.key.workflow_id)]
        wanted = [row for row in rows if row.phase is not Phase.ENDED] or rows
        return wanted[given.pick % len(wanted)].key if wanted else None

    def _on_run(self, given: Input) -> Awaitable[Any] | None:
        run = self._run(given)
        if given.verb in {Verb.PAUSE, Verb.RESUME} and given.pick % 2:
            run = self._parent(given) or run
        elif given.verb in {Verb.STOP, Verb.KILL} and given.pick % 2:
            run = self._widest() or run
        return None if run is None else _RUN_ACTIONS[given.verb](self._store, CALLER, *run[:2])

    def _widest(self) -> RunKey | None:
        """The run that has the most iterations alive, if one has several."""
        rows = [row for row in self._world.rows("runs") if row.phase is not Phase.ENDED]
        alive = Counter(row.root for row in rows if row.root != row.key)
        return next((run for run, count in alive.most_common(1) if count > 1), None)

    def _parent(self, given: Input) -> RunKey | None:
        """One of the runs that have a child, or are about to: there a pause must reach further."""
        found = [
            row.key
            for row in self._world.rows("runs")
            if row.phase is not Phase.ENDED
            and not is_inline(row.key.workflow_id)
            and any(
                isinstance(step, SubworkflowStep)
                for step in all_steps(self._world.workflow(row.key.workflow_id).steps)
            )
        ]
        return found[given.pick // 2 % len(found)] if found else None

    def _on_step(self, given: Input) -> Awaitable[Any] | None:
        run = self._run(given)
        step_id = self._step(given, run)
        if run is None or step_id is None:
            return None
        return _STEP_ACTIONS[given.verb](self._store, CALLER, *run[:2], step_id)

    def _step(self, given: Input, run: RunKey | None) -> str | None:
        """A step of the first level of a run's workflow; one that has an attempt, more often than not."""
        if run is None:
            return None
        made = [row.key.step_id for row in self._world.rows("attempts") if row.key.run == run]
        steps = [step.id for step in self._world.workflow(run.workflow_id).steps]
        chosen = made if made and given.pick % 4 else steps
        return chosen[given.pick // 4 % len(chosen)]

    def _suspend(self, given: Input) -> Awaitable[Any] | None:
        run = self._run(given)
        step_id = self._step(given, run)
        if run is None or step_id is None:
            return None
        action = pause if given.verb is Verb.SUSPEND else resume
        return action(self._store, CALLER, *run[:2], steps=(step_id,))

    def _restart(self, given: Input) -> Awaitable[Any] | None:
        run = self._run(given)
        if run is None:
            return None
        request = InstanceRestartRequest(
            restart_policy=POLICIES[given.pick % 2], request_id=f"restart {given.pick}"
        )
        return restart(self._store, CALLER, *run[:2], request)

    def _restart_step(self, given: Input) -> Awaitable[Any] | None:
        run = self._run(given)
        step_id = self._step(given, run)
        if run is None or step_id is None:
            return None
        request = StepRestartRequest(
            restart_policy=POLICIES[given.pick % 2], request_id=f"restart {given.pick}"
        )
        return restart_step(self._store, CALLER, *run[:2], step_id, request)

    def _break(self, given: Input) -> Awaitable[Any]:
        steps = all_steps(self._world.workflow(given.workflow_id).steps)
        step_id = steps[given.pick % len(steps)].id
        if given.verb is Verb.DELETE_BREAKPOINT:
            return self._delete(given.workflow_id, step_id)
        request = BreakpointRequest(workflow_id=given.workflow_id, step_id=step_id)
        return set_breakpoint(self._store, CALLER, request)

    async def _delete(self, workflow_id: str, step_id: str) -> None:
        """Who hears that it was broken off does it again, in the end."""
        try:
            await delete_breakpoint(self._store, CALLER, workflow_id, step_id)
        except Unavailable:
            self._broken_off.append((workflow_id, step_id))
            raise

    def _answer(self, given: Input) -> Awaitable[Any] | None:
        waiting = self._waiting()
        return self._answered(waiting[given.pick % len(waiting)]) if waiting else None

    def _waiting(self) -> list[Any]:
        script = self._world.ledger.script
        return [
            row.key
            for row in self._world.rows("attempts")
            if row.record.status is StepStatus.RUNNING and row.key.step_id in script.approved
        ]

    def _answered(self, attempt: Any) -> Awaitable[Any]:
        approved = self._world.ledger.script.approved[attempt.step_id]
        request = CallbackRequest(approved=approved, request_id=f"answer {attempt}")
        return answer_step(self._store, CALLER, attempt, request)

    def _announce(self, given: Input) -> Awaitable[Any]:
        params: dict[str, Any] = {"day": 1 + given.pick % 2}
        names = TRIGGERS if given.verb is Verb.STORM else SIGNALS
        name = names[given.pick // 2 % len(names)]
        return announce(
            self._store, CALLER, SignalRequest(name=name, params=params, request_id=str(given.pick))
        )

    def _output(self, given: Input) -> Awaitable[Any] | None:
        working = [row.key for row in self._world.rows("attempts") if row.record.launch is not None]
        if not working:
            return None
        artifacts: Artifacts = {"told": DefaultArtifact(data={"pick": given.pick})}
        request = OutputDataRequest(artifacts=artifacts)
        return report_output(self._store, CALLER, working[given.pick % len(working)], request)

    def _limit(self, given: Input) -> Awaitable[Any]:
        request = TagPermitRequest(tag=TAGS[given.pick % 2].name, max_allowed=given.pick // 2 % 3)
        return set_tag_permit(self._store, CALLER, request)

    def _strategy(self, given: Input) -> Awaitable[Any]:
        rules = list(RunStrategyRule)
        strategy = RunStrategy(rule=rules[given.pick % len(rules)])
        update = PropertiesUpdate(run_strategy=strategy)
        return update_properties(self._store, CALLER, given.workflow_id, update)

    def _unblock(self, given: Input) -> Awaitable[Any]:
        return unblock_workflow(self._store, CALLER, given.workflow_id)

    def _stop_all(self, given: Input) -> Awaitable[Any]:
        return stop_workflow(self._store, CALLER, given.workflow_id)

    _BY_VERB: Final[Mapping[Verb, Callable[["Users", Input], Any]]] = {
        Verb.START: _start,
        Verb.START_AGAIN: _start_again,
        Verb.STOP: _on_run,
        Verb.KILL: _on_run,
        Verb.STOP_ALL: _stop_all,
        Verb.PAUSE: _on_run,
        Verb.RESUME: _on_run,
        Verb.SUSPEND: _suspend,
        Verb.LET_GO: _suspend,
        Verb.RESTART: _restart,
        Verb.STEP_RESTART: _restart_step,
        Verb.STEP_SKIP: _on_step,
        Verb.STEP_STOP: _on_step,
        Verb.STEP_KILL: _on_step,
        Verb.BYPASS: _on_step,
        Verb.OUTPUT: _output,
        Verb.SET_BREAKPOINT: _break,
        Verb.DELETE_BREAKPOINT: _break,
        Verb.ANSWER: _answer,
        Verb.ANNOUNCE: _announce,
        Verb.STORM: _announce,
        Verb.LIMIT: _limit,
        Verb.STRATEGY: _strategy,
        Verb.UNBLOCK: _unblock,
    }

    # ------------------------------------------------------------------------------------------------ the end
    def let_everything_go(self) -> None:
        """Nothing that users hold up may keep a run from its end."""
        world = self._world
        for row in world.rows("breakpoints"):
            self.run(self._without_breakpoint(row), "let go")
        while self._broken_off:
            self.run(self._delete(*self._broken_off.pop()), "let go")
        for row in world.rows("runs"):
            if row.phase is not Phase.ENDED and not is_inline(row.key.workflow_id):
                self._resume(row)
        for attempt in self._waiting():
            self.run(self._answered(attempt), "let go")  # type: ignore[arg-type]
        for tag in world.rows("tags"):
            if not tag.max_allowed:
                request = TagPermitRequest(tag=tag.tag, max_allowed=1)
                self.run(set_tag_permit(self._store, CALLER, request), "let go")
        for wait in world.rows("waits"):
            wanted = {"day": 2, **{name: match.value for name, match in wait.match_params.items()}}
            request_id = f"{wait.name} {sorted(wanted.items())} {world.scheduler.now // 30_000}"
            signal = SignalRequest(name=wait.name, params=wanted, request_id=request_id)
            self.run(announce(self._store, CALLER, signal), "let go")
        self.release()
        for workflow_id in self._blocked_workflows():
            self.run(unblock_workflow(self._store, CALLER, workflow_id), "let go")

    def _blocked_workflows(self) -> list[str]:
        """Workflows whose queue waits for a person."""
        db = self._world.db
        return [
            each
            for each in sorted(db.workflows)
            if db.standing_failures[each]
            and (entry := db.workflows[each]).row is not None
            and entry.row.strategy.rule is RunStrategyRule.STRICT_SEQUENTIAL
        ]

    def begin_again(self) -> bool:
        """Restart what has failed, once, in worlds in which users do that; False: there is nothing to do."""
        world = self._world
        if self._began_again or not world.scenario.oddity.again or world.is_judged:
            return False
        self._began_again = True
        failed = [row.key for row in world.rows("runs") if row.root == row.key and row.parent is None]
        failed = [key for key in failed if world.db.runs[key].record.status is RunStatus.FAILED]
        for key in failed:
            request = InstanceRestartRequest(restart_policy=POLICIES[0], request_id=f"again {key}")
            self.run(restart(self._store, CALLER, key.workflow_id, key.instance_id, request), "again")
        return bool(failed)

    def release(self) -> None:
        """What was set aside is tried again."""
        for row in self._world.rows("runs"):
            if row.quarantined is not None:
                self.run(self._store.release_run(row.key), "let go")
        for message in self._world.rows("messages"):
            if message.parked is not None:
                self.run(self._store.release_message(message.id), "let go")

    def _resume(self, row: Any) -> None:
        record, world = row.record, self._world
        late = world.scheduler.now > world.scenario.horizon + 120_000
        if late and world.scenario.poison is not None and (record.paused or record.suspended):
            self.run(stop(self._store, CALLER, *row.key[:2]), "let go")  # what would begin can not be stored
            return
        if record.paused:
            self.run(resume(self._store, CALLER, *row.key[:2]), "let go")
        if record.suspended:
            steps = tuple(sorted(record.suspended))
            self.run(resume(self._store, CALLER, *row.key[:2], steps=steps), "let go")

    def stop_the_clocks(self) -> None:
        """Time triggers would go on for ever."""
        for definition in self._world.scenario.definitions:
            if definition.workflow.time_triggers:
                self.run(deactivate(self._store, CALLER, definition.workflow.id), "deactivate")

    async def _without_breakpoint(self, row: Any) -> None:
        await self._store.delete_breakpoint(row)
        for attempt in self._world.rows("attempts"):
            if attempt.record.status is StepStatus.PAUSED and attempt.key.step_id == row.step_id:
                with suppress(StrettoError):  # it has gone on by itself: the others are waiting all the same
                    await self._resumed(attempt.key)

    async def _resumed(self, key: Any) -> None:
        await resume_attempt(self._store, CALLER, key)


_RUN_ACTIONS: Final[Mapping[Verb, Callable[..., Awaitable[Any]]]] = {
    Verb.STOP: stop,
    Verb.KILL: kill,
    Verb.PAUSE: pause,
    Verb.RESUME: resume,
}
_STEP_ACTIONS: Final[Mapping[Verb, Callable[..., Awaitable[Any]]]] = {
    Verb.STEP_SKIP: skip_step,
    Verb.STEP_STOP: stop_step,
    Verb.STEP_KILL: kill_step,
    Verb.BYPASS: bypass_step,
}


def all_steps(steps: Any) -> list[AnyStep]:
    """The steps of all levels."""
    found: list[AnyStep] = list(steps)
    for each in found:
        if isinstance(each, ForeachStep | WhileStep):
            found += each.steps
    return found
