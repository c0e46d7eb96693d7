"""What a function may know of its step, and tell it. Usable from the event loop and from threads."""

import logging
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final

from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest
from stretto.model.param import Parameter, ParamType
from stretto.model.timeline import LogLevel
from stretto.runtimes.python.backstage import Backstage
from stretto.runtimes.python.errors import Cancelled
from stretto.runtimes.python.output import catch_up, unrouted
from stretto.runtimes.python.roles import ContextMark
from stretto.runtimes.python.services import Services
from stretto.runtimes.python.values import Kind, encode

LOGGER: Final = logging.getLogger("stretto.step")
KEPT_FROM: Final = logging.INFO  # whatever the program's handlers want
SIGNAL: Final = Kind(ParamType.MAP)


class StepLogger(logging.LoggerAdapter[logging.Logger]):
    """Hands records to the program's handlers, and to the log of the step as well."""

    def __init__(self, logger: logging.Logger, facts: Mapping[str, Any], keep: Callable[[str], None]) -> None:
        super().__init__(logger, facts)
        self._keep = keep

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        with unrouted():  # it is kept below, also where no handler prints it
            super().log(level, msg, *args, **kwargs)
        if level >= KEPT_FROM or self.logger.isEnabledFor(level):
            try:
                text = str(msg) % args if args else str(msg)
            except (TypeError, ValueError):  # arguments that do not fit: logging does not fail a program
                text = str(msg)
            catch_up()
            self._keep(f"{logging.getLevelName(level)} {text}")


class StepContext(ContextMark):
    """The context of a step: a function that has an argument of this type, or named `ctx`, gets it."""

    __slots__ = ("_backstage", "_logger", "_params", "_read", "_services", "upstream")

    def __init__(
        self,
        backstage: Backstage,
        services: Services,
        params: Callable[[], Mapping[str, Any]],
        upstream: Mapping[str, Any],
    ) -> None:
        self._backstage = backstage
        self._services = services
        self._logger: logging.LoggerAdapter[logging.Logger] | None = None
        self._params: Mapping[str, Any] | None = None
        self._read = params
        self.upstream = upstream
        """What the steps right before this one have returned, by their ids."""

    # ------------------------------------------------------------------------------------------------ facts
    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters of the step, as Python values."""
        if self._params is None:
            self._params = self._read()
        return self._params

    @property
    def run(self) -> RunKey:
        """The run that the step stands in: workflow_id, instance_id, run_id."""
        return self._backstage.told.launch.attempt.run

    @property
    def step_id(self) -> str:
        return self._backstage.told.launch.attempt.step_id

    @property
    def attempt(self) -> int:
        """Which try this is, from 1 on."""
        return self._backstage.told.launch.attempt.number

    @property
    def launch(self) -> str:
        """New with each launch, also with one that repeats an attempt after a crash."""
        return str(self._backstage.told.launch)

    @property
    def logger(self) -> logging.LoggerAdapter[logging.Logger]:
        """A logger whose records know the run, the step and the attempt."""
        if self._logger is None:
            facts = {"run": "/".join(map(str, self.run)), "step": self.step_id, "attempt": self.attempt}
            self._logger = StepLogger(LOGGER, facts, self._backstage.log)
        return self._logger

    def service(self, key: Hashable) -> Any:
        """A service that was registered, by its type or by its name."""
        return self._services.get(key)

    # ----------------------------------------------------------------------------------------- cancellation
    @property
    def cancelled(self) -> bool:
        """Whether the step was told to end. A function in a thread must look: nobody can end it."""
        return self._backstage.cancelled

    def raise_if_cancelled(self) -> None:
        if self._backstage.cancelled:
            raise Cancelled("the step was told to end")

    def sleep(self, seconds: float) -> None:
        """Wait, in a thread; raises as soon as the step is told to end."""
        if self._backstage.is_at_home:
            raise InvalidRequest("`ctx.sleep` would stop the whole engine here: use `await asyncio.sleep`")
        self._backstage.wait(seconds)
        self.raise_if_cancelled()

    async def wait_cancelled(self) -> None:
        """Return once the step is told to end."""
        await self._backstage.wait_cancelled()

    # ---------------------------------------------------------------------------------------------- telling
    def heartbeat(self) -> None:
        """The work is alive: for steps that must say so within a time."""
        self._backstage.beat()

    def progress(self, fraction: float, text: str = "") -> None:
        """How far the work is, from 0 to 1: a heartbeat, too. Reported at most once a second; the last word
        always.
        """
        if not 0 <= fraction <= 1:
            raise InvalidRequest(f"progress is a part of the whole, from 0 to 1, not {fraction}")
        self._backstage.beat()
        self._backstage.at_home(self._backstage.telling.progress, float(fraction), text)

    def note(self, text: str, level: str = "INFO") -> None:
        """A line in the timeline of the step."""
        self._backstage.at_home(self._backstage.telling.line, text, LogLevel(level))

    # ----------------------------------------------------------------------------------------------- asking
    def fire(self, signal: str, **values: Any) -> None:
        """Announce a signal when the step has succeeded. Texts and whole numbers can be matched on."""
        known = encode({**values, "name": signal}, SIGNAL, signal)
        self._backstage.fired.append(Parameter(type=ParamType.MAP, evaluated_result=known))

    def add(
        self,
        step: Any,
        params: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,  # noqa: A002 - as in a definition
        after: str | Sequence[str] = (),
    ) -> str:
        """Add a sub-step: a step function, and its arguments. All that were added run when this function has
        returned, and this step ends after them. Returns the id, which `after` of others may name.
        """
        before = (after,) if isinstance(after, str) else tuple(after)
        return self._backstage.substeps.add(step, params or {}, id, before)

    def redirect(self, step_id: str) -> None:
        """Go back to an earlier step when this function has returned: everything from there runs again."""
        self._backstage.redirect = step_id
