"""JSON values that know where in the text they stand. Built only once there is a problem to point at."""

from typing import Any, NamedTuple

from stretto.model.problem import Code, Problem


class Spot(NamedTuple):
    """A place in a text; both numbers start at 1."""

    line: int
    column: int


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


def derive_list(source: list[Any], made: list[Any]) -> list[Any]:
    """`made` was made item by item from `source`: the spots are the same."""
    if not isinstance(source, LocatedList):
        return made
    out = LocatedList(source.spot)
    for item, spot in zip(made, source.items_at, strict=True):
        out.put(item, spot)
    return out


def spot_of(root: Any, keys: list[str | int], *, of_key: bool) -> Spot | None:
    """The spot of a path: of the key itself, or of the value; else of the nearest thing around it."""
    best: Spot | None = getattr(root, "spot", None)
    node = root
    for depth, key in enumerate(keys):
        last = depth == len(keys) - 1
        if isinstance(node, LocatedDict) and isinstance(key, str) and key in node:
            table = node.keys_at if of_key and last else node.values_at
            best = table.get(key, best)
            node = node[key]
        elif isinstance(node, LocatedList) and isinstance(key, int) and key < len(node):
            best = node.items_at[key]
            node = node[key]
        else:
            return best
    return best


_ABOUT_THE_KEY = frozenset({Code.UNKNOWN_FIELD, Code.DUPLICATE_KEY, Code.UNKNOWN_STEP})


def points_at_key(problem: Problem) -> bool:
    """Whether the key is what is wrong, rather than the value behind it."""
    return problem.code in _ABOUT_THE_KEY
