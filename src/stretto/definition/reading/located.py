"""JSON values that know where in the text they stand. Built only once there is a problem to point at.

The forms make new values from those of the text. `derive`, `derive_list` and `gather` carry the spots over,
so that a problem is shown where its author wrote it; on plain values they cost nothing.
"""

from typing import Any, NamedTuple

import msgspec

from stretto.model.problem import Code, Place, Problem


class Spot(NamedTuple):
    """A place in a text; both numbers start at 1."""

    line: int
    column: int


class Word(NamedTuple):
    """An unquoted word that two versions of YAML read differently, and what it is read as."""

    document: int
    at: Place
    text: str
    value: Any
    spot: Spot


class LocatedDict(dict[str, Any]):
    """An object with the spot of itself, of its keys and of their values."""

    __slots__ = ("keys_at", "spot", "values_at")

    def __init__(self, spot: Spot) -> None:
        super().__init__()
        self.spot = spot
        self.keys_at: dict[str, Spot] = {}
        self.values_at: dict[str, Spot] = {}

    def put(self, key: str, value: Any, key_at: Spot, value_at: Spot) -> None:
        self[key] = value
        self.keys_at[key] = key_at
        self.values_at[key] = value_at


class LocatedList(list[Any]):
    """A list with the spot of itself and of its items."""

    __slots__ = ("items_at", "spot")

    def __init__(self, spot: Spot) -> None:
        super().__init__()
        self.spot = spot
        self.items_at: list[Spot] = []

    def put(self, value: Any, at: Spot) -> None:
        self.append(value)
        self.items_at.append(at)


def derive(source: Any, made: dict[str, Any], **renamed: str) -> dict[str, Any]:
    """`made` was made from `source`: what is wrong with it is shown where `source` stands.

    `renamed` says which key of the source a key of the result came from, where the two differ.
    """
    if not isinstance(source, LocatedDict):
        return made
    out = LocatedDict(source.spot)
    for key, value in made.items():
        old = renamed.get(key, key)
        spot = getattr(value, "spot", source.spot)
        out.put(key, value, source.keys_at.get(old, spot), source.values_at.get(old, spot))
    return out


def derive_list(source: Any, made: list[Any]) -> list[Any]:
    """`made` was made from `source`: item by item, or of items that know their own spots."""
    if not isinstance(source, LocatedList):
        return made
    out = LocatedList(source.spot)
    same = len(made) == len(source)
    for index, item in enumerate(made):
        out.put(item, source.items_at[index] if same else getattr(item, "spot", source.spot))
    return out


def gather(target: dict[str, Any], key: str, value: Any, source: Any, origin: str | int) -> dict[str, Any]:
    """`target` with one more entry, that came from `source[origin]`; returns what to go on with."""
    if isinstance(source, LocatedDict | LocatedList):
        if not isinstance(target, LocatedDict):
            target = LocatedDict(source.spot)
        target.put(key, value, *_spots(source, origin))
    else:
        target[key] = value
    return target


def _spots(source: LocatedDict | LocatedList, origin: str | int) -> tuple[Spot, Spot]:
    if isinstance(source, LocatedList):
        spot = source.items_at[int(origin)]
        return spot, spot
    name = str(origin)
    return source.keys_at.get(name, source.spot), source.values_at.get(name, source.spot)


_ABOUT_THE_KEY = frozenset(
    {Code.UNKNOWN_FIELD, Code.DUPLICATE_KEY, Code.UNKNOWN_STEP, Code.CYCLE}
    | {Code.NOT_A_FIELD, Code.UNUSED_PARAM, Code.DEPRECATED}
)
_ABOUT_A_NAME = frozenset({Code.BAD_NAME, Code.RESERVED_NAME, Code.EMPTY, Code.TOO_LONG, Code.UNKNOWN_VALUE})


def spot_of(root: Any, keys: list[str | int], code: str) -> Spot | None:
    """The spot of what is wrong at a path: the key or the value; else the nearest thing around it."""
    best: Spot | None = getattr(root, "spot", None)
    node = root
    for depth, key in enumerate(keys):
        if isinstance(node, LocatedDict) and isinstance(key, str) and key in node:
            last = depth == len(keys) - 1
            table = node.keys_at if last and _is_key_wrong(code, node[key]) else node.values_at
            best = table.get(key, best)
        elif isinstance(node, LocatedList) and isinstance(key, int) and key < len(node):
            best = node.items_at[key]
        else:
            return best
        node = node[key]
    return best


def _is_key_wrong(code: str, value: Any) -> bool:
    """A name is text: where the value is none, the key must be the name that is meant."""
    return code in _ABOUT_THE_KEY or (code in _ABOUT_A_NAME and isinstance(value, dict))


def at_key(problem: Problem, source: Any, key: str) -> Problem:
    """A problem with a key of `source`, whatever its code."""
    if not isinstance(source, LocatedDict) or key not in source.keys_at:
        return problem
    line, column = source.keys_at[key]
    return msgspec.structs.replace(problem, line=line, column=column)
