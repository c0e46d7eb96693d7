"""What starts workflows by itself: the triggers of active versions."""

from collections.abc import Collection, Mapping
from typing import Protocol

import msgspec

from stretto.model.trigger import SignalTrigger, TimeTrigger
from stretto.ports.paging import Cut, Slice


class SignalTriggerRow(msgspec.Struct, frozen=True, kw_only=True):
    """A signal trigger. `since`: the last number of each of its signals when it was activated; the store
    fills it in. What was announced before does not count.
    """

    trigger_id: str
    workflow_id: str
    version_id: int
    trigger: SignalTrigger
    since: Mapping[str, int] = {}


class TimeTriggerRow(msgspec.Struct, frozen=True, kw_only=True):
    """A time trigger and when it fires next; None: never again."""

    trigger_id: str
    workflow_id: str
    version_id: int
    trigger: TimeTrigger
    next_fire_at: int | None = None
    jitter: int = 0  # milliseconds by which its fires are late, on purpose


class Triggers(Protocol):
    """Reads only. Triggers are replaced when a version is activated (`Workflows.change_workflow`). A time
    trigger moves on in the workflow transaction that starts its run (`Runs.transact`).
    """

    async def triggers_on(self, name: str) -> list[SignalTriggerRow]:
        """Signal triggers on a name, by id. A fan-out asks after it has the announcement."""
        ...

    async def due_triggers(
        self, groups: Collection[int] | None, at: int, *, most: int = 100
    ) -> list[TimeTriggerRow]:
        """Time triggers of workflows at home in these groups (None: in all) that are due at a time, the
        oldest first.
        """
        ...

    async def next_trigger_due(self, groups: Collection[int] | None, *, after: int = -1) -> int | None:
        """When the next of these is due; of those that are due after a time, if one is given."""
        ...

    async def next_fires(self, workflow_ids: Collection[str]) -> dict[str, int]:
        """When each of these workflows starts next by a time trigger; those that do not are missing."""
        ...

    async def fires(self, since: int, until: int, *, most: int) -> list[TimeTriggerRow]:
        """Time triggers of all workflows that fire in this time, the first ones first."""
        ...

    async def signal_trigger(self, trigger_id: str) -> SignalTriggerRow | None:
        """One signal trigger: its `fire` is evaluated."""
        ...

    async def time_triggers(self, cut: Cut) -> Slice[TimeTriggerRow]:
        """All time triggers, by id."""
        ...

    async def triggers_of(self, workflow_id: str) -> tuple[list[TimeTriggerRow], list[SignalTriggerRow]]:
        """Everything that starts a workflow by itself, by id."""
        ...
