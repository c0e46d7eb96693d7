"""The group commit: what a node decided for many runs, in one transaction."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from stretto.engine.permits import PermitUse, TagRoom
from stretto.engine.records import AttemptKey, Record, RunKey
from stretto.model.event import ChangeEvent
from stretto.model.workflow import Criticality
from stretto.ports.failures import NoPermits
from stretto.ports.messages import AnyBody, Letter, Outcome
from stretto.ports.rows import Lease, NodeId, RunSummary
from stretto.ports.signals import SignalWait
from stretto.ports.work import Work


class PermitAsk(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt stands in line for all of these tags at once; a limit counts if the tag has none itself.

    Who asks again keeps its place, and what was granted. An attempt that has `taken` its permits holds them
    with the commit, or the commit is refused.
    """

    attempt: AttemptKey
    limits: Mapping[str, int | None]
    criticality: Criticality | None = None
    since: int
    rates: Mapping[str, str] = {}  # of its tags; the newest that anybody brings along counts
    taken: bool = False


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """One decision, with everything that it touched: it is stored whole or not at all, and never split.

    root       The run whose flow decided. None: a message was dealt with that concerns no run here, and
               there are no records.
    launch     The root is ADMITTED and begins: the row must be so, and becomes LIVE or ENDED. Without it, a
               decision that has records needs a root that is LIVE.
    records    Runs (the root, iterations inside it), attempts and loops, made or changed; rows are made if
               missing. A run with a terminal status is ENDED, with the mark STANDING if it FAILED; any other
               is LIVE. An iteration that is ENDED is not written again.
    runs_on    Which node of ours does the work of an attempt from now on, where that is news; other attempts
               among the records keep what they have.
    due_at     When the root must be looked at without a message. 0: it has work under way that an owner must
               recover. None: only a message wakes it. Stored with the root's row, also if that is unchanged.
    keeps_due  The row says the right `due_at` already: this one is not looked at, and a root that is not
               among the records is not written.
    """

    root: RunKey | None = None
    launch: bool = False
    records: tuple[Record, ...] = ()
    due_at: int | None = None
    keeps_due: bool = False
    runs_on: Mapping[AttemptKey, NodeId | None] = {}
    summaries: Mapping[RunKey, RunSummary] = {}  # of runs among the records, where they are news

    consumed: tuple[int, ...] = ()  # messages whose effect this is: deleted, and all of them must be there
    answered: Mapping[int, Outcome] = {}  # actions that were applied or refused: kept for their caller
    continued: Mapping[int, AnyBody] = {}  # messages that are not done yet: the body says how far they are
    sent: tuple[Letter, ...] = ()

    permits: tuple[PermitAsk, ...] = ()
    uses: Mapping[str, PermitUse] = {}  # what it does with the permits of tags, with those that it returns
    waits: tuple[SignalWait, ...] = ()
    matched: tuple[tuple[AttemptKey, int], ...] = ()  # waits that are over: attempt, dependency
    work: tuple[Work, ...] = ()  # for pools; a row that is there for the attempt is replaced
    released: tuple[AttemptKey, ...] = ()  # ended: whatever they had of permits, waits and work goes
    returned: tuple[AttemptKey, ...] = ()  # ended: their permits go, and they have nothing else
    events: tuple[ChangeEvent, ...] = ()  # for the change log


class GroupPart(msgspec.Struct, frozen=True, kw_only=True):
    """The decisions of one group, in the order in which they were made.

    Their events become one row of the change log, `seq`, which is one above the group's last: the owner
    counts, because nobody else writes there. Without events there is no row, and the number is not used.
    """

    lease: Lease
    decisions: tuple[Decided, ...]
    seq: int = 0


class Committed(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of all groups but the fenced ones are stored, at this time of the database."""

    now: int
    fenced: frozenset[int] = frozenset()
    left: Mapping[str, int | None] = {}  # permits of the tags that were taken; None: there is no limit


def taken_tags(parts: Iterable[GroupPart]) -> dict[str, PermitUse]:
    """The tags that decisions took, by name, with what all of them do with it, one after the other."""
    found: dict[str, PermitUse] = {}
    for part in parts:
        for decided in part.decisions:
            for tag, use in decided.uses.items():
                found[tag] = found[tag].then(use) if tag in found else use
    return {tag: found[tag] for tag in sorted(found) if found[tag].starts}


def rooms_after(parts: Iterable[GroupPart], rooms: Mapping[str, TagRoom]) -> dict[str, TagRoom]:
    """How the tags that were taken stand after all decisions, one after the other. NoPermits: those that find
    no room are named.
    """
    after = dict(rooms)
    refused: dict[RunKey, int] = {}
    tags: set[str] = set()
    for part in parts:
        for decided in part.decisions:
            uses = {tag: use for tag, use in decided.uses.items() if tag in after}
            lacking = {tag for tag, use in uses.items() if use.starts and not after[tag].fits(use)}
            if lacking and decided.root is not None:
                refused[decided.root] = part.lease.group
                tags |= lacking
            else:
                after |= {tag: after[tag].after(use) for tag, use in uses.items()}
    if refused:
        raise NoPermits(refused, tags, refused.values())
    return after


class Commits(Protocol):
    """Writes for owned groups. One commit is in flight per group; the caller sees to it."""

    async def commit(self, node: NodeId, parts: Sequence[GroupPart]) -> Committed:
        """T5. First the leases: the part of a group whose lease is not current is left out, and named in the
        answer; its flows are to be dropped. The leases of the others can not change before this has ended.

        Then everything of the others, or nothing. Stale: a consumed, answered or continued message is gone, a
        root is not in the phase that its decision needs, an iteration has ended before, or a seq is taken.
        NoPermits: a decision took permits that are not left, counted after the decisions before it.
        Poison: a value can not be stored. OutcomeUnknown: claim again. A group comes once in `parts`.

        A store may renew the beat of `node` in the same transaction. Effects only after this has returned.
        """
        ...
