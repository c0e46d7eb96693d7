"""One call after the other, in a worker: find the function, call it, and say what came of it."""

import asyncio
import inspect
import multiprocessing.resource_tracker as tracker
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import msgspec

from stretto.model.artifact import DefaultArtifact
from stretto.model.param import RESULT
from stretto.ports.clock import machine_steady
from stretto.ports.runtime import FatalError, PlatformError
from stretto.runtimes.python.arguments import check_known, injected
from stretto.runtimes.python.errors import Cancelled, TooLarge
from stretto.runtimes.python.failures import ARTIFACT, failure_of
from stretto.runtimes.python.function import Function
from stretto.runtimes.python.plain import Unserialisable, json_text
from stretto.runtimes.python.requirements import check_installed
from stretto.runtimes.python.returning import TOO_LARGE
from stretto.runtimes.workers.context import FarBackstage, Tell, context_of
from stretto.runtimes.workers.loading import WorkerServices, load
from stretto.runtimes.workers.messages import (
    FATAL,
    MOST_RESULT,
    PLATFORM,
    USER,
    Answer,
    Call,
    Found,
    Raised,
    Returned,
    Target,
)
from stretto.runtimes.workers.system import children_of, has_children
from stretto.runtimes.workers.values import arguments

NO_MEMORY: Final = "the worker process ran out of memory"
TOLD_TO_END: Final = "the step was told to end"


class Caller:
    """Calls functions. Made in the main thread, where signals come."""

    def __init__(self, tell: Tell, permitted: Callable[[], float], most_result: int = MOST_RESULT) -> None:
        self._tell = tell
        self._permitted = permitted
        self._most_result = most_result
        self._known: dict[Target, Function] = {}
        self._services = WorkerServices({})
        self._factories: dict[str, str] = {}
        self._runner: asyncio.Runner | None = None
        self._backstage: FarBackstage | None = None
        self._task: asyncio.Task[Any] | None = None
        self._is_beginning = False  # it looks for the function, and has not called it yet
        self._is_calling = False
        self._is_told = False  # to end, before there was anything to end: then there is only this call
        self._is_held = False
        self._is_pending = False

    def answer(self, call: Call) -> Answer:
        """What came of it, whatever happens."""
        self._prepare(call)
        answer: Answer
        try:
            answer = self._called(call)
        except MemoryError as error:
            answer = raised(error)
        except BaseException as error:  # noqa: BLE001 - a function may raise anything
            answer = raised(error)
        finally:
            self._is_beginning = self._is_calling = False
            self._backstage = None
        _flush()
        left = _left_behind()
        if left:
            answer = _with(answer, left)
        return answer

    def close(self) -> None:
        """No more calls."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None

    # -------------------------------------------------------------------------------------------------- calls
    def _prepare(self, call: Call) -> None:
        """Functions of earlier calls may have changed what belongs to the process."""
        signal.signal(signal.SIGTERM, self.cancel)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if call.path is not None:
            sys.path[:] = call.path
        if call.argv is not None:
            sys.argv[:] = call.argv
        if call.factories is not None and call.factories != self._factories:
            self._factories = call.factories
            self._services = WorkerServices(call.factories)

    def _called(self, call: Call) -> Returned:
        self._is_beginning = True
        if self._is_told:
            raise Cancelled(TOLD_TO_END)
        check_installed(call.requirements)
        function = self._known.get(call.target)
        if function is None:
            function = self._known[call.target] = load(call.target)
            self._tell(Found())
        check_known(function, call.checked)
        values = arguments(function, call.args)
        backstage = context = None
        if call.scene is not None:
            backstage = FarBackstage(call.scene, self._tell, is_async=function.is_async)
            context = context_of(function, call.scene, backstage, self._services, self._tell, call.level)
        args = {**values, **injected(function, context, self._services)}
        self._backstage = backstage
        begin_before = call.begin_before
        while machine_steady() >= begin_before:
            begin_before = self._permitted()
        try:
            value = self._run(function, args)
        finally:
            if backstage is not None:
                backstage.telling.rest()
        text = self._text(function, value)
        if backstage is None:
            return Returned(text)
        return Returned(text, backstage.added(), backstage.redirect, backstage.signals())

    def _run(self, function: Function, args: dict[str, Any]) -> Any:
        self._is_beginning, self._is_calling = False, True
        value = self._awaited(function.call(**args)) if function.is_async else function.call(**args)
        if inspect.isawaitable(value):
            value = self._awaited(value)
        self._is_calling = False
        return value

    def _awaited(self, awaitable: Any) -> Any:
        """Wait for it in an event loop, which is the same for all calls of this worker."""
        if self._runner is None:
            self._runner = asyncio.Runner()

        async def run() -> tuple[Any, BaseException | None]:
            self._task = asyncio.current_task()
            try:
                return await awaitable, None
            except BaseException as error:  # noqa: BLE001 - so that its traceback shows none of the loop
                return None, error
            finally:
                self._task = None
                await _end_others()

        try:
            value, error = self._runner.run(run())
        except BaseException:  # a task that the function has started ended the loop
            self.close()
            raise
        if error is not None:
            raise error
        return value

    def _text(self, function: Function, value: Any) -> str:
        try:
            text = json_text(value, RESULT)
        except Unserialisable as error:
            raise Unserialisable(f"what `{function.name}` returned can not be stored: {error}") from None
        if len(text) > self._most_result:
            reason = f"It may have {self._most_result:,}"
            raise TooLarge(TOO_LARGE.format(function.name, len(text), reason))
        return text

    # ----------------------------------------------------------------------------------------- cancellation
    def cancel(self, number: int = signal.SIGTERM, frame: Any = None) -> None:  # noqa: ARG002 - a handler
        """The engine wants the call to end. A coroutine is cancelled, a function interrupted where it is, and
        so is an import. This process is not used for another call.
        """
        self._is_told = True
        if not self._is_calling and not self._is_beginning:
            return
        if self._backstage is not None:
            self._backstage.cancel()
        if self._task is not None:
            self._task.get_loop().call_soon_threadsafe(self._task.cancel)
        elif self._is_held:
            self._is_pending = True
        else:
            raise Cancelled(TOLD_TO_END)

    def hold(self, send: Callable[[], None]) -> None:
        """Do something that must not be interrupted halfway."""
        self._is_held = True
        try:
            send()
        finally:
            self._is_held = False
            if self._is_pending:
                self._is_pending = False
                raise Cancelled(TOLD_TO_END)


def raised(error: BaseException) -> Raised:
    """How a call ended that raised this."""
    failure = failure_of(error)
    kind = FATAL if isinstance(failure, FatalError) else USER
    message = failure.message
    if isinstance(error, MemoryError):
        kind, message = PLATFORM, f"{NO_MEMORY}: {message}"
    elif isinstance(failure, PlatformError):
        kind = PLATFORM
    artifact = failure.artifacts.get(ARTIFACT)
    data = dict(artifact.data) if isinstance(artifact, DefaultArtifact) else {}
    error_type, trace = data.pop("error", ""), data.pop("traceback", "")
    return Raised(kind, message, error_type, trace, module=data.pop("module", ""), details=data)


async def _end_others() -> None:
    """What a function has left in the loop ends with it."""
    others = [each for each in asyncio.all_tasks() if each is not asyncio.current_task()]
    for each in others:
        each.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _with(answer: Answer, left: int) -> Answer:
    if isinstance(answer, Returned):
        return Returned(answer.value, answer.added, answer.redirect, answer.fired, left)
    return msgspec.structs.replace(answer, left=left)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # a function may have closed or replaced them
            stream.flush()


def _left_behind() -> int:
    """How many processes a function has started that still run; those that have ended are waited for."""
    if not has_children():
        return 0
    living = 0
    known = getattr(getattr(tracker, "_resource_tracker", None), "_pid", None)
    for pid in children_of(os.getpid()):
        with suppress(ChildProcessError):
            is_living = os.waitpid(pid, os.WNOHANG)[0] == 0
            living += is_living and pid != known  # that one serves all calls, and ends with the worker
    return living
