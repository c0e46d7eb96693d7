"""Steps and handlers that are written in Python, for a session on the command line."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from stretto.flow.engine.elsewhere import Elsewhere
from stretto.flow.engine.finding import ProgramRegistry
from stretto.flow.engine.handlers import Handlers
from stretto.flow.engine.starting import record_functions
from stretto.flow.engine.watching import Watch
from stretto.ports.events import LogRow
from stretto.ports.observer import Observer
from stretto.ports.runtime import StepRuntime
from stretto.ports.store import Store
from stretto.runtimes.built_in import python_runtime
from stretto.runtimes.python.function import Function
from stretto.runtimes.python.own_params import TYPE
from stretto.runtimes.surroundings import Surroundings


class Functions(Observer):
    """Those of some workflows, and of applications. Steps may also name a function to import."""

    def __init__(self, flows: Iterable[Any], functions: Iterable[Function] = ()) -> None:
        self._registry = ProgramRegistry(*functions)
        self._handlers = Handlers()
        for flow in flows:
            self._registry.register(*flow.functions)
            self._handlers.of_workflow(flow.id, flow.handlers)
        self._registry.handlers = self._handlers.names
        self._watch = Watch(self._handlers.changed)

    @property
    def names(self) -> frozenset[str]:
        """All that are known here."""
        return self._registry.names

    def runtimes(self, around: Surroundings) -> Mapping[str, StepRuntime]:
        """See `runtimes.surroundings.MakeRuntimes`."""
        return {TYPE: python_runtime(around, self._registry)}

    async def record(self, store: Store) -> None:
        """Tell the store of them, before anything runs."""
        await record_functions(store, self._registry)

    @asynccontextmanager
    async def looking(self, store: Store) -> AsyncIterator[None]:
        """Handlers are also called for runs of processes that do not know them."""
        self._watch.begin(store)
        try:
            await Elsewhere(store, self._watch, self._handlers).begin()
            yield
        finally:
            await self._watch.end()

    def committed(self, rows: Sequence[LogRow]) -> None:
        self._watch.committed(rows)

    def leases_claimed(self, groups: Sequence[int]) -> None:
        self._watch.leases_claimed(groups)

    def leases_lost(self, groups: Sequence[int]) -> None:
        self._watch.leases_lost(groups)

    async def finish(self) -> None:
        """Until all handlers that were called have returned."""
        await self._handlers.finish()
