"""One run in this process, from its start to its end or to the next interrupt.

The first interrupt pauses the run and lets work that goes on end for a while; the second ends everything now.
Either way the run can be continued. That the reader of the output went away counts as an interrupt.
"""

import asyncio
import errno
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.function_checks import check_functions
from stretto.actions.pause import pause
from stretto.app import App, running
from stretto.cli.address import run_text
from stretto.cli.database import Place
from stretto.cli.running.beginning import Beginning, Begun
from stretto.cli.running.following import Bell, Follower
from stretto.cli.running.progress import Progress, Step
from stretto.cli.running.views import Ending, View
from stretto.cli.running.wanted import Wanted, check_runnable
from stretto.cli.style import duration
from stretto.definition.required import result_place_of
from stretto.engine.inline_ids import is_inline
from stretto.engine.records import AttemptKey
from stretto.model.errors import StrettoError, Unavailable
from stretto.model.status import RunStatus
from stretto.ports.rows import AttemptRow, RunRow
from stretto.ports.run_snapshot import NewestAttempts, read_run
from stretto.server.functions import Functions
from stretto.server.interrupts import Interrupts

WAY_OUT: Final = "name its code with `--app`, or put it beside the file under the same name"
SOME: Final = 3  # names in a message
PAUSE_WITHIN: Final = 5.0  # seconds; without the pause the run is continued all the same
BROKEN_PIPE: Final = 128 + 13


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a session is to do."""

    wanted: Wanted
    place: Place
    caller: Caller
    resume: bool
    again: str | None  # the command that goes on with it; None: nothing is kept


class Careful:
    """A view whose reader may go away: then nothing is shown any more, and that is an interrupt."""

    def __init__(self, view: View, gone: Callable[[], None]) -> None:
        self._view = view
        self._gone = gone
        self._lost = False

    def begin(self, progress: Progress, place: Place) -> None:
        self._tried(lambda: self._view.begin(progress, place))

    def show(self, moved: Sequence[Step]) -> None:
        self._tried(lambda: self._view.show(moved))

    def note(self, text: str) -> None:
        self._tried(lambda: self._view.note(text))

    def end(self, ending: Ending) -> None:
        self._tried(lambda: self._view.end(ending))

    def _tried(self, show: Callable[[], None]) -> None:
        if self._lost:
            return
        try:
            show()
        except OSError as error:
            if error.errno not in {errno.EPIPE, errno.EIO, errno.EBADF}:
                raise
            self._lost = True
            _silence()
            self._gone()


def _silence() -> None:
    """What is still in the buffer would fail again when the interpreter ends."""
    with suppress(OSError, ValueError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


async def session(order: Order, view: View) -> tuple[Ending, int]:
    """How it ended, and the exit code."""
    interrupts, bell = Interrupts(), Bell()
    careful = Careful(view, lambda: interrupts.come(BROKEN_PIPE))
    with interrupts.heard():
        functions = Functions(order.wanted.flows, order.wanted.functions)
        async with (
            running(
                order.place.config, order.place.url, (bell, functions), functions.runtimes, functions.record
            ) as app,
            functions.looking(app.store),
        ):
            check_runnable(order.wanted.definitions, app.runtimes.by_type)
            await check_functions(app.store, order.wanted.definitions, functions.names, WAY_OUT)
            begun = await app.watch(_begun(app, order))
            follower = Follower(app.store, order.caller, begun.key, bell)
            progress = await follower.begin()
            careful.begin(progress, order.place)
            for note in begun.notes:
                careful.note(note)
            await app.watch(_first(follower.follow(careful.show, careful.note), interrupts.first.wait()))
            if interrupts.first.is_set() and not progress.status.is_terminal:
                await _first(_pause(app, order, follower), interrupts.second.wait())
            ending = await _ending(app, order, follower, interrupted=interrupts.first.is_set())
            _tell_wait(app, careful)
            cutting = asyncio.create_task(_cut_short(app, interrupts.second))
        cutting.cancel()
        await functions.finish()
        careful.end(ending)
    outcome = 0 if ending.progress.status is RunStatus.SUCCEEDED else 1
    return ending, outcome if ending.progress.status.is_terminal else interrupts.code


async def _begun(app: App, order: Order) -> Begun:
    beginning = Beginning(app.store, order.caller, app.hints, app.config)
    return await (beginning.again(order.wanted) if order.resume else beginning.anew(order.wanted))


async def _first(*works: Awaitable[object]) -> None:
    """Until one of them is done; what it raises is raised."""
    tasks = [asyncio.ensure_future(each) for each in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


async def _pause(app: App, order: Order, follower: Follower) -> None:
    """Nobody goes on with the run by himself; what happened meanwhile is read once more."""
    with suppress(TimeoutError, StrettoError):
        async with asyncio.timeout(PAUSE_WITHIN):
            key = follower.progress.key
            row = await read_run(app.store, key)
            # If it is ours, and we are ended before it is paused, it goes on as after any other death.
            ours = row is not None and row.group in app.groups
            node = app.node if ours else None
            await pause(app.store, order.caller, *key, node=node, hints=app.hints)
            # Whoever owns the run may be another process: nobody tells us.
            while not _rests(await read_run(app.store, key)):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    with suppress(Unavailable):
        await follower.look()


async def _cut_short(app: App, again: asyncio.Event) -> None:
    """Who waits for the end, and has waited enough, says so once more."""
    await again.wait()
    app.hurry()


def _rests(row: RunRow | None) -> bool:
    return row is None or row.record.paused or row.record.status.is_terminal


async def _ending(app: App, order: Order, follower: Follower, *, interrupted: bool) -> Ending:
    progress, attempts = follower.progress, tuple[AttemptRow, ...]()
    with suppress(Unavailable):
        attempts = tuple(await app.store.attempts(NewestAttempts((progress.key,))))
    place = result_place_of(order.wanted.chosen.extra)
    left = [each.record.params or {} for each in attempts if place and each.key.step_id == place.step]
    return Ending(
        progress=progress,
        place=order.place,
        attempts=attempts,
        result=left[0].get(place.param) if place and left else None,
        interrupted=interrupted and not progress.status.is_terminal,
        again=order.again,
    )


def _tell_wait(app: App, view: View) -> None:
    """Work that goes on has its time."""
    names = sorted({_name(launch.attempt) for launch in app.at_work})
    if names:
        most = duration(app.config.node.stop_within)
        shown = ", ".join(names[:SOME]) + (f" and {len(names) - SOME} more" if len(names) > SOME else "")
        view.note(f"waiting up to {most} for {shown} to end; Ctrl-C ends {_it(names)} now")


def _name(attempt: AttemptKey) -> str:
    """An iteration has an id that nobody knows: its step must do."""
    run = attempt.run
    return attempt.step_id if is_inline(run.workflow_id) else f"{run_text(run)}:{attempt.step_id}"


def _it(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"
