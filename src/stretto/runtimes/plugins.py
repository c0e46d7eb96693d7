"""Runtimes that other packages bring: entry points of the group `stretto.runtimes`.

    [project.entry-points."stretto.runtimes"]
    Http = "http_runtime:HttpRuntime"

The name is the type of the steps; the object is a class, or any function, that gives a `StepRuntime`. It is
called with what it has arguments for: `now`, `settings` and `sink`. Nothing is imported before a definition
uses the type, or somebody lists the types. Two packages that bring one type, and a package that brings one of
ours, are refused: nobody should have to guess whose steps are run.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from stretto.ports.logs import NOWHERE
from stretto.runtimes.plugin import Plugin, PluginRuntime
from stretto.runtimes.settings import RuntimeSettings
from stretto.runtimes.surroundings import Surroundings
from stretto.runtimes.types import OURS

GROUP: Final = "stretto.runtimes"


def by_type(
    around: Surroundings | None = None, found: Iterable[Plugin] | None = None
) -> dict[str, PluginRuntime]:
    """A runtime for each type that packages bring, for one node. Those of types that are ours are left out.

    Each has `at_work`, `kill_all` and `close`, whether the plugin has them or not. Without surroundings they
    are only to be described.
    """
    given = _given(around)
    return {
        each.type: PluginRuntime(each, given) for each in _usable(installed() if found is None else found)
    }


def _given(around: Surroundings | None) -> Mapping[str, Any]:
    """What a plugin may ask for, by the names of its arguments. Who runs nothing needs no time."""
    if around is None:
        return {"now": lambda: 0, "settings": RuntimeSettings(), "sink": NOWHERE}
    return {"now": around.clock.now, "settings": around.settings, "sink": around.sink}


def _usable(found: Iterable[Plugin]) -> Iterator[Plugin]:
    """One for each type: of several with the same, whichever; they are all refused."""
    seen: set[str] = set()
    for each in found:
        folded = each.type.casefold()
        if folded not in seen and folded not in OURS:
            seen.add(folded)
            yield each


def installed() -> list[Plugin]:
    """Everything that the packages of this Python say that they bring; nothing of it is imported."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - it takes longer than all else here

    return judged(
        Plugin(
            type=each.name,
            value=each.value,
            package="a package without a name" if each.dist is None else each.dist.name,
            version="" if each.dist is None else each.dist.version,
        )
        for each in entry_points(group=GROUP)
    )


def judged(found: Iterable[Plugin]) -> list[Plugin]:
    """By type; those that can not be used because of others say so."""
    plugins = sorted(found, key=lambda each: (each.type.casefold(), str(each)))
    same: dict[str, list[Plugin]] = {}
    for each in plugins:
        same.setdefault(each.type.casefold(), []).append(each)
    return [
        msgspec.structs.replace(each, refused=_refused(each, same[each.type.casefold()])) for each in plugins
    ]


def _refused(plugin: Plugin, same: list[Plugin]) -> str | None:
    if plugin.type.casefold() in OURS:
        return (
            f"the type {plugin.type} comes with Stretto; that of {plugin} is not used: give it another name"
        )
    if len(same) > 1:
        who = " and ".join(map(str, same))
        return f"the type {plugin.type} comes from more than one package: {who}; uninstall all but one"
    return None
