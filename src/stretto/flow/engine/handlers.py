"""What a program wants to be called when a run changes its status.

    @engine.on("failed", "timed_out")
    async def tell(change): ...

Handlers are called in the process that looks after the run, after the change is stored, for each run in the
order of its changes. One that raises is logged; the run never notices. A process that is killed between the
change and the call does not make it up. Those of a workflow are called by another process that knows them if
that one does not (see `elsewhere`).
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping
from functools import partial
from typing import Any, Final

import msgspec

from stretto.engine.records import RunKey
from stretto.engine.run_text import run_text
from stretto.model.errors import InvalidRequest
from stretto.model.event import InstanceStatusChanged
from stretto.model.status import RunStatus
from stretto.model.suggest import did_you_mean
from stretto.ports.functions import ADVERTISED_HANDLER
from stretto.ports.runtime import current_task, is_for_task
from stretto.runtimes.python.filters import settled
from stretto.runtimes.python.threads import attempted

LOG = logging.getLogger(__name__)

RESUMED: Final = "RESUMED"  # not a status of its own: a run is in progress again
NAMES: Final = (*RunStatus, RESUMED)
ALIASES: Final = {
    "SUCCESS": "SUCCEEDED",
    "FAILURE": "FAILED",
    "TERMINATED": "STOPPED",
    "RUNNING": "IN_PROGRESS",
}

Handler = Callable[["RunChange"], Any]  # a function, or a coroutine function


class RunChange(msgspec.Struct, frozen=True, kw_only=True):
    """A run has moved.

    id     `etl/3`
    at     milliseconds since 1970
    run    the `Run`, to act on it
    root   the run that nobody but a user or a trigger started: `etl/3` for what is inside of it
    path   the way from there: `load_map[2]` for the second iteration of a loop, `clean` for the run of a
           subworkflow; empty for a run that no step started
    """

    key: RunKey
    id: str
    old: RunStatus
    new: RunStatus
    at: int
    run: Any = None
    root: str = ""
    path: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Under which handlers are asked for."""
        resumed = self.new is RunStatus.IN_PROGRESS and self.old is RunStatus.PAUSED
        return (RESUMED, self.new.value) if resumed else (self.new.value,)


Claim = Callable[[InstanceStatusChanged, Collection[str]], Awaitable[Collection[str]]]
"""Under which of some names the handlers are to be called here."""


def handler_name(workflow_id: str, status: str) -> str:
    """What a process advertises that knows a handler of a workflow."""
    return f"{ADVERTISED_HANDLER}{workflow_id}:{status}"


Call = Callable[[RunChange, asyncio.Task[None] | None], Coroutine[Any, Any, None]]


def status_name(given: str) -> str:
    """A status as a handler names it, in any case."""
    upper = str(given).upper()
    name = ALIASES.get(upper, upper)
    if name not in NAMES:
        known = [each.lower() for each in NAMES]
        hint = (
            did_you_mean(str(given).lower(), [*known, *map(str.lower, ALIASES)])
            or f"there are {', '.join(known)}"
        )
        raise InvalidRequest(f"a run is never `{given}`: {hint}")
    return name


class Handlers:
    """All handlers of an engine: those for every run, and those of single workflows."""

    def __init__(self) -> None:
        self._by_status: dict[str, list[Handler]] = {}
        self._by_workflow: dict[str, dict[str, list[Handler]]] = {}
        self._last: dict[RunKey, asyncio.Task[None]] = {}  # of each run the call that was made last
        self.run_of: Callable[[RunKey], Any] = lambda _key: None

    def add(self, statuses: Iterable[str], handler: Handler) -> None:
        """For every run; without a status for each change."""
        for name in [status_name(each) for each in statuses] or RunStatus:
            self._by_status.setdefault(name, []).append(handler)

    def of_workflow(self, workflow_id: str, handlers: Mapping[str, Iterable[Handler]]) -> None:
        """Those that a workflow brings along; the newest count."""
        known = {status_name(name): list(each) for name, each in handlers.items()}
        if known:
            self._by_workflow[workflow_id] = known
        else:
            self._by_workflow.pop(workflow_id, None)

    @property
    def names(self) -> frozenset[str]:
        """Those of workflows, as they are advertised."""
        own = self._by_workflow.items()
        return frozenset(handler_name(workflow_id, each) for workflow_id, known in own for each in known)

    def changed(self, event: InstanceStatusChanged) -> None:
        """A change was stored."""
        own = self._by_workflow.get(event.workflow_id)
        if not (own or self._by_status):
            return
        change = _change(event)
        called = [
            each
            for name in change.names
            for each in (*(own or {}).get(name, ()), *self._by_status.get(name, ()))
        ]
        if called:
            self._begin(event, change, lambda told, before: self._call(before, called, told))

    def changed_elsewhere(self, event: InstanceStatusChanged, claim: Claim) -> None:
        """Another process has stored a change. Those of its workflow are called if that is claimed."""
        own = self._by_workflow.get(event.workflow_id, {})
        change = _change(event)
        names = [name for name in change.names if own.get(name)]

        async def call(told: RunChange, before: asyncio.Task[None] | None) -> None:
            claimed = await claim(event, names)
            await self._call(before, [each for name in claimed for each in own[name]], told)

        if names:
            self._begin(event, change, call)

    def _begin(self, event: InstanceStatusChanged, change: RunChange, call: Call) -> None:
        key = change.key
        change = msgspec.structs.replace(change, run=self.run_of(key))
        task = asyncio.create_task(
            _placed_call(change, self._last.get(key), call, is_nested=bool(event.depth))
        )
        self._last[key] = task
        task.add_done_callback(lambda done: self._over(key, done))

    def _over(self, key: RunKey, task: asyncio.Task[None]) -> None:
        if self._last.get(key) is task:
            del self._last[key]

    async def _call(
        self,
        before: asyncio.Task[None] | None,
        handlers: Iterable[Handler],
        change: RunChange,
    ) -> None:
        if before is not None:
            await asyncio.wait({before})
        task = current_task()
        for handler in handlers:
            try:
                if inspect.iscoroutinefunction(handler):
                    await handler(change)
                else:
                    outcome = await asyncio.to_thread(attempted, partial(handler, change))
                    await settled(outcome.get())
            except BaseException as error:
                if is_for_task(error, task):
                    raise
                LOG.exception("the handler %r of run %s %s failed", handler, change.id, change.new)

    async def finish(self) -> None:
        """Until all that were called have returned."""
        while self._last:
            await asyncio.wait(self._last.values())


def _change(event: InstanceStatusChanged) -> RunChange:
    key = RunKey(event.workflow_id, event.workflow_instance_id, event.workflow_run_id)
    return RunChange(
        key=key,
        id=run_text(key),
        old=RunStatus(event.old_status.value),
        new=RunStatus(event.new_status.value),
        at=event.event_time,
        root=run_text(key),
    )


async def _placed_call(
    change: RunChange, before: asyncio.Task[None] | None, call: Call, *, is_nested: bool
) -> None:
    await call(await _placed(change) if is_nested else change, before)


async def _placed(change: RunChange) -> RunChange:
    """A change of a run that a step started, with its place. The database may be closed already."""
    try:
        place = await change.run.place()
    except Exception:
        LOG.warning("the place of run %s could not be read", change.id, exc_info=True)
        return change
    return msgspec.structs.replace(change, root=place.root, path=place.path)
