"""Runs and steps as a test looks at them: always as they are committed now."""

from typing import TYPE_CHECKING, Any

from stretto.actions.act_on_step import bypass_step, kill_step, stop_step
from stretto.actions.answer_step import answer_step
from stretto.actions.pause import pause, resume
from stretto.actions.restart import restart
from stretto.actions.restart_step import restart_step
from stretto.actions.skip_step import skip_step
from stretto.actions.stop import kill, stop
from stretto.engine.records import RunKey
from stretto.model.request import CallbackRequest, InstanceRestartRequest, StepRestartRequest
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.history import AttemptsOfStep
from stretto.ports.paging import Cut
from stretto.ports.rows import AttemptRow, RunRow
from stretto.ports.run_snapshot import InstancePage, NewestAttempts, read_run
from stretto.ports.runtime import FatalError, StepContext, StepResult
from stretto.runtimes.python.values import decode_returned, encode, kind_of_param
from stretto.testing.working import output, result_of

if TYPE_CHECKING:
    from stretto.testing.harness import Harness

Line = str


class Run:
    """One run. Iterations of loops and children of steps are runs, too."""

    def __init__(self, harness: "Harness", key: RunKey) -> None:
        self._harness = harness
        self.key = key

    def __repr__(self) -> str:
        return f"<run {self.key} {self.status}>"

    @property
    def _row(self) -> RunRow:
        row = self._harness.ask(read_run(self._harness.store, self.key))
        if row is None:
            message = f"there is no run {self.key}"
            raise LookupError(message)
        return row

    # ----------------------------------------------------------------------------------------------- looking
    @property
    def status(self) -> str:
        """Such as `IN_PROGRESS` or `SUCCEEDED`."""
        return self._row.record.status.value

    @property
    def has_ended(self) -> bool:
        return self._row.record.status.is_terminal

    @property
    def params(self) -> dict[str, Any]:
        """The values of its parameters."""
        return {name: param.evaluated_result for name, param in self._row.record.params.items()}

    @property
    def timeline(self) -> list[Line]:
        """What happened to it, in words."""
        return [getattr(event, "message", "") for event in self._row.record.timeline]

    @property
    def steps(self) -> dict[str, str]:
        """The status of each step that has begun, in the order in which they did."""
        rows = self._harness.ask(self._harness.store.attempts(NewestAttempts((self.key,))))
        return {row.key.step_id: row.record.status.value for row in rows}

    @property
    def result(self) -> Any:
        """What the flow of a run that has succeeded returned; None if the step that has it did not run."""
        if self._row.record.status is not RunStatus.SUCCEEDED:
            reasons = [f"{each}: {self.step(each).reason}" for each in self.steps if self.step(each).reason]
            message = f"{self} has no result; {'; '.join(reasons) or self.steps}"
            raise AssertionError(message)
        flow = self._harness.flows.get(self.key.workflow_id)
        where = None if flow is None else flow.returns
        if where is None or self.step(where.step).status != StepStatus.SUCCEEDED:
            return None
        value = self.step(where.step).params[where.param]
        return decode_returned(value, where.kind, where.annotation, where.param)

    def step(self, step_id: str) -> "Step":
        return Step(self._harness, self.key, step_id)

    def iterations(self, step_id: str) -> "list[Run]":
        """The iterations of a loop that have begun, in order; those of restarted loops come last."""
        store, ask = self._harness.store, self._harness.ask
        inline = dict.fromkeys(
            loop.inline_id for loop in ask(store.loops(self.key)) if loop.key.step_id == step_id
        )
        found: list[RunKey] = []
        for workflow_id in inline:
            page = ask(store.runs(InstancePage(workflow_id, Cut(most=10_000))))
            found += [row.key for row in page.elements]
        return [Run(self._harness, key) for key in sorted(found)]

    # ------------------------------------------------------------------------------------------------ acting
    def stop(self) -> None:
        self._harness.do(stop(self._harness.store, self._harness.caller, *self.key[:2]))

    def kill(self) -> None:
        self._harness.do(kill(self._harness.store, self._harness.caller, *self.key[:2]))

    def pause(self) -> None:
        self._harness.do(pause(self._harness.store, self._harness.caller, *self.key[:2]))

    def resume(self) -> None:
        self._harness.do(resume(self._harness.store, self._harness.caller, *self.key[:2]))

    def restart(self, *, from_beginning: bool = False) -> "Run":
        """A new run of the same instance: what is not complete, or all of it."""
        policy = RunPolicy.RESTART_FROM_BEGINNING if from_beginning else RunPolicy.RESTART_FROM_INCOMPLETE
        request = InstanceRestartRequest(restart_policy=policy)
        harness = self._harness
        done = harness.do(restart(harness.store, harness.caller, *self.key[:2], request))
        return Run(harness, RunKey(done.workflow_id, done.workflow_instance_id, done.workflow_run_id))


class Step:
    """A step of a run, by its newest attempt."""

    def __init__(self, harness: "Harness", run: RunKey, step_id: str) -> None:
        self._harness = harness
        self._run = run
        self.step_id = step_id

    def __repr__(self) -> str:
        return f"<step {self.step_id} of {self._run} {self.status}>"

    @property
    def attempts(self) -> list[AttemptRow]:
        """All attempts of it in this run, the oldest first."""
        return self._harness.ask(self._harness.store.attempts(AttemptsOfStep(self._run, self.step_id)))

    @property
    def _newest(self) -> AttemptRow:
        rows = self.attempts
        if not rows:
            known = ", ".join(Run(self._harness, self._run).steps) or "none"
            message = f"step {self.step_id} of {self._run} has not begun; those that have: {known}"
            raise LookupError(message)
        return rows[-1]

    # ----------------------------------------------------------------------------------------------- looking
    @property
    def status(self) -> str:
        """Such as `RUNNING` or `SUCCEEDED`; `NOT_CREATED` as long as it has not begun."""
        rows = self.attempts
        return rows[-1].record.status.value if rows else "NOT_CREATED"

    @property
    def params(self) -> dict[str, Any]:
        """The values of its parameters; outputs are among them once it has succeeded."""
        return {name: param.evaluated_result for name, param in (self._newest.record.params or {}).items()}

    @property
    def timeline(self) -> list[Line]:
        return [getattr(event, "message", "") for event in self._newest.record.timeline]

    @property
    def started(self) -> float | None:
        """When its work began, in seconds since the test did."""
        return self._harness.seconds(self._newest.record.start_time)

    @property
    def ended(self) -> float | None:
        """When it ended, in seconds since the test began."""
        return self._harness.seconds(self._newest.record.end_time)

    @property
    def reason(self) -> str | None:
        """Why it ended as it did."""
        return self._newest.record.reason

    @property
    def child(self) -> Run:
        """The run that a subworkflow step has started."""
        key = self._newest.record.child
        if key is None:
            message = f"step {self.step_id} of {self._run} has started no run"
            raise LookupError(message)
        return Run(self._harness, key)

    # --------------------------------------------------------------------------------------------- its work
    def finish(self, **outputs: Any) -> None:
        """Work that is held is done, with these output values; `result` is what a function returns."""
        declared = self._held.step.params or {}
        for name, value in outputs.items():
            kind = kind_of_param(declared[name]) if name in declared else None
            if kind is not None and kind.json:
                outputs[name] = encode(value, kind, name)
        self.report(outputs)

    def fail(self, message: str = "it failed") -> None:
        """Work that is held has failed, and is not worth another try."""
        self.report(FatalError(message=message))

    def report(self, said: "StepResult | dict[str, Any] | None") -> None:
        """Work that is held says how it ended, or that it goes on."""
        self._harness.tell(self._held, result_of(said))

    @property
    def _held(self) -> StepContext:
        attempt = self._newest.key
        context = self._harness.works.held.get(attempt)
        if context is None:
            message = (
                f"the work of {attempt} is not held: it is {self.status};"
                f" hold it with `harness.does({self.step_id!r}, HELD)` before it begins"
            )
            raise LookupError(message)
        return context

    def answer(self, *, approved: bool = True, **outputs: Any) -> None:
        """Somebody answers for a Wait step."""
        values = {name: output(value) for name, value in outputs.items()}
        request = CallbackRequest(approved=approved, outputs=values)
        harness = self._harness
        harness.do(answer_step(harness.store, harness.caller, self._newest.key, request))

    # ------------------------------------------------------------------------------------------------ acting
    def stop(self) -> None:
        self._act(stop_step)

    def kill(self) -> None:
        self._act(kill_step)

    def skip(self) -> None:
        self._act(skip_step)

    def bypass(self) -> None:
        """Wait for no more signals."""
        self._act(bypass_step)

    def restart(self) -> None:
        """Another attempt in the same run, or, if that has ended, a new run that begins here."""
        request = StepRestartRequest(restart_policy=RunPolicy.RESTART_FROM_INCOMPLETE)
        harness = self._harness
        harness.do(restart_step(harness.store, harness.caller, *self._run[:2], self.step_id, request))

    def _act(self, action: Any) -> None:
        harness = self._harness
        harness.do(action(harness.store, harness.caller, *self._run[:2], self.step_id))
