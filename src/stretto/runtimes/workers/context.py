"""What stands behind the context of a step in a worker: everything that is told goes to the engine."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import msgspec

from stretto.engine.records import AttemptKey, RunKey
from stretto.model.error_text import storable
from stretto.model.param import Parameter
from stretto.model.step import Step, TypedStep
from stretto.model.timeline import LogLevel
from stretto.model.wire import encode, to_json
from stretto.ports.runtime import Launch, StepResult
from stretto.ports.runtime import StepContext as Told
from stretto.runtimes.python.backstage import Backstage
from stretto.runtimes.python.context import LOGGER, StepContext
from stretto.runtimes.python.function import Function
from stretto.runtimes.python.own_params import TYPE
from stretto.runtimes.python.services import Services
from stretto.runtimes.python.substeps import SubSteps
from stretto.runtimes.python.telling import MOST_LINES
from stretto.runtimes.python.telling import MOST_TEXT as MOST_LINE
from stretto.runtimes.workers.messages import MOST_TEXT, Beat, Line, Logged, Message, Progress, Scene
from stretto.runtimes.workers.values import value_of

MOST_IN_A_SECOND: Final = 100  # heartbeats and progress: who tells more is heard a little later
LOOK_EVERY: Final = 0.05  # seconds; for threads of a function, which no signal interrupts

Tell = Callable[[Message], None]


class FarTelling:
    """Takes the place of `Telling`: progress and lines go over to it."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._second = 0
        self._count = 0
        self._lines = 0
        self._last: Progress | None = None  # not sent yet

    def beat(self) -> None:
        if self._may_send():
            self._tell(Beat())

    def progress(self, fraction: float, text: str) -> None:
        said = Progress(fraction, storable(text, MOST_LINE))
        if self._may_send():
            self._last = None
            self._tell(said)
        else:
            self._last = said

    def line(self, text: str, level: LogLevel = LogLevel.INFO) -> None:
        self._lines += 1
        if self._lines <= MOST_LINES:
            self._tell(Line(storable(text, MOST_LINE), level.value))

    def rest(self) -> None:
        """The last word."""
        if self._last is not None:
            self._tell(self._last)
            self._last = None

    def _may_send(self) -> bool:
        second = int(time.monotonic())
        if second != self._second:
            self._second, self._count = second, 0
        self._count += 1
        return self._count <= MOST_IN_A_SECOND


class FarBackstage:
    """Takes the place of `Backstage`. The function runs in the main thread, maybe in an event loop there."""

    def __init__(self, scene: Scene, tell: Tell, *, is_async: bool) -> None:
        run = RunKey(*scene.run)
        launch = Launch(AttemptKey(run, scene.step_id, scene.attempt), scene.generation, scene.take)
        step = TypedStep(id=scene.step_id, type=TYPE)
        self.told = Told(launch=launch, step=step, params={}, report=_unheard)
        self.telling = FarTelling(tell)
        self.substeps = SubSteps(scene.step_id)
        self.redirect: str | None = None
        self.fired: list[Parameter] = []
        self.cancelled = False
        self._is_async = is_async
        self._home = threading.get_ident()
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def is_at_home(self) -> bool:
        return self._is_async and threading.get_ident() == self._home

    def at_home(self, call: Callable[..., None], *args: Any) -> None:
        """Messages may be sent from any thread."""
        call(*args)

    def log(self, text: str) -> None:
        """The engine does that, with what `Sending` has sent."""

    def beat(self) -> None:
        self.telling.beat()

    def cancel(self) -> None:
        """Called by a signal, wherever the main thread is: nothing here may wait for a lock."""
        self.cancelled = True
        for future in self._waiting:
            future.get_loop().call_soon_threadsafe(_settle, future)

    def wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self.cancelled and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_EVERY))

    async def wait_cancelled(self) -> None:
        if not self.cancelled:
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            await future

    # -------------------------------------------------------------------------------------------- at the end
    def added(self) -> list[bytes]:
        """The steps that were added, as they travel."""
        return [to_json(encode(each, Step)) for each in self.substeps.all()]

    def signals(self) -> list[bytes]:
        """What is to be announced, as it travels."""
        return [to_json(each.evaluated_result) for each in self.fired]


async def _unheard(result: StepResult) -> None:
    """Nobody reports from a worker: it answers."""


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def context_of(
    function: Function, scene: Scene, backstage: FarBackstage, services: Services, tell: Tell, level: int
) -> StepContext:
    """The context that a function gets."""
    annotations = {each.name: each.annotation for each in function.values}

    def read() -> Mapping[str, Any]:
        given = msgspec.json.decode(scene.params, type=dict[str, msgspec.Raw])
        return {name: value_of(raw, annotations.get(name, Any), name) for name, raw in given.items()}

    _send_records(tell, level)
    upstream = msgspec.json.decode(scene.upstream, type=dict[str, Any])
    return StepContext(cast("Backstage", backstage), services, read, upstream)


# --------------------------------------------------------------------------------------------------- logging
class Sending(logging.Handler):
    """Sends the records of the step's logger to the engine, which has them handled there."""

    def __init__(self, tell: Tell) -> None:
        super().__init__()
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = self.format(record)
        except Exception:  # noqa: BLE001 - arguments that do not fit: logging does not fail a program
            self.handleError(record)
        else:
            self._tell(Logged(record.levelno, storable(text, MOST_TEXT)))


def _send_records(tell: Tell, level: int) -> None:
    LOGGER.handlers = [Sending(tell)]
    LOGGER.propagate = False  # or they would be on the standard error, too
    LOGGER.setLevel(level)
