"""All types that steps may have here: those of the product, and those that other packages bring."""

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stretto.definition.limits import Limits
from stretto.definition.step_types import NOT_DESCRIBED, Described, StepTypes
from stretto.model.step import NESTING_TYPES, STEP_TYPES, TypedStep

if TYPE_CHECKING:
    from stretto.runtimes.plugin import PluginRuntime

OF_ENGINE: Final = ("NoOp", "Sleep", "Wait", "Join")  # which need no runtime
# Where the schema of a type with a runtime of ours is; imported only if a definition uses the type.
BUILT_IN: Final[Mapping[str, tuple[str, str]]] = {
    "Python": ("stretto.runtimes.python.runtime", "SCHEMA"),
    "Shell": ("stretto.runtimes.command", "SCHEMA"),
}
OURS: Final = frozenset(name.casefold() for name in (*OF_ENGINE, *BUILT_IN, *NESTING_TYPES))
_KNOWN: Final = frozenset(name.casefold() for name in STEP_TYPES)  # some of them without a runtime of ours


class InstalledTypes(StepTypes):
    """See `definition.step_types`. Packages are looked for when a type is asked for that is not among ours,
    or when somebody wants to see all of them.
    """

    @cached_property
    def _plugins(self) -> "Mapping[str, PluginRuntime]":
        from stretto.runtimes.plugins import by_type  # noqa: PLC0415 - few definitions need it

        return by_type()

    def _plugin(self, name: str) -> "PluginRuntime | None":
        """The one that brings a type, which may be written in any case."""
        folded = name.casefold()
        return next((each for kind, each in self._plugins.items() if kind.casefold() == folded), None)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name.casefold() in _KNOWN or self._plugin(name) is not None)

    def __iter__(self) -> Iterator[str]:
        yield from STEP_TYPES
        yield from (name for name in self._plugins if name.casefold() not in _KNOWN)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def describe(self, step: TypedStep) -> Described:
        if step.type in BUILT_IN:
            return _of_ours(step.type)
        found = None if step.type.casefold() in OURS else self._plugin(step.type)
        return NOT_DESCRIBED if found is None else found.describe(step)


def built_in_schema(name: str) -> Mapping[str, Any]:
    """The schema of a type that comes with the product."""
    module, attribute = BUILT_IN[name]
    found: Mapping[str, Any] = getattr(import_module(module), attribute)
    return found


@cache
def _of_ours(name: str) -> Described:
    return Described(schema=built_in_schema(name))


def with_installed(limits: Limits) -> Limits:
    """Limits under which a step may have any type that is here, and is checked against what the type says."""
    return msgspec.structs.replace(limits, step_types=InstalledTypes())
