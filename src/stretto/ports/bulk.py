"""Bulk jobs: one action on many runs or steps, carried out one by one, by whoever holds the job just now."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from stretto.model.run_config import RunPolicy
from stretto.model.user import User
from stretto.model.words import Word
from stretto.ports.paging import Cut, Slice


class BulkState(Word):
    """How far a job is."""

    RUNNING = "RUNNING"
    DONE = "DONE"
    CANCELLED = "CANCELLED"


class ItemState(Word):
    """What became of one item."""

    WAITING = "WAITING"
    DONE = "DONE"
    REFUSED = "REFUSED"
    CANCELLED = "CANCELLED"


class BulkTarget(msgspec.Struct, frozen=True, kw_only=True):
    """What an action is done to: the newest run of an instance, a run that must be the newest, or a step."""

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int | None = None
    step_id: str | None = None


class BulkItem(msgspec.Struct, frozen=True, kw_only=True):
    """One of the targets, and what became of it."""

    number: int
    target: BulkTarget
    state: ItemState = ItemState.WAITING
    message: str | None = None
    at: int | None = None


class BulkJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job. Its id is the request id of who asked for it: nobody asks for the same one twice."""

    job_id: str
    action: str
    by: User
    roles: tuple[str, ...] = ()  # that they had when they asked
    reason: str = ""
    restart_policy: RunPolicy | None = None
    create_time: int
    end_time: int | None = None
    state: BulkState = BulkState.RUNNING
    total: int


class BulkChange(msgspec.Struct, frozen=True, kw_only=True):
    """What whoever holds a job writes of it.

    items   Items, with what became of them.
    hold    For how many milliseconds from now on the job is held.
    ends    How the job ends; items that still wait are CANCELLED.
    """

    items: tuple[BulkItem, ...] = ()
    hold: int | None = None
    ends: BulkState | None = None


class BulkProgress(msgspec.Struct, frozen=True, kw_only=True):
    """A job, and how many of its items are in which state."""

    job: BulkJob
    counts: Mapping[ItemState, int] = {}


class Bulks(Protocol):
    """Jobs and their items. Any number of processes may look for one that nobody holds."""

    async def put_bulk(self, job: BulkJob, items: Sequence[BulkItem]) -> bool:
        """Store a job with all its items; False if there is one with its id, which stays as it is."""
        ...

    async def take_bulk(self, hold: int) -> BulkJob | None:
        """A job that is RUNNING and that nobody holds: the caller holds it for so many milliseconds. One that
        is held for longer than that was taken before the clock was set back, and nobody holds it.
        """
        ...

    async def change_bulk(self, job_id: str, change: BulkChange) -> BulkJob | None:
        """Write down what became of items, hold the job on, end it; the job as it is then, None: it is gone.
        Only a job that is RUNNING ends.
        """
        ...

    async def bulk_progress(self, job_id: str) -> BulkProgress | None:
        """One job and how far it is. Only reads, as all that follow."""
        ...

    async def bulk_jobs(self, cut: Cut) -> Slice[BulkJob]:
        """Jobs by (create time, id), newest first."""
        ...

    async def bulk_items(self, job_id: str, cut: Cut, state: ItemState | None = None) -> Slice[BulkItem]:
        """The items of a job by number; or those in one state."""
        ...
