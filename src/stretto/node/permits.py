"""What a node knows of the permits that are left, so that attempts can take some without standing in line."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from stretto.engine.permits import Limits

MOST_TAGS: Final = 10_000  # that are remembered


class PermitRoom:
    """See `engine.permits.Room`. Commits tell what is left of the tags that were taken; a tag that somebody
    waits for has no room until a look finds its line empty. Of any other tag the limit is taken to be free
    that the attempt brings along. What is wrong here costs time, never a permit: the commit checks.
    """

    def __init__(self) -> None:
        self._left: dict[str, int] = {}
        self._waited_for: set[str] = set()

    def has_room(self, limits: Limits, taken: Mapping[str, int]) -> bool:
        for tag, limit in limits.items():
            left = self._left.get(tag, limit)
            if tag in self._waited_for or (left is not None and taken.get(tag, 0) >= left):
                return False
        return True

    def committed(self, left: Mapping[str, int | None]) -> None:
        """What a commit has left of tags that it took."""
        for tag, number in left.items():
            self._left.pop(tag, None)
            if number is not None:
                self._left[tag] = number
        while len(self._left) > MOST_TAGS:
            del self._left[next(iter(self._left))]

    def changed(self, tags: Iterable[str], by: int) -> None:
        """So many more attempts hold each of these tags, or wait for it; negative: fewer."""
        for tag in tags:
            if tag in self._left:
                self._left[tag] -= by

    def waits(self, tags: Collection[str]) -> None:
        """Somebody stands in line for these tags, or a commit found no room."""
        self._waited_for.update(tags)

    def looked(self, tags: Collection[str], waited_for: Collection[str]) -> None:
        """Of these tags somebody still waits for some; of the others nothing is known any more."""
        for tag in tags:
            if tag not in waited_for:
                self._waited_for.discard(tag)
                self._left.pop(tag, None)
