"""A run: looked at, waited for, and acted on. What it does goes on, whoever holds this object."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, Final, Generic, TypeVar

from stretto.actions.answer_step import answer_step
from stretto.actions.parts.messages import Patience
from stretto.actions.parts.step_attempt import attempt_to_answer
from stretto.actions.pause import pause, resume
from stretto.actions.reading.why import WhyRun, why_run
from stretto.actions.release import release_flow
from stretto.actions.restart import restart
from stretto.actions.restart_step import restart_step
from stretto.actions.skip_step import skip_step
from stretto.actions.stop import kill, stop
from stretto.definition.functions import steps_by_id
from stretto.engine.inline_ids import is_inline
from stretto.engine.records import RunKey
from stretto.engine.run_text import run_text
from stretto.flow.engine.errors import NotYet, RunFailed
from stretto.flow.engine.host import Host
from stretto.flow.engine.inner import Place, place_of
from stretto.flow.engine.library import Chosen, Returned, output_params, run_params
from stretto.flow.engine.library import step_params as encoded_steps
from stretto.flow.engine.listing import all_instances
from stretto.flow.engine.moments import Moments, RunEvent
from stretto.flow.engine.progress import Progress, read_progress
from stretto.flow.engine.reading import outcome_of, read_result, value_of
from stretto.flow.engine.result import RunResult, StepOutcome
from stretto.flow.engine.watching import Bell, Until
from stretto.model.errors import InvalidRequest, WrongState
from stretto.model.param import Params
from stretto.model.request import CallbackRequest, InstanceRestartRequest, StepRestartRequest
from stretto.model.response import Queued, StartResponse, StepRestartResponse
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus
from stretto.ports.history import AttemptsOfStep
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import NewestAttempts

T = TypeVar("T")

LOOK_EVERY: Final = 0.25  # seconds; a change that is not told is found so
ENDED: Final = "it has ended; `run.restart()` makes another run of it"
WAYS_OUT: Final = {
    "pause": "only a run that goes on can be paused",
    "resume": "only a run that is paused can be resumed: `run.pause()` does that",
    "terminate": "only a run that goes on can be ended",
}


class Run(Generic[T]):
    """One run of a workflow that returns a `T`."""

    def __init__(
        self,
        host: Host,
        key: RunKey,
        chosen: Chosen | None = None,
        *,
        adopted: bool = False,
        started: StartResponse | StepRestartResponse | None = None,
    ) -> None:
        self._host = host
        self._chosen = chosen  # what this program means by the workflow
        self._adopted = adopted  # it was there already, maybe of another version
        self._started = started  # how the request was answered that made it
        self.key = key

    def __repr__(self) -> str:
        return f"<Run {self.id}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def id(self) -> str:
        """`etl/3`: the workflow and the number of the instance, and of its run from the second on."""
        return run_text(self.key)

    @property
    def workflow_id(self) -> str:
        return self.key.workflow_id

    @property
    def instance_id(self) -> int:
        return self.key.instance_id

    @property
    def run_id(self) -> int:
        return self.key.run_id

    @property
    def queued(self) -> Queued | None:
        """What held the run back when it was submitted or restarted; None: it was admitted. `why` says how
        that is now.
        """
        return None if self._started is None else self._started.queued

    @property
    def detail(self) -> str | None:
        """The same as a text, such as `queued, blocked by failed etl/1`; also for a run that was dropped."""
        return None if self._started is None else self._started.detail

    # ------------------------------------------------------------------------------------------------ looking
    async def status(self) -> RunStatus:
        """As it is stored now."""
        return (await self._host.row(self.key)).record.status

    async def look(self) -> RunResult[T]:
        """Everything that is known of it now."""
        row = await self._host.row(self.key)
        return await read_result(self._host, row, await self._returned(row))

    async def steps(self) -> Mapping[str, StepOutcome]:
        """Its steps that have begun, by id."""
        workflow = await self._host.workflow(await self._host.row(self.key))
        defined = steps_by_id(workflow.steps)
        rows = await self._host.store.attempts(NewestAttempts((self.key,)))
        return {each.key.step_id: outcome_of(each, defined.get(each.key.step_id)) for each in rows}

    async def inside(self, step_id: str) -> "list[Run[Any]]":
        """The runs inside of a step, oldest first: the iterations of a loop, what its function added, or the
        run of a subworkflow. Each has steps of its own.
        """
        store = self._host.store
        inline = [each.inline_id for each in await store.loops(self.key) if each.key.step_id == step_id]
        keys: list[RunKey] = []
        for workflow_id in dict.fromkeys(inline):
            keys += [row.key async for row in all_instances(store, workflow_id)]
        for attempt in await store.attempts(AttemptsOfStep(self.key, step_id)):
            if attempt.record.child is not None:
                keys.append(attempt.record.child)
        return [Run(self._host, key) for key in sorted(set(keys))]

    async def progress(self) -> Progress:
        """How far it is."""
        return await read_progress(self._host, await self._host.row(self.key))

    async def place(self) -> Place:
        """Where it is, if a step of another run started it: an iteration, or the run of a subworkflow."""
        return place_of(await self._host.row(self.key))

    async def why(self) -> WhyRun:
        """What it waits for."""
        return await why_run(self._host.store, self._host.caller, *self.key[:2], str(self.run_id))

    # ------------------------------------------------------------------------------------------------ waiting
    async def wait(self, timeout: float | None = None) -> RunResult[T]:  # noqa: ASYNC109 - as in asyncio.wait
        """Until it has ended, however it did. Raises NotYet, a TimeoutError, after so many seconds."""
        await self.ended(timeout)
        return await self.look()

    async def result(self, timeout: float | None = None) -> T:  # noqa: ASYNC109 - as in asyncio.wait
        """The value of the workflow, once the run has succeeded. Raises RunFailed if it did not."""
        status = await self.ended(timeout)
        if status is not RunStatus.SUCCEEDED:
            raise RunFailed(await self.look())
        if self._chosen is None or self._adopted:
            returned = await self._returned(await self._host.row(self.key))
        else:
            returned = self._chosen.returned
        if returned is None:
            return None  # type: ignore[return-value]  # then T is None
        rows = await self._host.store.attempts(NewestAttempts((self.key,), returned.step))
        value: T = value_of(next(iter(rows), None), returned)
        return value

    async def events(self) -> AsyncGenerator[RunEvent, None]:
        """How it, its steps and the steps inside of these move, from now on until it has ended; first, how it
        stands.
        """
        host, row = self._host, await self._host.row(self.key)
        moments = Moments(host.store, row)
        with host.watch.listening(self.key, moments, row.group), host.watch.following(moments):
            moments.looked(await host.row(self.key))
            await moments.begin()
            async for event in moments:
                yield event

    async def ended(self, timeout: float | None = None) -> RunStatus:  # noqa: ASYNC109 - see above
        """Until it has ended; nothing is read but how."""
        until = Until()
        try:
            async with asyncio.timeout(timeout):
                with self._host.watch.listening(self.key, until, await self._group()):
                    until.looked(await self._host.row(self.key))
                    return await until.reached()
        except TimeoutError:
            row = await self._host.row(self.key)
            raise NotYet(self.id, row.record.status, timeout or 0.0) from None

    async def _until(self, holds: Callable[[RunRow], bool]) -> RunRow:
        bell = Bell()
        with self._host.watch.listening(self.key, bell, await self._group()):
            while True:
                row = await self._host.row(self.key)
                if holds(row):
                    return row
                await bell.rung(LOOK_EVERY)

    # ------------------------------------------------------------------------------------------------- acting
    async def pause(self) -> None:
        """Nothing new begins in it; what runs goes on to its end. Returns once that is so."""
        host = self._host
        await self._asked("pause", pause(host.store, host.caller, *self.key, hints=host.hints))
        row = await self._until(lambda row: row.record.paused or row.record.status.is_terminal)
        if not row.record.paused:
            raise self._refused("pause", row.record.status)

    async def resume(self) -> None:
        """What was held begins; what has ended is not repeated. So does what was set aside because processes
        died at it again and again.
        """
        host = self._host
        if await release_flow(host.store, host.caller, self.key, hints=host.hints):
            row = await host.row(self.key)
            if not row.record.paused:
                return
        await self._asked("resume", resume(host.store, host.caller, *self.key, hints=host.hints))
        await self._until(lambda row: not row.record.paused)

    async def terminate(self, reason: str = "") -> None:
        """End it STOPPED: work is cancelled, what has not begun never will. Returns once that is stored;
        `wait` tells when the work has ended.
        """
        host = self._host
        await self._asked(
            "terminate", stop(host.store, host.caller, *self.key, reason=reason, hints=host.hints)
        )

    async def kill(self, reason: str = "") -> None:
        """As `terminate`, but it ends FAILED."""
        host = self._host
        await self._asked(
            "terminate", kill(host.store, host.caller, *self.key, reason=reason, hints=host.hints)
        )

    async def restart(
        self,
        *,
        from_beginning: bool = False,
        from_step: str | None = None,
        step_params: Mapping[str, Mapping[str, Any]] | None = None,
        **params: Any,
    ) -> "Run[T]":
        """Another run of the same instance: of what did not succeed, or of everything. Of a
        loop only the iterations run again that did not succeed.

        from_step    begin at this step, with what follows it
        step_params  other values for parameters of single steps, by their id; with `from_step` of that step
        params       other values for parameters of the workflow
        """
        host = self._host
        chosen = await self._version()
        policy = RunPolicy.RESTART_FROM_BEGINNING if from_beginning else RunPolicy.RESTART_FROM_INCOMPLETE
        changed = run_params(chosen, params, new=False) or None
        steps = encoded_steps(chosen, step_params or {})
        made: StartResponse | StepRestartResponse
        if from_step is None:
            request = InstanceRestartRequest(
                restart_policy=policy, run_params=changed, step_run_params=steps or None
            )
            made = await restart(
                host.store,
                host.caller,
                self.workflow_id,
                self.instance_id,
                request,
                hints=host.hints,
                evaluate=host.evaluate,
            )
        else:
            made = await restart_step(
                host.store,
                host.caller,
                self.workflow_id,
                self.instance_id,
                from_step,
                _from_step(from_step, policy, changed, steps),
                hints=host.hints,
                evaluate=host.evaluate,
            )
        key = RunKey(made.workflow_id, made.workflow_instance_id, made.workflow_run_id)
        return Run(host, key, self._chosen, adopted=self._adopted, started=made)

    async def skip(self, step_id: str) -> None:
        """Go on without a step that has not ended, or has failed."""
        host = self._host
        await skip_step(
            host.store,
            host.caller,
            self.workflow_id,
            self.instance_id,
            step_id,
            hints=host.hints,
            evaluate=host.evaluate,
        )

    async def answer(
        self,
        step_id: str,
        *,
        approved: bool = True,
        message: str = "",
        request_id: str | None = None,
        **outputs: Any,
    ) -> None:
        """Answer for a step that waits for somebody: go on, with these values, or fail. If the step does not
        ask yet, the run keeps the answer until it does. The same `request_id` counts once.
        """
        host = self._host
        attempt = await attempt_to_answer(host.store, self.workflow_id, self.instance_id, step_id)
        values = output_params(await self._version(), step_id, outputs)
        request = CallbackRequest(
            approved=approved, outputs=values, message=message or None, request_id=request_id
        )
        config = host.app.config
        most, limits = config.engine.early_answers, config.params
        await answer_step(
            host.store,
            host.caller,
            attempt,
            request,
            most_early=most,
            limits=limits,
            patience=Patience(clock=host.clock),
            hints=host.hints,
        )

    async def _asked(self, what: str, asking: Any) -> None:
        try:
            await asking
        except WrongState as error:
            row = await self._host.row(self.key)
            raise self._refused(what, row.record.status) from error

    def _refused(self, what: str, status: RunStatus) -> WrongState:
        hint = ENDED if status.is_terminal else WAYS_OUT[what]
        return WrongState(f"can not {what} run {self.id}: it is {status}", hint=hint)

    # ------------------------------------------------------------------------------------------------ knowing
    async def _returned(self, row: RunRow) -> Returned | None:
        """Where its value stands: its own version says that, and this program of which type it is."""
        stored = (await self._host.version(row)).returned
        own = None if self._chosen is None else self._chosen.returned
        return own if stored is not None and own is not None and own[:3] == stored[:3] else stored

    async def _group(self) -> int | None:
        """That of an iteration; those of other runs are known by their keys."""
        return (await self._host.row(self.key)).group if is_inline(self.workflow_id) else None

    async def _version(self) -> Chosen:
        return await self._host.version(await self._host.row(self.key))


def _from_step(
    step_id: str, policy: RunPolicy, changed: Params | None, steps: Mapping[str, Params]
) -> StepRestartRequest:
    others = [f"`{each}`" for each in steps if each != step_id]
    if others:
        raise InvalidRequest(
            f"a restart from step `{step_id}` can change parameters of that step alone,"
            f" not of {', '.join(others)}",
            hint="restart without from_step, or change parameters of the workflow",
        )
    return StepRestartRequest(restart_policy=policy, run_params=changed, step_run_params=steps.get(step_id))
