"""Handlers of a step, and listeners of the program: told how a function ended, and unable to change it."""

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from stretto.model.error_text import text_of_error
from stretto.model.timeline import LogLevel
from stretto.ports.runtime import current_task, is_for_task
from stretto.runtimes.python.arguments import injected
from stretto.runtimes.python.backstage import Backstage
from stretto.runtimes.python.context import StepContext
from stretto.runtimes.python.errors import Refused
from stretto.runtimes.python.filters import settled
from stretto.runtimes.python.function import Function, function_of
from stretto.runtimes.python.own_params import CALLBACKS, value_of
from stretto.runtimes.python.registry import Registry, as_function
from stretto.runtimes.python.services import Services
from stretto.runtimes.python.threads import Threads

log = logging.getLogger(__name__)

SUCCESS: Final = "success"
FAILED: Final = "failed"
TIMEOUT: Final = "timeout"
STOPPED: Final = "stopped"  # nobody handles it
GIVEN: Final = ("result", "error", "status")  # what a handler may ask for, beside the context and services
_OPTION: Final = {SUCCESS: "on_success", FAILED: "on_failure", TIMEOUT: "on_timeout"}


class Ended(NamedTuple):
    """How a function ended."""

    status: str
    result: Any = None
    error: BaseException | None = None


class Handlers:
    """Calls those of a step in order, then the listeners. One that fails does not keep the others from it."""

    def __init__(
        self, registry: Registry, services: Services, listeners: Sequence[Any], threads: Threads
    ) -> None:
        self._registry = registry
        self._services = services
        self._listeners = listeners
        self._threads = threads

    def wanted(self, function: Function, params: Mapping[str, Any]) -> bool:
        """Whether anybody wants to know."""
        options = function.options
        return bool(
            self._listeners
            or options.on_success
            or options.on_failure
            or options.on_timeout
            or CALLBACKS in params
        )

    async def tell(self, function: Function, ctx: StepContext, backstage: Backstage, ended: Ended) -> None:
        """Tell everybody."""
        named = (value_of(backstage.told.params, CALLBACKS) or {}).get(ended.status, ())
        own = () if ended.status == STOPPED else getattr(function.options, _OPTION[ended.status])
        task = current_task()
        for each in (*own, *named):
            try:
                await self._call(each, ctx, ended)
            except BaseException as error:
                if is_for_task(error, task):
                    raise
                # Whatever a handler does, the result stands.
                name = each if isinstance(each, str) else getattr(each, "__qualname__", repr(each))
                _failed(backstage, f"The {ended.status} handler `{name}`", error)
        for listener in self._listeners:
            await self._tell_listener(listener, ctx, backstage, ended)

    async def _call(self, given: Any, ctx: StepContext, ended: Ended) -> None:
        handler = self._registry.find(given) if isinstance(given, str) else _handler(given)
        known = dict(zip(GIVEN, (ended.result, ended.error, ended.status), strict=True))
        args = injected(handler, ctx, self._services)
        for each in handler.values:
            if each.name in known:
                args[each.name] = known[each.name]
            elif not each.has_default:
                raise Refused(
                    f"it asks for `{each.name}`: a handler may take a `ctx`, services and {', '.join(GIVEN)}"
                )
        if handler.is_async:
            await handler.call(**args)
        else:
            outcome = await self._threads.run(lambda: handler.call(**args))
            await settled(outcome.get())

    async def _tell_listener(
        self, listener: Any, ctx: StepContext, backstage: Backstage, ended: Ended
    ) -> None:
        calls: list[tuple[str, tuple[Any, ...]]] = [("always", (ctx,))]
        if ended.status == SUCCESS:
            calls.insert(0, ("on_success", (ctx, ended.result)))
        elif ended.status != STOPPED:
            calls.insert(0, ("on_failure", (ctx, ended.error)))
        task = current_task()
        for name, args in calls:
            try:
                call = getattr(listener, name, None)
                if call is not None:
                    await settled(call(*args))
            except BaseException as error:
                if is_for_task(error, task):
                    raise
                _failed(backstage, f"The listener `{type(listener).__qualname__}`", error)


@lru_cache(maxsize=1024)
def _handler(given: Any) -> Function:
    """A handler that was given as a function; its name is only for messages."""
    if isinstance(given, Function) or hasattr(given, "function"):
        return as_function(given)
    return function_of(given, getattr(given, "__qualname__", None) or type(given).__qualname__)


def _failed(backstage: Backstage, who: str, error: BaseException) -> None:
    text = str(error) if isinstance(error, Refused) else text_of_error(error)
    log.warning("%s failed: %s", who, text, exc_info=error, extra={"action": "step.handler_failed"})
    backstage.telling.line(f"{who} failed: {text}", LogLevel.WARN)
