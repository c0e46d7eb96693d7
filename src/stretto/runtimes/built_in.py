"""The runtimes of a node, by the type of their steps: those of the product, and those of its caller."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Protocol, runtime_checkable

from stretto.ports.runtime import Launch, StepRuntime
from stretto.runtimes import plugins
from stretto.runtimes.python.own_params import TYPE
from stretto.runtimes.python.registry import Registry
from stretto.runtimes.python.runtime import PythonRuntime
from stretto.runtimes.shell import ShellRuntime
from stretto.runtimes.surroundings import MakeRuntimes, Surroundings, no_runtimes
from stretto.runtimes.workers.calls import worker_processes


@runtime_checkable
class OwnWork(Protocol):
    """A runtime whose work goes on in this process or below it, and must end with its node."""

    @property
    def at_work(self) -> Sequence[Launch]:
        """What has not ended."""
        ...

    def kill_all(self) -> None:
        """Nobody has time any more. `close` follows, or is under way."""
        ...

    async def close(self) -> None:
        """End all work that goes on. Idempotent."""
        ...


def built_in(around: Surroundings) -> Mapping[str, StepRuntime]:
    """What comes with the product. Nothing is started before the first step needs it."""
    settings = around.settings
    shell = ShellRuntime(
        around.clock.now, at_once=settings.commands, grace=settings.grace / 1_000, sink=around.sink
    )
    return {"Shell": shell, TYPE: python_runtime(around, Registry())}


def python_runtime(around: Surroundings, registry: Registry) -> PythonRuntime:
    """For functions that a program has, and those that steps name or hold."""
    settings = around.settings
    return PythonRuntime(
        registry,
        now=around.clock.now,
        store=around.store,
        modules=settings.modules,
        grace=settings.grace / 1_000,
        most_bytes=around.params.size,
        processes=worker_processes(settings, around.sink),
        isolation=settings.isolation.value,
        sink=around.sink,
        capture_output=True,
    )


class ByType(Mapping[str, StepRuntime]):
    """Runtimes by the type of steps. What packages bring is looked for when a type is not one of ours: that
    takes longer than a small workflow.
    """

    def __init__(self, ours: Mapping[str, StepRuntime], around: Surroundings) -> None:
        self._ours = ours
        self._around = around
        self.at_hand = ours

    @cached_property
    def _all(self) -> Mapping[str, StepRuntime]:
        self.at_hand = {**plugins.by_type(self._around), **self._ours}
        return self.at_hand

    def __getitem__(self, kind: str) -> StepRuntime:
        return self._ours[kind] if kind in self._ours else self._all[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


class Runtimes:
    """All of them, for one node. Made in its event loop; whoever makes it closes it."""

    def __init__(self, around: Surroundings, own: MakeRuntimes = no_runtimes) -> None:
        self.by_type = ByType({**built_in(around), **own(around)}, around)

    @property
    def _working(self) -> list[OwnWork]:
        return [each for each in self.by_type.at_hand.values() if isinstance(each, OwnWork)]

    @property
    def at_work(self) -> list[Launch]:
        """What has not ended."""
        return [each for runtime in self._working for each in runtime.at_work]

    def kill_all(self) -> None:
        """Nobody has time any more. `close` must follow."""
        for runtime in self._working:
            runtime.kill_all()

    async def close(self) -> None:
        """End all work that goes on. Idempotent."""
        for runtime in self._working:
            await runtime.close()
