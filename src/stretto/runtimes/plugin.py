"""One runtime of another package: made when it is first asked for, and kept from harming others."""

import asyncio
import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from operator import attrgetter
from typing import Any, Final

import msgspec

from stretto.definition.schema_shape import flaw_of
from stretto.definition.step_types import Described
from stretto.model.error_text import a_name, text_of_error
from stretto.model.param import ParamSource
from stretto.model.step import AnyStep
from stretto.params import Alone, MissingKeys, Moment, RunFacts, Scope, Stage, evaluate, merge
from stretto.ports.runtime import FatalError, Injected, Launch, StepContext, StepResult, StepRuntime, Stopped

LOG: Final = logging.getLogger(__name__)
MUST_HAVE: Final = ("outside", "params", "start", "execute", "terminate")
START: Final = Moment(0)  # what a type brings along hangs on no time
BROUGHT: Final = Stage(ParamSource.SYSTEM_INJECTED)
CLOSE_WITHIN: Final = 60.0  # seconds; then the node ends without it
CAUGHT: Final = (Exception, SystemExit, KeyboardInterrupt)  # a module may also call `exit()`


class Plugin(msgspec.Struct, frozen=True, kw_only=True):
    """What a package says that it brings."""

    type: str
    value: str  # `module:Class` or `module:function`
    package: str
    version: str
    refused: str | None = None  # why nobody uses it

    def __str__(self) -> str:
        return f"{self.package} {self.version} ({self.value})".replace("  ", " ")


class Broken(Exception):
    """A plugin that can not be used; the text says why."""


class PluginRuntime:
    """See `ports.runtime`. The plugin is imported and made at the first question that needs it.

    One that can not be made, or is refused, fails the steps of its type for good, and nothing else.
    """

    def __init__(self, plugin: Plugin, given: Mapping[str, Any]) -> None:
        self.plugin = plugin
        self._given = given
        self._made: StepRuntime | None = None
        self._outside = False  # asked once: nothing that a plugin raises may reach whoever decides
        self._broken: str | None = plugin.refused

    # ---------------------------------------------------------------------------------------------- making
    @property
    def broken(self) -> str | None:
        """Why it can not be used, once it was tried; None if it can."""
        try:
            self._runtime()
        except Broken as error:
            return str(error)
        return None

    def _runtime(self) -> StepRuntime:
        """The plugin's own, made once. Raises Broken, from then on with the same words."""
        if self._made is None:
            if self._broken is None:
                try:
                    runtime = made(self.plugin, self._given)
                    self._outside = bool(runtime.outside)
                except CAUGHT as error:
                    self._broken = _why(self.plugin, error)
                else:
                    self._made = runtime
                    return runtime
            raise Broken(self._broken)
        return self._made

    # --------------------------------------------------------------------------------------------- describing
    @property
    def outside(self) -> bool:
        return self.broken is None and self._outside

    def params(self, step: AnyStep) -> Injected:
        try:
            injected = self._runtime().params(step)
        except Broken:
            return Injected()
        if not isinstance(injected, Injected):
            raise TypeError(f"`params` gives a {type(injected).__name__}, not an Injected")
        return injected

    def describe(self, step: AnyStep) -> Described:
        """What a step of this type can be checked against."""
        if self.broken is not None:
            return Described(broken=self.broken)
        try:
            injected = self.params(step)
        except CAUGHT as error:
            return Described(broken=_why(self.plugin, error))
        flaw = None if injected.schema is None else flaw_of(injected.schema)
        if flaw is not None:
            return Described(broken=f"{_name(self.plugin)} can not be used: {flaw}")
        return Described(schema=injected.schema, params=injected.params)

    # -------------------------------------------------------------------------------------------------- asked
    async def start(self, ctx: StepContext) -> StepResult:
        try:
            runtime = self._runtime()
        except Broken as error:
            return FatalError(message=str(error))
        return await runtime.start(self._complete(ctx))

    async def execute(self, ctx: StepContext) -> StepResult:
        try:
            runtime = self._runtime()
        except Broken as error:
            return FatalError(message=str(error))
        return await runtime.execute(self._complete(ctx))

    async def terminate(self, ctx: StepContext) -> StepResult:
        try:
            runtime = self._runtime()
        except Broken:  # then it has started nothing
            return Stopped()
        return await runtime.terminate(self._complete(ctx))

    def _complete(self, ctx: StepContext) -> StepContext:
        """With the parameters that the type brings along, where the step does not have its own."""
        brought = {
            name: each for name, each in self.params(ctx.step).params.items() if name not in ctx.params
        }
        if not brought:
            return ctx
        around = Scope(context=Alone(RunFacts(workflow_id=ctx.launch.attempt.run.workflow_id)), moment=START)
        found = evaluate(merge({}, brought, BROUGHT), around)
        if isinstance(found, MissingKeys):
            raise ValueError(f"the parameters that {self.plugin} brings along hang on something else")
        return msgspec.structs.replace(ctx, params={**found, **ctx.params})

    # ------------------------------------------------------------------------------------------------- ending
    @property
    def at_work(self) -> Sequence[Launch]:
        """What has not ended, as far as the plugin tells."""
        found: list[Launch] | None = self._asked("at_work", list)
        return found or []

    def kill_all(self) -> None:
        """Nobody has time any more. `close` must follow."""
        self._asked("kill_all", lambda kill: kill())

    async def close(self) -> None:
        """Let it end its work. What it raises keeps nobody else from closing."""
        waiting = self._asked("close", lambda close: close())
        if inspect.isawaitable(waiting):
            try:
                async with asyncio.timeout(CLOSE_WITHIN):
                    await waiting
            except CAUGHT:
                LOG.exception("%s failed to close", self.plugin)

    def _asked(self, name: str, ask: Callable[[Any], Any]) -> Any:
        """Something that a plugin need not have, of one that was made."""
        try:
            told = getattr(self._made, name, None)
            return None if told is None else ask(told)
        except CAUGHT:
            LOG.exception("%s failed to tell `%s`", self.plugin, name)
            return None


def made(plugin: Plugin, given: Mapping[str, Any]) -> StepRuntime:
    """Import it and call it. Raises whatever a package may raise."""
    module, _, name = plugin.value.partition("[")[0].strip().partition(":")
    if not name:
        raise TypeError(f"`{plugin.value}` names no class and no function: write `{module}:NAME`")
    maker = attrgetter(name.strip())(import_module(module.strip()))
    if not callable(maker):
        raise TypeError(f"`{plugin.value}` is {a_name(type(maker).__name__)}, not a class or a function")
    runtime: StepRuntime = maker(**_wanted(maker, given))
    missing = [name for name in MUST_HAVE if not hasattr(runtime, name)]
    if missing:
        raise TypeError(f"what it returns is not a StepRuntime: it has no {' and no '.join(missing)}")
    return runtime


def _wanted(maker: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the things at hand that it has arguments for."""
    found: dict[str, Any] = {}
    for each in inspect.signature(maker).parameters.values():
        if each.kind is each.VAR_KEYWORD:
            return dict(given)
        if each.name in given and each.kind is not each.POSITIONAL_ONLY:
            found[each.name] = given[each.name]
        elif each.default is each.empty and each.kind is not each.VAR_POSITIONAL:
            raise TypeError(f"it asks for `{each.name}`; a runtime may ask for {', '.join(given)}")
    return found


def _why(plugin: Plugin, error: BaseException) -> str:
    return f"{_name(plugin)} can not be used: {text_of_error(error)}"


def _name(plugin: Plugin) -> str:
    return f"the runtime of {plugin.type} steps, {plugin},"
