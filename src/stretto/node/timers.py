"""Time triggers: the node looks for those that are due, and fires them workflow by workflow."""

from collections import deque
from collections.abc import Sequence
from typing import Final
from zlib import crc32

import msgspec

from stretto.actions.fire_timer import MOST_FIRES
from stretto.model.errors import Unavailable
from stretto.node.answers import DueTriggers
from stretto.node.asks import FindDueTriggers, FireTimers
from stretto.node.context import NodeContext
from stretto.node.owned_groups import OwnedGroups
from stretto.ports.places import GROUPS, group_of_workflow
from stretto.ports.triggers import TimeTriggerRow

LATE: Final = 1_000  # milliseconds after which any node fires what the owner of its group has not
FOUND_AT_ONCE: Final = 100  # triggers that one look returns, besides those in hand
FIRED_AT_ONCE: Final = 8  # transactions, each of another workflow


class Batch(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Due triggers of one workflow, and how many of their fires one transaction commits."""

    rows: tuple[TimeTriggerRow, ...]
    most: int = MOST_FIRES
    tries: int = 0

    @property
    def is_single(self) -> bool:
        return self.most == 1 and len(self.rows) == 1


class TimeTriggers:
    """What is due is fired at once, each workflow by itself: one that fails is retried, the others go on.

    What is late in groups of others is fired, too: whoever owns them may be gone, or not reach the database.
    """

    def __init__(self, node: NodeContext, owned: OwnedGroups) -> None:
        self._node = node
        self._owned = owned
        self.clear()

    def clear(self) -> None:
        """A new life: nothing is in hand."""
        self._due: deque[Batch] = deque()
        self._in_hand: set[str] = set()  # triggers that are queued, being fired, or waiting for a retry
        self._firing = 0
        self._looking = False
        self._failed_looks = 0  # in a row
        self._alarm_at = float("inf")

    def pump(self) -> None:
        """Look if there is a reason to, and fire what was found."""
        if self._owned.timers_changed and not self._looking and not self._due:
            self._look()
        while self._due and self._firing < FIRED_AT_ONCE:
            self._fire(self._due.popleft())

    def heard(self, next_fire_at: int | None) -> None:
        """A beat says when the next trigger of all groups is due."""
        if next_fire_at is not None and len(self._owned.groups) < GROUPS:
            self._look_after(max(0, next_fire_at + LATE - self._node.time.now()))

    # ------------------------------------------------------------------------------------------------- looks
    def _look(self) -> None:
        groups = frozenset(self._owned.groups)
        late = LATE if len(groups) < GROUPS else None
        self._owned.timers_changed = False
        self._looking = True
        most = FOUND_AT_ONCE + len(self._in_hand)  # those that fail do not hide the others

        def then(found: DueTriggers) -> None:
            self._looking = False
            self._failed_looks = 0
            self._take(found.rows)
            if len(found.rows) >= most:
                self._look_again()  # when these are under way
            if found.wait is not None:
                self._look_after(found.wait)

        self._node.ask(FindDueTriggers(groups=groups, late=late, most=most), then, self._not_found)

    def _not_found(self, error: Exception) -> None:
        self._looking = False
        pause = self._pause(error, self._failed_looks)
        tries = self._failed_looks = self._failed_looks + 1
        self._node.tell(lambda each: each.store_failed(error, tries))
        self._node.after(pause, self._look_again)

    def _take(self, rows: Sequence[TimeTriggerRow]) -> None:
        """Queue what is not in hand yet, the workflow with the oldest fire first. What is late in groups of
        others follows; several nodes may have found it, and each begins at another place.
        """
        found: dict[str, list[TimeTriggerRow]] = {}
        for row in rows:
            if row.trigger_id not in self._in_hand:
                found.setdefault(row.workflow_id, []).append(row)
                self._in_hand.add(row.trigger_id)
        batches = {name: Batch(rows=tuple(each)) for name, each in found.items()}
        own = [each for name, each in batches.items() if group_of_workflow(name) in self._owned.groups]
        others = [each for name, each in batches.items() if group_of_workflow(name) not in self._owned.groups]
        begin = crc32(self._node.id.encode()) % max(1, len(others))
        self._due += [*own, *others[begin:], *others[:begin]]

    def _look_after(self, millis: int) -> None:
        """One alarm is enough: each look says when the next one is needed."""
        now = self._node.steady()
        at = now + millis / 1_000
        if not now < self._alarm_at <= at:
            self._alarm_at = at
            self._node.after(millis, self._look_again)

    def _look_again(self) -> None:
        self._owned.timers_changed = True

    # ------------------------------------------------------------------------------------------------- fires
    def _fire(self, batch: Batch) -> None:
        self._firing += 1

        def then(fired: bool) -> None:
            self._firing -= 1
            self._in_hand.difference_update(row.trigger_id for row in batch.rows)
            if fired:
                self._look_again()
            else:  # another node was faster, or the trigger is gone
                self._node.after(self._node.settings.retry_first, self._look_again)

        def otherwise(error: Exception) -> None:
            self._firing -= 1
            self._node.tell(lambda each: each.store_failed(error, batch.tries + 1))
            if isinstance(error, Unavailable) or batch.is_single:
                again = msgspec.structs.replace(batch, tries=batch.tries + 1)
                self._node.after(self._pause(error, batch.tries), lambda: self._due.append(again))
            else:  # one fire that can not be committed does not hold the others
                self._due += [Batch(rows=(row,), most=1) for row in batch.rows]

        self._node.ask(FireTimers(rows=batch.rows, most=batch.most), then, otherwise)

    def _pause(self, error: Exception, tries: int) -> int:
        """Growing, but short while only the database is in trouble: when it answers, what is due is late."""
        pause = self._node.back_off(tries)
        return min(pause, self._node.settings.beat_every) if isinstance(error, Unavailable) else pause
