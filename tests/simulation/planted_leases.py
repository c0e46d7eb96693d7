"""Planted bugs of leases, fences and the work of nodes: see `planted`."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import msgspec
from tests.simulation.plant import Planted, replaced

from stretto.engine import effects as todo
from stretto.engine.events import ResultState
from stretto.engine.machine import report
from stretto.node import launches, timers
from stretto.node.asks import Verb
from stretto.node.committer import Committer
from stretto.node.jobs import Jobs
from stretto.node.launches import Launches
from stretto.node.ownership import Ownership
from stretto.node.timers import TimeTriggers
from stretto.ports.fence import Trust
from stretto.ports.groups import Heard, NodeState
from stretto.ports.rows import Lease
from stretto.store.memory.leases import MemoryGroups


def dead_node_beats() -> AbstractContextManager[None]:
    """A node that was declared dead lives again with its next beat."""

    def make(_beat: Any) -> Any:
        async def beat(self: Any, node: Any) -> Heard | None:
            with self._db.transaction() as now:
                row = self._db.nodes.get(node)
                if row is None:
                    return None
                alive = msgspec.structs.replace(row, beats=row.beats + 1, state=NodeState.ALIVE)
                self._db.nodes.put(node, alive)
                return Heard(now=now, nodes=self._nodes())

        return beat

    return replaced(MemoryGroups, "beat", make)


def owned_group_claimed() -> AbstractContextManager[None]:
    """A claim takes groups whether somebody owns them or not."""

    def make(_claim: Any) -> Any:
        async def claim(self: Any, node: Any, most: int) -> list[Lease]:
            with self._db.transaction():
                others = [each for each in self._groups() if each.owner != node]
                return [self._take(node, group) for group in others[:most]]

        return claim

    return replaced(MemoryGroups, "claim", make)


def burial_keeps_generation() -> AbstractContextManager[None]:
    """A burial frees groups, and leaves their generation as it is."""

    def make(_free: Any) -> Any:
        def free(self: Any, group: Any, falls: int, suspicion: Any) -> None:
            freed = msgspec.structs.replace(group, owner=None, falls=falls, suspicion=suspicion)
            self._db.groups.put(group.group, freed)

        return free

    return replaced(MemoryGroups, "_free", make)


def trust_never_lapses() -> AbstractContextManager[None]:
    """A node that has joined trusts its leases until it hears that it was buried."""
    return replaced(Trust, "holds", lambda _before: property(lambda self: self.until > 0))


def termination_not_repeated() -> AbstractContextManager[None]:
    """Who takes over a run looks at work outside that was asked to end, and does not ask it again."""
    return replaced(
        launches,
        "_again",
        lambda _before: lambda record, launch: todo.LookAtWork(attempt=record.key, launch=launch),
    )


def functions_ignored() -> AbstractContextManager[None]:
    """The owner of a run does its work, whether its process knows the functions or not."""
    return replaced(Launches, "_node_for", lambda _before: lambda self, _attempt, _functions: self._node.id)


def stubborn_work_let_go() -> AbstractContextManager[None]:
    """Work that takes its time to end is taken to have ended."""

    def make(answered: Any) -> Any:
        def heard(self: Any, job: Any, event: Any) -> None:
            if job.calling is Verb.TERMINATE and not event.state.is_terminal:
                event = msgspec.structs.replace(event, state=ResultState.STOPPED)
            answered(self, job, event)

        return heard

    return replaced(Jobs, "_answered", make)


@contextmanager
def timers_not_swept() -> Iterator[None]:
    """Neither a sweep nor a beat leads to a look at time triggers."""

    def make(sweep: Any) -> Any:
        def swept(self: Any, groups: Any) -> None:
            before = self._owned.timers_changed
            sweep(self, groups)
            self._owned.timers_changed = before

        return swept

    deaf = replaced(TimeTriggers, "heard", lambda _before: lambda _self, _next_fire_at: None)
    with replaced(Ownership, "_sweep", make), deaf:
        yield


def late_moments_left() -> AbstractContextManager[None]:
    """Only the owner of a group fires its time triggers, however late they are."""
    return replaced(timers, "LATE", lambda _before: 1 << 40)


def fenced_effects_carried_out() -> AbstractContextManager[None]:
    """Effects are carried out although the commit was fenced."""

    def make(committed: Any) -> Any:
        def done(self: Any, batch: Any, answer: Any) -> None:
            for group, draft in batch.drafts:
                if group.number in answer.fenced and draft.entry is not None:
                    for call in draft.after_commit:
                        call()
            committed(self, batch, answer)

        return done

    return replaced(Committer, "_committed", make)


def lost_launch_repeated() -> AbstractContextManager[None]:
    """Work that another node has lost is launched again under the same number."""
    return replaced(report, "_next_launch", lambda _before: lambda flow, _lost: flow.tree.generation)


LEASES_PLANTS: Mapping[str, Planted] = {
    "lost_launch_repeated": Planted(lost_launch_repeated, 54, ("I5:",)),
    "late_moments_left": Planted(late_moments_left, 12, ("I12:",)),
    "fenced_effects_carried_out": Planted(fenced_effects_carried_out, 33, ("I3:",)),
    "dead_node_beats": Planted(dead_node_beats, 4, ("I1:",)),
    "owned_group_claimed": Planted(owned_group_claimed, 0, ("I1:",)),
    "burial_keeps_generation": Planted(burial_keeps_generation, 26, ("I1:",)),
    "trust_never_lapses": Planted(
        trust_never_lapses,
        6,
        (
            "I19:",
            "I5:",
        ),
    ),
    "termination_not_repeated": Planted(termination_not_repeated, 233, ("I8:",)),
    "functions_ignored": Planted(functions_ignored, 11, ("does not know its function",)),
    "stubborn_work_let_go": Planted(stubborn_work_let_go, 8, ("I5:",)),
    "timers_not_swept": Planted(timers_not_swept, 12, ("I12:",)),
}
