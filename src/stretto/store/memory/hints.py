"""Hints inside one process."""

from collections.abc import Callable, Collection

from stretto.engine.records import RunKey
from stretto.ports.hints import Heard


class MemoryHints:
    """See `ports.hints`. Listeners are called at once: all of them live in the event loop of who hints."""

    def __init__(self) -> None:
        self._listeners: list[Heard] = []

    def hint(self, groups: Collection[int], admitted: Collection[RunKey] = ()) -> None:
        if groups:
            for heard in list(self._listeners):  # one may stop listening while it is told
                heard(frozenset(groups), admitted)

    def listen(self, heard: Heard) -> Callable[[], None]:
        self._listeners.append(heard)

        def stop() -> None:
            if heard in self._listeners:
                self._listeners.remove(heard)

        return stop
