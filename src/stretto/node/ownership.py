"""Which groups a node has: it claims its share, gives some up for others, and sweeps up after crashes."""

from collections.abc import Callable, Sequence

from stretto.engine.records import RunKey
from stretto.node.answers import ClaimAnswer, LoadedGroup
from stretto.node.asks import Claim, ClaimAgain, GiveUp, LoadGroups, Sweep
from stretto.node.context import NodeContext
from stretto.node.crash_guard import CrashGuard
from stretto.node.effects import Effects
from stretto.node.entry import AskAround, Entry, Item
from stretto.node.group import Group, GroupState
from stretto.node.loader import Loader
from stretto.node.membership import Membership
from stretto.node.owned_groups import OwnedGroups
from stretto.ports.rows import Lease, NodeId


class Ownership:
    """Claim, load, give up."""

    def __init__(
        self,
        node: NodeContext,
        owned: OwnedGroups,
        membership: Membership,
        loader: Loader,
        effects: Effects,
        guard: CrashGuard,
        before_leaving: Callable[[Group], None],
    ) -> None:
        self._node = node
        self._owned = owned
        self._membership = membership
        self._loader = loader
        self._effects = effects
        self._guard = guard
        self._before_leaving = before_leaving
        self.leaving = False
        self._claiming = False
        self._unsure = False  # the answer to a claim was lost
        self._reclaiming: set[int] = set()
        self._going: dict[int, Group] = {}  # to be given up, once everything in them is committed
        self._alive: frozenset[NodeId] = frozenset()  # the nodes, when free groups were looked for

    def begin(self) -> None:
        """Joined: nothing is ours yet."""
        self._claiming = self._unsure = False
        self._going = {}
        self._reclaiming = set()
        settings = self._node.settings
        self._every(settings.claim_every, self._claim_now_and_then)
        self._every(settings.sweep_every, self._sweep_all)
        self._every(settings.ask_every, self._ask_around)
        self.claim()

    def _every(self, millis: int, call: Callable[[], None]) -> None:
        def again() -> None:
            call()
            self._node.after(millis, again)

        self._node.after(millis, again)

    # ------------------------------------------------------------------------------------------------- claim
    def _claim_now_and_then(self) -> None:
        """Also with a full share: a claim whose answer was lost may have been carried out late."""
        self._unsure = True
        self.claim()

    def claim(self) -> None:
        held = frozenset(self._owned.groups) | self._reclaiming
        most = 0 if self.leaving else max(0, self._membership.share - len(held))
        if self._claiming or not (most or self._unsure) or not self._node.trusted:
            return
        self._claiming = True
        self._unsure = False

        def then(answer: ClaimAnswer) -> None:
            self._claiming = False
            self._drop_ended(answer.ended)
            self.take(answer.taken)
            if answer.taken or answer.ended:  # the share may have grown meanwhile, or what is left of it
                self.claim()

        def otherwise(_error: Exception) -> None:
            self._claiming = False
            self._unsure = True  # some may be ours, and we do not know it
            self._node.after(self._node.settings.beat_every, self.claim)

        leases = tuple(group.lease for group in self._owned.groups.values())
        self._node.ask(Claim(node=self._node.id, most=most, held=held, leases=leases), then, otherwise)

    def _drop_ended(self, leases: Sequence[Lease]) -> None:
        """Somebody has freed these groups. A group without work never commits, so that nothing else says so,
        and its former owner would count it as part of its share for ever.
        """
        for lease in leases:
            group = self._owned.groups.get(lease.group)
            if group is not None and group.lease == lease and group.state is not GroupState.GOING:
                self.drop(group)

    def claim_again(self, groups: Sequence[Group]) -> None:
        """After a commit of unknown outcome: new generations, which waits until that has ended either way."""
        numbers = {group.number for group in groups}
        self._reclaiming |= numbers
        for group in groups:
            self.drop(group)

        def then(leases: list[Lease]) -> None:
            self._reclaiming -= numbers
            self.take(leases)

        def otherwise(_error: Exception) -> None:
            self._reclaiming -= numbers
            self._unsure = True
            self._node.after(self._node.settings.retry_first, self.claim)

        leases = tuple(sorted(group.lease for group in groups))
        self._node.ask(ClaimAgain(node=self._node.id, leases=leases), then, otherwise)

    def take(self, leases: Sequence[Lease]) -> None:
        """These are ours from now on; what is in them is read."""
        if leases:
            groups = [Group(lease, self._owned.stirred) for lease in leases]
            self._owned.groups.update((group.number, group) for group in groups)
            self._load(groups)
            self._node.tell(lambda each: each.leases_claimed([lease.group for lease in leases]))

    def _load(self, groups: Sequence[Group]) -> None:
        ask = LoadGroups(leases=tuple(group.lease for group in groups))

        def then(answer: Sequence[LoadedGroup]) -> None:
            held = [each for each in zip(groups, answer, strict=True) if self._owned.holds(each[0])]
            for group, loaded in held:
                self._loaded(group, loaded)
            if held:
                self._sweep([group.number for group, _ in held])

        def otherwise(error: Exception) -> None:
            self._node.tell(lambda each: each.store_failed(error, 1))
            if len(groups) > 1:  # one that can not be read does not keep the others
                for group in groups:
                    again(group)
            else:
                self._node.after(self._node.settings.retry_most, lambda: again(groups[0]))

        def again(group: Group) -> None:
            if self._owned.holds(group):
                self._load([group])

        self._node.insist(ask, then, otherwise)

    def _loaded(self, group: Group, loaded: LoadedGroup) -> None:
        if self.leaving:
            self._leave(group)
        else:
            group.state = GroupState.READY
        group.seq = loaded.seq
        self._guard.take(group, loaded.suspicion, loaded.falls)
        now = self._node.time.now()
        for key, due in loaded.live:
            if due is not None and due <= now:
                self._loader.want(group, key)
            else:
                at = group.parked[key] = None if due is None else self._node.time.steady_at(due)
                self._owned.arm(group.number, key, at)
        # Those that are ADMITTED are launched after the next fetch, with what was said about them before.
        if loaded.falls:
            self._node.after(self._node.settings.calm_after, lambda: self._calm(group))
        self._owned.hurry = True

    def _calm(self, group: Group) -> None:
        """What is accused must have had its turn: until then nobody knows whether it kills owners."""
        if not self._owned.holds(group):
            return
        if self._guard.awaits_turn(group):
            self._node.after(self._node.settings.calm_after, lambda: self._calm(group))
        else:
            self._guard.calm(group)

    # ----------------------------------------------------------------------------------------------- give up
    def heard(self) -> None:
        """The nodes have changed, maybe."""
        for group in self._owned.groups.values():
            for entry in group.entries.values():
                if entry.awaited_fetch is None and self._has_lost_work(entry):
                    self._loader.await_fetch(group, entry)
        excess = len(self._owned.groups) - self._membership.share
        if not self.leaving and excess > 0:
            self._let_go(min(excess, self._node.settings.give_up_at_once))
        self._look_for_free_ones()

    def _look_for_free_ones(self) -> None:
        """Others may have buried somebody, or given groups up, and some databases tell nobody."""
        alive = self._membership.alive
        if alive != self._alive or len(self._owned.groups) < self._membership.least:
            self._alive = alive
            self.claim()

    def _has_lost_work(self, entry: Entry) -> bool:
        """Work of nodes that are gone is looked at, after their last results were fetched."""
        gone = self._membership.is_gone
        return any(gone(node, entry.loaded_at) for node in entry.runs_on.values())

    def _let_go(self, most: int) -> None:
        ready = [group for group in self._owned.groups.values() if group.state is GroupState.READY]
        ready.sort(key=lambda group: (len(group.entries), len(group.parked), group.number))
        going = sum(group.is_leaving for group in self._owned.groups.values())
        for group in ready[: max(0, most - going)]:
            self._let(group)

    def leave_all(self) -> None:
        self.leaving = True
        for group in self._owned.groups.values():
            if group.state is GroupState.READY:
                self._let(group)

    def _let(self, group: Group) -> None:
        self._before_leaving(group)
        self._leave(group)

    def _leave(self, group: Group) -> None:
        group.state = GroupState.LEAVING
        self._going[group.number] = group

    def pump(self) -> None:
        """Give up groups that are to go and in which everything is committed."""
        if not self._going:
            return
        going = [
            group
            for group in self._going.values()
            if self._owned.holds(group) and group.state is GroupState.LEAVING and group.is_quiet
        ]
        if not going or not self._node.trusted:
            return
        for group in going:
            group.state = GroupState.GOING
        ask = GiveUp(node=self._node.id, leases=tuple(group.lease for group in going))

        def over(_answer: object) -> None:
            for group in going:
                if self._owned.holds(group):
                    self.drop(group)
                    self._effects.jobs.given_up(group)

        self._node.insist(ask, over, over)

    def drop(self, group: Group) -> None:
        """A group is not ours any more."""
        del self._owned.groups[group.number]
        for entry in group.entries.values():
            self._owned.forget(entry)
        self._going.pop(group.number, None)
        self._node.tell(lambda each: each.leases_lost([group.number]))

    # ------------------------------------------------------------------------------------------------ sweeps
    def _sweep_all(self) -> None:
        if self._owned.groups and self._node.trusted:
            self._sweep(tuple(self._owned.groups))

    def _sweep(self, groups: Sequence[int]) -> None:
        self._effects.queue.look(Sweep(groups=frozenset(groups), now=self._node.time.now()))
        self._owned.timers_changed = True

    def _ask_around(self) -> None:
        """Is the work that other nodes do for us still there?"""
        me = self._node.id
        for group in self._owned.groups.values():
            for entry in group.entries.values():
                if entry.flow is not None and any(node != me for node in entry.runs_on.values()):
                    group.put(entry, Item(AskAround()))

    def wake_run(self, group: Group, key: RunKey) -> None:
        """A time has come: that of a parked run, or of a timer of one in memory."""
        entry = group.entries.get(key)
        if entry is None:
            at = group.parked.get(key)
            if at is not None and at <= self._node.steady():
                self._loader.want(group, key)
            return
        if entry.flow is not None:
            if entry.ring(self._node.steady()):
                group.wake(entry)
            self._owned.arm(group.number, key, entry.next_ring)
