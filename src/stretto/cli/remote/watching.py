"""A run that was started on a server: what is said of it, until it has ended if somebody wants to wait."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from stretto.cli import style
from stretto.cli.address import readable, run_text
from stretto.cli.remote.reading import read_loops
from stretto.cli.remote.server import Remote
from stretto.cli.running.log import step_text
from stretto.cli.running.progress import AT_WORK, Progress, Step
from stretto.cli.showing.loops import loop_text
from stretto.cli.showing.run import reason_of
from stretto.engine.records import RunKey
from stretto.model.errors import StrettoError
from stretto.model.event import ChangeEvent
from stretto.model.instance import WorkflowInstance
from stretto.model.response import StartResponse, StartStatus, StepRestartResponse
from stretto.model.status import RunStatus, StepStatus
from stretto.model.wire import to_json
from stretto.model.workflow import Workflow
from stretto.node.clock import SystemClock

if TYPE_CHECKING:
    from stretto.client import Client

PASSING: Final = StepStatus.WAITING_FOR_PERMITS  # each is so for a moment; `stretto why` knows if it is more
TELL_EVERY: Final = 5.0  # seconds between two looks at the loops of a run
INTERRUPTED: Final = 130  # what shells say of Ctrl-C


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What a user wants to see of a run."""

    wait: bool = False
    follow: bool = False
    as_json: bool = False
    cursor: str | None = None  # from before the start


def watch(client: "Client", remote: Remote, made: StartResponse | StepRestartResponse, wish: Wish) -> int:
    """Say what was started, and what becomes of it; returns the exit code."""
    key = RunKey(made.workflow_id, made.workflow_instance_id, made.workflow_run_id)
    if not wish.as_json:
        click.echo(_started(key, made))
    if not (wish.wait or wish.follow):
        if wish.as_json:
            status = RunStatus(_STATUS[made.status])
            click.echo(to_json(_as_json(key, made.workflow_version_id, status, detail=made.detail)))
        return 1 if made.status is StartStatus.STOPPED else 0
    try:
        if wish.follow and not wish.as_json:
            _follow(client, key, wish.cursor)
        run = client.wait(key)
    except KeyboardInterrupt:
        name = run_text(key)
        click.echo(f"{name} goes on there; it is stopped by: {remote.again('stop', name)}", err=True)
        return INTERRUPTED
    _tell_end(client, remote, key, run, as_json=wish.as_json)
    return 0 if run.run_status is RunStatus.SUCCEEDED else 1


_STATUS: Final = {
    StartStatus.CREATED: RunStatus.CREATED,
    StartStatus.DUPLICATED: RunStatus.CREATED,
    StartStatus.STOPPED: RunStatus.STOPPED,
    StartStatus.INTERNAL_ERROR: RunStatus.FAILED,
}


def _started(key: RunKey, made: StartResponse | StepRestartResponse) -> str:
    name, version = run_text(key), f"version {made.workflow_version_id}"
    match made.status:
        case StartStatus.DUPLICATED:
            return f"{name}, {version}: this request has started it before"
        case _:
            return f"{name}, {version}: {made.detail or 'started'}"


def _tell_end(client: "Client", remote: Remote, key: RunKey, run: WorkflowInstance, *, as_json: bool) -> None:
    began, ended = run.start_time, run.end_time
    if as_json:
        found = _as_json(key, run.workflow_version_id or 0, run.run_status, began, ended)
        click.echo(to_json(found))
        return
    sign, colour = style.mark(run.run_status)
    took = "" if began is None or ended is None else f" {style.duration(ended - began)}"
    click.echo(style.paint(f"{sign} {run_text(key)} {run.run_status}{took}", colour, bold=True))
    if run.run_status is not RunStatus.SUCCEEDED:
        click.echo(readable(client.why(key).sentence))
        click.echo(style.paint(f"More: {remote.again('show', run_text(key))}", style.CALM))


def _as_json(
    key: RunKey,
    version: int,
    status: RunStatus,
    began: int | None = None,
    ended: int | None = None,
    *,
    detail: str | None = None,
) -> dict[str, Any]:
    """As `stretto run --json` says it."""
    found = {
        "run": "/".join(map(str, key)),
        "workflow_id": key.workflow_id,
        "workflow_instance_id": key.instance_id,
        "workflow_run_id": key.run_id,
        "workflow_version_id": version,
        "status": status,
        "detail": detail,
        "start_time": began,
        "end_time": ended,
    }
    return {name: value for name, value in found.items() if value is not None}


# ------------------------------------------------------------------------------------------------- following
def _follow(client: "Client", key: RunKey, cursor: str | None) -> None:
    """Say what happens to each step, until the run has ended."""
    run = client.run(key)
    workflow = run.runtime_workflow or Workflow(id=key.workflow_id)
    teller = _Teller(client, Progress(workflow, key, run.workflow_version_id or 0, RunStatus.CREATED))
    with _now_and_then(teller.tell_loops):
        for happened in client.follow_run(key, cursor=cursor):
            events: Iterable[ChangeEvent] | None = getattr(happened, "events", None)
            if events is None:
                teller.look_again()
            else:
                teller.hear(events)


@contextmanager
def _now_and_then(work: Callable[[], None]) -> Iterator[None]:
    """Do something every few seconds, beside what is done meanwhile: a run says nothing of its iterations."""
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(TELL_EVERY):
            with suppress(StrettoError):  # whoever follows hears of a server that is away
                work()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class _Teller:
    """Says of each step once that it works or waits, and how it ended."""

    def __init__(self, client: "Client", progress: Progress) -> None:
        self._client = client
        self._progress = progress
        self._told: dict[str, tuple[int, StepStatus]] = {}
        self._loops: dict[str, str] = {}  # what was said last of each

    def hear(self, events: Iterable[ChangeEvent]) -> None:
        for event in events:
            step = self._progress.apply(event)
            if step is not None:
                self._tell(step)

    def look_again(self) -> None:
        """Something was missed: as it is now."""
        for made in self._client.steps(self._progress.key):
            state, step = made.runtime_state, self._progress.steps[made.step_id]
            step.move(state.status, made.step_attempt_id, state.modify_time or SystemClock().now())
            self._tell(step)

    def _tell(self, step: Step) -> None:
        status = StepStatus.RUNNING if step.status in AT_WORK else step.status
        is_news = self._told.get(step.id) != (step.attempt, status) and status is not PASSING
        if not is_news or not (status is StepStatus.RUNNING or status.is_terminal or step.waits):
            return
        self._told[step.id] = (step.attempt, status)
        if status.is_terminal and not status.is_complete:
            step.reason = reason_of(self._client.step(self._progress.key, step.id, step.attempt))
        click.echo(f"{style.clock_time(SystemClock().now())} {step_text(step)}")
        if step.is_loop and status.is_terminal:
            self._tell_loop(step)

    def tell_loops(self) -> None:
        """Say how far loops are that go on."""
        for step in list(self._progress.steps.values()):
            if step.is_loop and step.status in AT_WORK:
                self._tell_loop(step)

    def _tell_loop(self, step: Step) -> None:
        made = self._client.step(self._progress.key, step.id, step.attempt)
        for sight in read_loops(self._client, [made]):
            text = loop_text(sight)
            if self._loops.get(step.id) != text:
                self._loops[step.id] = text
                click.echo(f"{style.clock_time(SystemClock().now())}   {step.id}: {text}")
