"""Who wants to know what happens."""

from collections.abc import Sequence

from stretto.engine.records import RunKey
from stretto.ports.events import LogRow
from stretto.ports.messages import Message

__all__ = ["Observer"]


class Observer:
    """Override what you need. One that raises is logged; the run never notices.

    Called in the node's event loop, after the commit: be quick, or hand over to a task of your own. What was
    called may be called again after a take-over; `LogRow` is numbered, so doubles can be told.
    """

    def committed(self, rows: Sequence[LogRow]) -> None:
        """Changes were stored, in this order for each group."""

    def leases_claimed(self, groups: Sequence[int]) -> None:
        """The node looks after these groups from now on."""

    def leases_lost(self, groups: Sequence[int]) -> None:
        """Another node has these groups; what was decided and not stored is dropped."""

    def node_buried(self, node: str) -> None:
        """A node went silent and was declared dead, by this one."""

    def run_quarantined(self, run: RunKey, reason: str) -> None:
        """A run was set aside, because owners of its group died at it."""

    def message_parked(self, message: Message, reason: str) -> None:
        """A message could not be applied and was set aside."""

    def decision_failed(self, run: RunKey, fault: Exception) -> None:
        """A fault of ours while a run was decided about: the step, or the run, that it was about fails."""

    def clock_set(self, millis: int) -> None:
        """Somebody has set the database's clock: forward, or, if the number is negative, back."""

    def store_failed(self, error: Exception, tries: int) -> None:
        """A transaction failed and will be repeated."""
