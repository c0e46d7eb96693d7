"""Everything that is kept, behind one name."""

from typing import Protocol

from stretto.ports.approvals import Approvals
from stretto.ports.breakpoints import Breakpoints
from stretto.ports.bulk import Bulks
from stretto.ports.cache import Cache
from stretto.ports.commit import Commits
from stretto.ports.events import Events
from stretto.ports.functions import Functions
from stretto.ports.groups import Groups
from stretto.ports.history import History
from stretto.ports.loading import Loading
from stretto.ports.outbox import Outbox
from stretto.ports.permits import Permits
from stretto.ports.retention import Retention
from stretto.ports.run_snapshot import RunSnapshots
from stretto.ports.runs import Runs
from stretto.ports.signals import Signals
from stretto.ports.templates import Templates
from stretto.ports.triggers import Triggers
from stretto.ports.views import Views
from stretto.ports.work import Pools
from stretto.ports.workflows import Workflows

__all__ = ["Store"]


class Store(
    Approvals,
    Breakpoints,
    Bulks,
    Cache,
    Commits,
    Events,
    Functions,
    Groups,
    History,
    Loading,
    Outbox,
    Permits,
    Pools,
    Retention,
    Runs,
    RunSnapshots,
    Signals,
    Templates,
    Triggers,
    Views,
    Workflows,
    Protocol,
):
    """One database. Every method may be called from several tasks at once, and from several processes that
    have each opened the same database; each call is atomic, and sees what calls before it have written.

    What is handed in is copied or encoded before the call returns, and what is handed out belongs to the
    caller: nobody shares a mutable record with the store. What is read equals what was written.
    """

    async def now(self) -> int:
        """The database's clock, in milliseconds since 1970."""
        ...

    async def probe(self) -> None:
        """Store something small, as proof that this is possible now. `Unavailable` says why it is not."""
        ...

    async def close(self) -> None:
        """Let go of connections and threads. Idempotent; nothing may be called afterwards."""
        ...
