"""The runtimes that come with the product, by the type of their steps."""

from collections.abc import Callable, Mapping

from stretto.ports.runtime import Launch, StepRuntime
from stretto.runtimes.shell import ShellRuntime


class BuiltIn:
    """All of them, for one node. Made in its event loop; whoever makes it closes it."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._shell = ShellRuntime(now)
        self.by_type: Mapping[str, StepRuntime] = {"Shell": self._shell}

    @property
    def at_work(self) -> list[Launch]:
        """What has not ended."""
        return self._shell.at_work

    def kill_all(self) -> None:
        """Nobody has time any more. `close` must follow."""
        self._shell.kill_all()

    async def close(self) -> None:
        """End all work that goes on. Idempotent."""
        await self._shell.close()
