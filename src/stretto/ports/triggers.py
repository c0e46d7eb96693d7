"""What starts workflows by itself: the triggers of active versions."""

from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

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


class TriggersOn(NamedTuple):
    """Signal triggers on a name. A fan-out asks after it has the announcement."""

    name: str


class NamedSignalTrigger(NamedTuple):
    """One signal trigger, if it is there: its `fire` is evaluated."""

    trigger_id: str


SignalTriggerSelection = TriggersOn | NamedSignalTrigger


class FiresDue(NamedTuple):
    """Time triggers of workflows at home in these groups (None: in all) that are due at a time, the oldest
    first.
    """

    groups: Collection[int] | None
    at: int
    most: int = 100


class FiresBetween(NamedTuple):
    """Time triggers of all workflows that fire in this time, the first ones first."""

    since: int
    until: int
    most: int


class TimeTriggerPage(NamedTuple):
    """All time triggers, by id."""

    cut: Cut


TimeTriggerSelection = FiresDue | FiresBetween | TimeTriggerPage


class Triggers(Protocol):
    """Reads only. Triggers are replaced when a version is activated (`Workflows.change_workflow`). A time
    trigger moves on in the workflow transaction that starts its run (`Runs.transact`).
    """

    async def signal_triggers(self, selection: SignalTriggerSelection) -> list[SignalTriggerRow]:
        """The selected signal triggers, by id."""
        ...

    async def time_triggers(self, selection: TimeTriggerSelection) -> Slice[TimeTriggerRow]:
        """The selected time triggers, in the order of the selection."""
        ...

    async def next_trigger_due(self, groups: Collection[int] | None, *, after: int = -1) -> int | None:
        """When the next of these is due; of those that are due after a time, if one is given."""
        ...

    async def next_fires(self, workflow_ids: Collection[str]) -> dict[str, int]:
        """When each of these workflows starts next by a time trigger; those that do not are missing."""
        ...

    async def triggers_of(self, workflow_id: str) -> tuple[list[TimeTriggerRow], list[SignalTriggerRow]]:
        """Everything that starts a workflow by itself, by id."""
        ...
