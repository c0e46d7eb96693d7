"""What time it is for a node: the database's clock, estimated from beats on a steady clock of its own."""

from collections.abc import Callable


class DatabaseTime:
    """The database's time, in milliseconds since 1970. It never goes back, also if the database's does."""

    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._heard: tuple[int, float] | None = None
        self._last = 0

    def hear(self, now: int, sent: float) -> None:
        """The database said so, somewhere between the sending of the question and this moment."""
        self._heard = now, (sent + self._steady()) / 2

    def now(self) -> int:
        if self._heard is not None:
            now, at = self._heard
            self._last = max(self._last, now + int((self._steady() - at) * 1_000))
        return self._last

    def at_least(self, now: int) -> None:
        """Something was committed at this time: what comes after it is not earlier."""
        self._last = max(self._last, now)

    def steady_at(self, due: int) -> float:
        """When the steady clock will say that a time has come."""
        steady = self._steady()
        if self._heard is None:
            return steady
        now, at = self._heard
        return max(steady, at + (due - now) / 1_000)
