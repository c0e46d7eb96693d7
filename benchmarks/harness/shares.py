"""Who uses the time that a profile has: shares by part of the code."""

from collections.abc import Mapping
from typing import Any, Final

# The first that fits counts. What Python itself does counts for whoever asked for it.
PARTS: Final = {
    "/stretto/engine/": "deciding",
    "/stretto/params/": "parameters",
    "/stretto/sel/": "parameters",
    "/stretto/node/": "node",
    "/stretto/store/": "store",
    "/stretto/ports/": "store",
    "/stretto/runtimes/": "runtimes",
    "/stretto/flow/": "embedded engine",
    "/stretto/actions/": "starting",
    "/stretto/strategies/": "starting",
    "/stretto/model/": "records",
    "msgspec": "encoding",
    "/asyncio/": "asyncio",
    "asyncio": "asyncio",
    "/selectors.py": "asyncio",
    "/concurrent/": "asyncio",
    "/contextlib.py": "asyncio",
    "asyncpg": "driver",
}
OTHER: Final = "other"
WAITING: Final = ("method 'poll' of 'select.epoll'", "method 'acquire' of '_thread.lock'")

Function = tuple[str, int, str]
Stats = Mapping[Function, tuple[int, int, float, float, Mapping[Function, tuple[int, int, float, float]]]]


def shares(stats: Stats) -> dict[str, float]:
    """Of all time but that spent waiting, the largest first. `stats` is what `pstats.Stats` holds."""
    spent: dict[str, float] = {}
    for function, (_, _, own, _, callers) in stats.items():
        if any(each in function[2] for each in WAITING):
            continue
        part = part_of(function)
        if part != OTHER or not callers:
            spent[part] = spent.get(part, 0.0) + own
            continue
        for caller, figures in callers.items():
            asked = part_of(caller)
            spent[asked] = spent.get(asked, 0.0) + figures[2]
    total = sum(spent.values()) or 1.0
    return dict(sorted(((part, each / total) for part, each in spent.items()), key=_largest))


def part_of(function: Function) -> str:
    file, _, name = function
    where = name if file == "~" else file
    return next((part for mark, part in PARTS.items() if mark in where), OTHER)


def _largest(item: tuple[str, Any]) -> float:
    return -float(item[1])
