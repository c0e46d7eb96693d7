"""A Python function as the work of a step: its name, its arguments, and how it wants to be run."""

import functools
import inspect
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Final, Literal

from stretto.model.error_text import a_name
from stretto.model.errors import InvalidRequest
from stretto.ports.functions import FunctionRecord
from stretto.runtimes.python.annotations import annotations_of, shown
from stretto.runtimes.python.kinds import Kind, kind_of
from stretto.runtimes.python.roles import Injected, Role, role_of
from stretto.runtimes.python.source import MAIN, importable, source_hash

Isolation = Literal["thread", "process"]
ISOLATIONS: Final = ("thread", "process")


class NotAStep(InvalidRequest):
    """A callable that can not be the work of a step."""

    id = "not-a-step"


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a function."""

    name: str
    annotation: Any
    kind: Kind
    default: Any = inspect.Parameter.empty
    role: Role = Role.VALUE
    service: Hashable = None  # the name or type of the service that is meant

    @property
    def has_default(self) -> bool:
        return self.default is not inspect.Parameter.empty


@dataclass(frozen=True, kw_only=True, slots=True)
class FunctionOptions:
    """How a function wants to be run, whichever step it is the work of. Times are in seconds."""

    on_success: tuple[Callable[..., Any], ...] = ()
    on_failure: tuple[Callable[..., Any], ...] = ()
    on_timeout: tuple[Callable[..., Any], ...] = ()
    cache_ttl_s: float | None = None
    cache_key: str | Callable[..., Any] | None = None
    pool: str | None = None
    isolation: Isolation = "thread"
    heartbeat_within: float | None = None
    tolerance: float = 0.0  # which part of the sub-steps it adds may fail
    required: tuple[str, ...] = ()


NO_OPTIONS: Final = FunctionOptions()


@dataclass(frozen=True, eq=False)
class Function:
    """What a registry holds. Two functions are the same if they are the same object."""

    name: str
    call: Callable[..., Any]
    args: tuple[Argument, ...]
    takes_all: bool  # it has `**kwargs`, which get every parameter that no argument is named after
    returns: Any
    kind: Kind | None  # of what it returns; None if it returns nothing
    is_async: bool
    options: FunctionOptions = NO_OPTIONS

    @property
    def module(self) -> str:
        return _module(self.call)

    @property
    def qualname(self) -> str:
        return str(getattr(_unwrapped(self.call), "__qualname__", self.name))

    @property
    def doc(self) -> str:
        """The first line of its documentation."""
        return (inspect.getdoc(_unwrapped(self.call)) or "").partition("\n")[0]

    @functools.cached_property
    def values(self) -> tuple[Argument, ...]:
        """The arguments that are values of the step."""
        return tuple(each for each in self.args if each.role is Role.VALUE)

    @functools.cached_property
    def wants_context(self) -> bool:
        return any(each.role is Role.CONTEXT for each in self.args)

    @functools.cached_property
    def takes_any(self) -> bool:
        """Whether something reads parameters that no argument is named after."""
        options = self.options
        handlers = options.on_success or options.on_failure or options.on_timeout
        return bool(self.takes_all or self.wants_context or handlers)

    @functools.cached_property
    def is_injected(self) -> bool:
        """Whether some of its arguments are no values."""
        return len(self.values) < len(self.args)

    @functools.cached_property
    def source_hash(self) -> str:
        """Changes when its code does; not when its decorators, comments after it or place do."""
        return source_hash(_unwrapped(self.call))

    def record(self) -> FunctionRecord:
        """What is stored of it."""
        return FunctionRecord(
            name=self.name,
            module=self.module,
            qualname=self.qualname,
            params={each.name: shown(each.annotation) for each in self.values},
            source_hash=self.source_hash,
            takes_any=self.takes_any,
            keeps_results=self.options.cache_ttl_s is not None,
        )


def function_of(call: Callable[..., Any], name: str | None = None, **options: Any) -> Function:
    """The function that a callable is. Raises NotAStep for what can not be the work of a step."""
    if not callable(call):
        raise NotAStep(f"{a_name(type(call).__qualname__)} can not be called: a step needs a function")
    plain = _unwrapped(call)
    name = name or _name(call, plain)
    if inspect.isgeneratorfunction(plain) or inspect.isasyncgenfunction(plain):
        raise NotAStep(f"`{name}` yields its values one by one: a step returns one value, such as a list")
    try:
        signature = inspect.signature(call)
    except (ValueError, TypeError):
        raise NotAStep(
            f"`{name}` does not tell its arguments, as some built-in functions: wrap it in one of yours"
        ) from None
    hints = annotations_of(plain)
    returns = hints.get("return", Any)
    _check_resolved(returns, "return", name)
    made = Function(
        name=name,
        call=call,
        args=tuple(_arguments(signature, hints, name)),
        takes_all=any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values()),
        returns=returns,
        kind=None if returns is None or returns is type(None) else kind_of(returns),
        is_async=inspect.iscoroutinefunction(_callee(call)),
        options=_options(name, options),
    )
    _check_heartbeat(made)
    return made


def _arguments(signature: inspect.Signature, hints: dict[str, Any], name: str) -> list[Argument]:
    found: list[Argument] = []
    for each in signature.parameters.values():
        if each.kind is each.POSITIONAL_ONLY:
            raise NotAStep(f"`{each.name}` of `{name}` has no name to callers: remove the `/` after it")
        if each.kind in {each.VAR_POSITIONAL, each.VAR_KEYWORD}:
            continue  # values have names: nothing can be put into the one, anything into the other
        annotation = hints.get(each.name, Any)
        role, key = role_of(each.name, annotation)
        if role is not Role.CONTEXT:
            _check_resolved(annotation, each.name, name)
        default = each.empty if isinstance(each.default, Injected) else each.default
        found.append(Argument(each.name, annotation, kind_of(annotation), default, role, key))
    return found


def _check_resolved(annotation: Any, what: str, name: str) -> None:
    if isinstance(annotation, str):
        raise NotAStep(
            f"the annotation `{annotation}` of `{what}` in `{name}` means nothing at run time: "
            f"import it outside of `if TYPE_CHECKING`, or define it before"
        )


def _options(name: str, options: dict[str, Any]) -> FunctionOptions:
    for key in ("on_success", "on_failure", "on_timeout"):
        given = options.get(key, ())
        options[key] = tuple(given) if isinstance(given, list | tuple) else (given,)
    given = options.get("required", ())
    options["required"] = (given,) if isinstance(given, str) else tuple(given)
    made = FunctionOptions(**options)
    if made.isolation not in ISOLATIONS:
        raise NotAStep(f"`{name}`: isolation is one of {', '.join(ISOLATIONS)}, not `{made.isolation}`")
    if not 0 <= made.tolerance <= 1:
        raise NotAStep(f"`{name}`: tolerance is a part of the whole, from 0 to 1, not {made.tolerance}")
    for key in ("cache_ttl_s", "heartbeat_within"):
        seconds = getattr(made, key)
        if seconds is not None and not seconds > 0:
            raise NotAStep(f"`{name}`: {key} is a number of seconds above 0, not {seconds}")
    return made


def _check_heartbeat(function: Function) -> None:
    if function.options.heartbeat_within is None:
        return
    if not function.wants_context:
        raise NotAStep(f"`{function.name}` must give heartbeats, and has no `ctx: StepContext` to do so")


def _callee(call: Callable[..., Any]) -> Any:
    """What is really called: behind a partial, or an object with `__call__`."""
    while isinstance(call, functools.partial):
        call = call.func
    return call if inspect.isroutine(call) or inspect.isclass(call) else type(call).__call__


def _unwrapped(call: Callable[..., Any]) -> Any:
    """The function that its author wrote, behind wrappers."""
    return inspect.unwrap(_callee(call))


def _name(call: Callable[..., Any], plain: Any) -> str:
    qualname = getattr(plain, "__qualname__", "")
    if "<lambda>" in qualname:
        raise NotAStep("a lambda has no name by which it could be found again: write a `def`, or give a name")
    if "<locals>" in qualname:
        raise NotAStep(
            f"`{qualname}` is made anew with each call of the function around it, so it can not be found "
            f"again after a restart: move it to the top of its module, or give it a name"
        )
    if isinstance(call, functools.partial) or not hasattr(call, "__qualname__"):
        raise NotAStep(f"{a_name(type(call).__qualname__)} needs a name: give one, such as `name=...`")
    return f"{_module(call)}:{qualname}"


def _module(call: Callable[..., Any]) -> str:
    """The module of a function. That of a program has the name under which it would be imported."""
    return importable(str(getattr(_unwrapped(call), "__module__", None) or MAIN))
