"""Handlers of workflows for runs that other processes look after: one that does not know them can not call
them. Of several processes that know them one does.
"""

import logging
from collections.abc import Collection, Sequence
from typing import Final
from uuid import uuid4

from stretto.engine.records import RunKey
from stretto.flow.engine.handlers import Handlers, handler_name
from stretto.flow.engine.watching import Watch
from stretto.model.errors import StrettoError
from stretto.model.event import ChangeEvent, InstanceStatusChanged
from stretto.ports.places import group_of_run
from stretto.ports.store import Store

LOG = logging.getLogger(__name__)
CLAIMED_FOR: Final = 86_400_000  # milliseconds: longer than any process needs to read of a change


class Elsewhere:
    """What a process does for the others, from `begin` on and as long as it watches."""

    def __init__(self, store: Store, watch: Watch, handlers: Handlers) -> None:
        self._store = store
        self._watch = watch
        self._handlers = handlers
        self._began = False

    async def begin(self) -> None:
        """Nothing that happens after this is missed. Without handlers nobody need look; idempotent."""
        if self._handlers.names and not self._began:
            self._began = True
            await self._watch.follow(self)

    def told(self, events: Sequence[ChangeEvent]) -> None:
        """See `watching.Follower`."""
        for event in events:
            if isinstance(event, InstanceStatusChanged):
                run = RunKey(event.workflow_id, event.workflow_instance_id, event.workflow_run_id)
                if not self._watch.is_ours(group_of_run(run)):
                    self._handlers.changed_elsewhere(event, self._claimed)

    async def _claimed(self, event: InstanceStatusChanged, names: Collection[str]) -> Collection[str]:
        """Of the names under which there are handlers, those that the owner of the run does not know, if no
        other process was faster.
        """
        store, run = self._store, (event.workflow_id, event.workflow_instance_id, event.workflow_run_id)
        group = group_of_run(RunKey(*run))
        try:
            owner = next((each.owner for each in await store.groups() if each.group == group), None)
            known = {} if owner is None else await store.advertised([owner])
            left = [
                name
                for name in names
                if owner is None or handler_name(event.workflow_id, name) not in known.get(owner, ())
            ]
            key = f"on_status {'/'.join(map(str, run))} {event.new_status} {event.event_time}"
            if left and await store.keep_first(key, uuid4().hex, await store.now(), CLAIMED_FOR) is None:
                return left
        except StrettoError as error:
            LOG.warning("handlers of run %s/%s/%s can not be called now: %s", *run, error)
        return ()
