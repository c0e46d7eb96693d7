"""A node, without I/O: answers and the passing of time go in, asks come out.

    node.begin()
    for ask in node.take(): ...carry it out, then node.answered(ask, answer) or node.failed(ask, error)
    node.wake()                     after anything has happened, and at node.next_wake at the latest

Whoever drives it may carry asks out in any order and at any speed; a crash is to forget it.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from stretto.engine.events import Reported
from stretto.engine.records import RunKey
from stretto.model.errors import Unavailable
from stretto.node.asks import Ask, FetchMail, Leave, StartLeaving
from stretto.node.committer import Committer
from stretto.node.context import NodeContext
from stretto.node.crash_guard import CrashGuard
from stretto.node.decider import Decider
from stretto.node.effect_queue import EffectQueue
from stretto.node.effects import Effects
from stretto.node.group import Group, GroupState
from stretto.node.jobs import Jobs
from stretto.node.launches import Lacks, Launches, Outside, lacks_nothing
from stretto.node.loader import Loader
from stretto.node.membership import Membership
from stretto.node.messages import MessageRouter, UnroutedMessages
from stretto.node.owned_groups import OwnedGroups
from stretto.node.ownership import Ownership
from stretto.node.settings import NodeSettings
from stretto.node.timers import TimeTriggers
from stretto.ports.groups import Burial
from stretto.ports.observer import Observer
from stretto.ports.outbox import Mail
from stretto.ports.rows import NodeId

MOST_MAIL = 1_000


class Node:
    """One process among those that share a database."""

    def __init__(
        self,
        settings: NodeSettings,
        steady: Callable[[], float],
        new_id: Callable[[], NodeId],
        outside: Outside,
        observers: Sequence[Observer] = (),
        lacks: Lacks = lacks_nothing,
    ) -> None:
        self._new_id = new_id
        self._context = context = NodeContext(settings, steady, observers)
        self._owned = owned = OwnedGroups(context)
        self._membership = Membership(
            context,
            joined=self._joined,
            heard=self._heard,
            buried=self._buried,
            burial=self._burial,
            functions_read=self.functions_changed,
            clock_set=self._clock_set,
        )
        self._jobs = jobs = Jobs(context, owned)
        self._launches = Launches(context, self._membership, jobs, outside, lacks)
        self._effect_queue = queue = EffectQueue(context, owned)
        self._effects = effects = Effects(context, owned, self._launches, jobs, queue)
        self._guard = guard = CrashGuard(context, owned)
        self._loader = Loader(context, owned, effects, guard)
        self._decider = Decider(context, owned, self._launches, guard, effects)
        self._ownership = Ownership(
            context, owned, self._membership, self._loader, effects, guard, self._decider.pay_summaries
        )
        self._timers = TimeTriggers(context, owned)
        unrouted = UnroutedMessages(context, owned)
        self._committer = Committer(context, owned, effects, self._loader, self._ownership, unrouted)
        self._router = MessageRouter(context, owned, jobs, self._loader, unrouted, self._launches, guard)
        self._fetching = False
        self._fetch_at = float("inf")
        self._fetch_pause = settings.fetch_soon
        self._stopping: float | None = None
        self._left = False
        self.gone = False

    # ------------------------------------------------------------------------------------------------ inputs
    @property
    def id(self) -> NodeId:
        return self._context.id

    @property
    def groups(self) -> dict[int, Group]:
        """What it owns, for those who look in."""
        return self._owned.groups

    def begin(self) -> None:
        self._membership.join(self._new_id())

    def answered(self, ask: Ask, answer: Any) -> None:
        """Nothing is decided yet: the next `wake` looks at everything that has come by then."""
        self._context.answered(ask, answer)

    def failed(self, ask: Ask, error: Exception) -> None:
        self._context.failed(ask, error)

    def hinted(self, groups: Collection[int], admitted: Collection[RunKey] = ()) -> None:
        """Something is to be found for these groups; one that is nobody's may have been given up."""
        told = self._router.launch(admitted)
        if any(group in self._owned.groups and group not in told for group in groups):
            self._owned.hurry = True
        if any(group not in self._owned.groups for group in groups):
            self._ownership.claim()

    def reported(self, event: Reported) -> None:
        """A runtime says by itself how its work goes."""
        self._jobs.reported(event)

    def functions_changed(self) -> None:
        """Some process knows other functions than before: what waits for functions may begin."""
        self._launches.look_for_functions(self._owned)

    def wake(self) -> None:
        """Time has passed, or something has happened: do whatever can be done now."""
        self._context.ring()
        self._pump()

    def stop(self) -> None:
        """Leave: hand the groups over at once, let work here end for a while, then go."""
        if self._stopping is None:
            self._stopping = self._context.steady() + self._context.settings.stop_within / 1_000
            self._launches.stopping = True
            self._ownership.leave_all()
            self._context.insist(StartLeaving(node=self._context.id), lambda _: None, lambda _: None)

    def take(self) -> list[Ask]:
        return self._context.take()

    @property
    def next_wake(self) -> float:
        times = [self._context.next_alarm, self._owned.next_due, self._owned.next_idle]
        if not self._fetching and self._context.trusted:  # a beat that is heard wakes, too
            times.append(self._fetch_at)
        if self._stopping is not None and not self._left:
            times.append(self._stopping)
        return min(times)

    # ------------------------------------------------------------------------------------------------- lives
    def _joined(self) -> None:
        self._fetch_at = self._context.steady()
        self._timers.heard(self._membership.next_fire_at)
        self._ownership.begin()

    def _clock_set(self, millis: int) -> None:
        """Timers keep the time that they have left. Time triggers follow the clock: set forward, it makes
        some due. Set back, it leaves starts under a rate in the future, which a look corrects.
        """
        if millis > 0:
            self._owned.timers_changed = True
        else:
            self._effect_queue.look_at_rates()

    def _heard(self) -> None:
        self._ownership.heard()
        self._timers.heard(self._membership.next_fire_at)
        self.functions_changed()

    def _burial(self, _burial: Burial) -> None:
        self._ownership.claim()

    def _buried(self) -> None:
        """Others have declared this node dead: nothing it holds counts. It begins anew, under another id."""
        lost = list(self._owned.groups)
        self._context.forget()
        self._context.trust.drop()
        self._owned.clear()
        self._effect_queue.clear()
        self._jobs.clear()
        self._decider.clear()
        self._loader.clear()
        self._guard.clear()
        self._timers.clear()
        self._committer.clear()
        self._fetching = False
        if lost:
            self._context.tell(lambda each: each.leases_lost(lost))
        if self._stopping is None:
            self.begin()
        else:
            self.gone = True

    # -------------------------------------------------------------------------------------------------- pump
    def _pump(self) -> None:
        if self.gone:
            return
        for group, key in self._owned.due():
            self._ownership.wake_run(group, key)
        self._fetch()
        if self._context.trusted and not self._ownership.leaving:
            self._timers.pump()
        self._router.pump()
        self._loader.pump()
        self._owned.wake_waiting()
        for group in self._owned.lively():
            if group.state is GroupState.READY and not group.committing:
                self._decider.drain(group)
        self._committer.pump()
        self._guard.pump()
        self._effect_queue.pump()
        self._jobs.pump()
        self._park()
        self._ownership.pump()
        self._leave()

    def _park(self) -> None:
        for group, entry in self._owned.idle():
            self._loader.park(group, entry)

    # ------------------------------------------------------------------------------------------------- fetch
    def _fetch(self) -> None:
        due = self._owned.hurry or self._context.steady() >= self._fetch_at
        if self._fetching or not due or not self._context.trusted:
            return
        ready = {n: g for n, g in self._owned.groups.items() if g.state is not GroupState.LOADING}
        self._owned.hurry = False
        self._owned.fetches += 1
        self._fetching = True
        number = self._owned.fetches
        known = frozenset().union(self._jobs.asked_here, *(group.known for group in ready.values()))
        launching = frozenset(
            entry.key for group in ready.values() for entry in group.entries.values() if entry.launching
        )
        ask = FetchMail(
            node=self._context.id,
            groups=frozenset(ready),
            known=known,
            launching=launching,
            awake=self._owned.awake,
        )
        self._context.ask(ask, lambda mail: self._fetched(number, ready, mail), self._unfetched)

    def _fetched(self, number: int, groups: dict[int, Group], mail: Mail) -> None:
        self._fetching = False
        self._router.take(mail, groups)
        found = bool(mail.messages or mail.admitted)
        if len(mail.messages) >= MOST_MAIL or len(mail.admitted) >= MOST_MAIL:
            self._owned.hurry = True
        else:
            self._loader.fetched(number)
        settings = self._context.settings
        self._fetch_pause = settings.fetch_soon if found else min(self._fetch_pause * 2, settings.fetch_late)
        self._fetch_at = self._context.steady() + self._fetch_pause / 1_000

    def _unfetched(self, error: Exception) -> None:
        self._fetching = False
        self._owned.hurry = False
        self._context.tell(lambda each: each.store_failed(error, 1))
        self._fetch_at = self._context.steady() + self._fetch_pause / 1_000

    # ------------------------------------------------------------------------------------------------- leave
    def _leave(self) -> None:
        """The last thing: when all groups are handed over, and the work here has ended or had its time."""
        if self._stopping is None or self._left:
            return
        late = self._context.steady() >= self._stopping
        if not late and (self._owned.groups or self._jobs.unfinished):
            return
        self._left = True
        self._jobs.abandon_all()
        self._say_goodbye(self._stopping + self._context.settings.trust / 1_000)

    def _say_goodbye(self, until: float, tries: int = 0) -> None:
        """Who is not heard goes all the same, after a while: the others bury it."""

        def over(_answer: object) -> None:
            self.gone = True

        def otherwise(error: Exception) -> None:
            if not isinstance(error, Unavailable) or self._context.steady() >= until:
                self.gone = True
            else:
                pause = self._context.back_off(tries)
                self._context.after(pause, lambda: self._say_goodbye(until, tries + 1))

        self._context.ask(Leave(node=self._context.id), over, otherwise)
