"""What the routes of a server share: whether requests should come, who follows events, and the desk."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import Final

import msgspec

from stretto.actions.bulk import carry_out_next
from stretto.actions.reading.log_pages import StepLogs
from stretto.actions.reading.log_target import host_of
from stretto.api.bulk_worker import BulkWorker
from stretto.api.desk import Desk
from stretto.api.feed import Feed
from stretto.app import Parts
from stretto.config import Config
from stretto.model.errors import StrettoError
from stretto.node.process import own_address
from stretto.ports.events import LogRow
from stretto.ports.observer import Observer
from stretto.runtimes.expressions.asked import Asked
from stretto.runtimes.listing import listed, schemas
from stretto.runtimes.types import with_installed

ANSWER_WITHIN: Final = 2.0  # seconds in which a database that is well answers
PROBE_EVERY: Final = 1.0  # seconds for which the answer of a probe is good enough


class FeedObserver(Observer):
    """Hands what the node of this process has committed to those who follow."""

    def __init__(self) -> None:
        self.feed: Feed | None = None

    def committed(self, rows: Sequence[LogRow]) -> None:
        if self.feed is not None:
            self.feed.offer(rows)


class ServerState:
    """Whether requests should come here, and what followers are told."""

    def __init__(self, parts: Parts, observer: FeedObserver | None = None) -> None:
        self._parts = parts
        self.stopping = False
        self._probe: asyncio.Task[str | None] | None = None
        self._fresh_until = 0.0
        self.feed = Feed(parts.store, parts.clock)
        self.endings: list[Callable[[], None]] = [self.feed.close]  # what else ends when the server stops
        if observer is not None:
            observer.feed = self.feed

    def stop(self) -> None:
        """From now on nobody should come, and who follows is sent away."""
        self.stopping = True
        for end in self.endings:
            end()

    async def trouble(self) -> str | None:
        """Why no request should come here now. All who ask within a moment get the same answer: a probe
        writes to the database.
        """
        if self.stopping:
            return "the server is stopping"
        if self._probe is None or (self._probe.done() and monotonic() >= self._fresh_until):
            self._probe = asyncio.create_task(self._probed())
        return await asyncio.shield(self._probe)

    async def _probed(self) -> str | None:
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                await self._parts.store.probe()
        except TimeoutError:
            return f"the database has not answered within {ANSWER_WITHIN:g} s"
        except StrettoError as error:
            return error.message
        finally:
            self._fresh_until = monotonic() + PROBE_EVERY
        return None


def desk_of(parts: Parts, config: Config, state: ServerState) -> Desk:
    """What the routes are given. Definitions that come by HTTP must have steps, as in Maestro."""
    limits = msgspec.structs.replace(with_installed(config.limits), empty_workflow=False)
    evaluate = Asked(parts.evaluator, config.for_node.engine)
    bulk = BulkWorker(partial(carry_out_next, parts.store, evaluate=evaluate, hints=parts.hints))
    bulk.start()
    state.endings.append(bulk.stop)
    state.feed.tail.cluster_name = config.server.cluster_name
    return Desk(
        store=parts.store,
        hints=parts.hints,
        clock=parts.clock,
        limits=limits,
        params=config.params,
        evaluate=evaluate,
        starts=parts.starts,
        action_within=config.server.action_within,
        trouble=state.trouble,
        stopping=lambda: state.stopping,
        feed=state.feed,
        since=parts.clock.now(),
        bulk=bulk,
        logs=StepLogs(parts.store, parts.logs, host_of(own_address())),
        types=schemas,
        standings=listed,
        early_answers=config.engine.early_answers,
        cluster_name=config.server.cluster_name,
    )
