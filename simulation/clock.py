"""The clock of a simulated database."""

from stretto.testing.scheduler import BEGIN, Scheduler


class DatabaseClock:
    """It may be set, forward and back."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self.offset = 0
        self.latest = 0  # that it ever said

    def now(self) -> int:
        now = BEGIN + self._scheduler.now + self.offset
        self.latest = max(self.latest, now)
        return now
