"""What goes wrong: faults and weather, as data, fixed before anything runs."""

from random import Random
from typing import Final

import msgspec

from stretto.model.words import Word


class Trouble(Word):
    """One kind of fault."""

    CRASH = "CRASH"  # the process is gone, with its memory and the work it did; another starts later
    FREEZE = "FREEZE"  # the process stands still, and wakes late, with what it believed before
    LEAVE = "LEAVE"  # the process stops gracefully; another starts later
    ARRIVE = "ARRIVE"  # one process more
    REFUSED = "REFUSED"  # a call fails before anything was done
    UNANSWERED = "UNANSWERED"  # a call is carried out, and its answer is lost
    LATE = "LATE"  # the caller hears that the outcome is unknown; the call is carried out afterwards
    TWICE = "TWICE"  # a call is carried out, and once more afterwards, because somebody has repeated it
    HELD = "HELD"  # the process is gone, and a commit on its way arrives right after its burial
    TAKEN = "TAKEN"  # groups are freed by hand while their owner lives, and has a commit of them on its way
    STALE = "STALE"  # a group commit is told that rows have moved on, and nothing is stored
    ODD = "ODD"  # a call fails as no store should fail: a bug, or a driver that nobody knows
    ECHO = "ECHO"  # a letter that was dealt with comes once more
    OUTAGE = "OUTAGE"  # for some time the database answers nobody
    CLOCK = "CLOCK"  # the database's clock is set forward or back


IN_CALLS: Final = (
    *(Trouble.REFUSED, Trouble.UNANSWERED, Trouble.LATE, Trouble.TWICE, Trouble.CRASH, Trouble.STALE),
    *(Trouble.ODD, Trouble.ODD),
)
# What callers repeat if they do not know how it ended. A group commit is not: its groups are claimed again.
REPEATED: Final = frozenset(
    {
        *("transact", "report", "send", "announce", "grant", "match_trigger", "postpone"),
        *("claim", "claim_again", "give_up", "bury", "beat", "start_leaving", "leave"),
    }
)
IN_TIME: Final = (
    *(Trouble.CRASH, Trouble.CRASH, Trouble.FREEZE, Trouble.FREEZE, Trouble.LEAVE, Trouble.ARRIVE),
    *(Trouble.OUTAGE, Trouble.CLOCK, Trouble.ECHO, Trouble.ECHO),
)
CALLS: Final = (
    *("commit", "commit", "commit", "commit", "commit", "transact", "transact", "grant", "report"),
    *("claim_again", "give_up", "load_groups", "load_flows", "load_flows", "fetch", "fetch", "beat"),
    *("announce", "claim", "bury", "join", "leave", "match_trigger", "send", "look_at_queue", "runs"),
    *("signals", "note_suspects", "postpone", "load_flows", "LoadRuns", "Carry", "Carry", "CallRuntime"),
    *("CallRuntime", "Evaluate", "Deal", "Deal"),
)  # of the store; and, with capital letters, what a node asks of its own process


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault of a node: at a time, or in its n-th call of a kind since the beginning."""

    kind: Trouble
    slot: int = 0  # whose process; modulo the number of slots
    at: int = 0
    call: str | None = None
    nth: int = 0
    after: bool = False  # a crash: behind the call, not before it
    lasts: int = 0  # milliseconds; of CLOCK: by how much


class Weather(msgspec.Struct, frozen=True, kw_only=True):
    """How the network is while there is trouble. Afterwards it is `CALM`."""

    latency: int = 2  # milliseconds that a call takes, usually
    slow: float = 0.0  # share of the calls that take far longer
    slowest: int = 1_000
    refused: float = 0.0  # share of the calls that fail, in each of these ways
    unanswered: float = 0.0
    late: float = 0.0
    twice: float = 0.0
    hints_lost: float = 0.0
    hints_doubled: float = 0.0


class Poison(msgspec.Struct, frozen=True, kw_only=True):
    """What can not be stored: attempts of a step, once they have succeeded, or as long as they go on."""

    step_id: str
    early: bool = False
    signals: bool = False  # not the step, but what is told to those who wait for a signal, for a while

    def concerns(self, step_id: str) -> bool:
        return step_id == self.step_id and not self.signals


CALM: Final = Weather()


def make_weather(dice: Random) -> Weather:
    """Fine in a third of all scenarios."""
    if dice.random() < 0.35:
        return Weather(latency=dice.choice([0, 1, 5]))
    rough = dice.random() < 0.3
    return Weather(
        latency=dice.choice([0, 1, 5, 20]),
        slow=dice.choice([0.0, 0.02, 0.1]),
        slowest=dice.choice([500, 3_000, 12_000]),
        refused=dice.choice([0.0, 0.01, 0.05]) if rough else 0.0,
        unanswered=dice.choice([0.0, 0.01, 0.05]) if rough else 0.0,
        late=dice.choice([0.0, 0.01, 0.03]) if rough else 0.0,
        twice=dice.choice([0.0, 0.05, 0.3]),
        hints_lost=dice.choice([0.0, 0.3, 1.0]),
        hints_doubled=dice.choice([0.0, 0.2]),
    )


def make_poison(dice: Random, step_ids: list[str]) -> Poison | None:
    """Seldom, a value that the database does not take."""
    if not step_ids or dice.random() >= 0.07:
        return None
    early = dice.random() < 0.3
    step_id = dice.choice(step_ids)
    undoes = step_id.endswith("u")  # nothing could end a run whose undoing can not begin
    return Poison(step_id=step_id, early=early and not undoes, signals=dice.random() < 0.15)


def make_faults(dice: Random, slots: int, horizon: int, *, restless: bool) -> tuple[Fault, ...]:
    """None in a fourth of all scenarios, a few in the others; where it is restless, nodes come and go."""
    mood = dice.random()
    if mood < 0.25:
        return ()
    if mood < 0.33:  # nodes whose own code, or store, has a bug
        return tuple(_odd(dice, slots) for _ in range(8))
    if mood > 0.98:  # one place where nobody lives for long
        return tuple(Fault(kind=Trouble.CRASH, at=at, lasts=100) for at in range(1_500, 16_000, 3_500))
    if restless and mood > 0.45:
        coming = Fault(kind=Trouble.ARRIVE, at=dice.randrange(3_000))
        lost = [Fault(kind=Trouble.REFUSED, slot=slot, call="report", nth=1) for slot in range(slots + 1)]
        moving = [_restless(dice, slots, at) for at in range(2_000, horizon, 2_000)]
        return (coming, *moving, *(lost if dice.random() < 0.5 else ()))
    return tuple(_fault(dice, slots, horizon) for _ in range(1 + min(int(dice.expovariate(0.45)), 6)))


def _odd(dice: Random, slots: int) -> Fault:
    slot, nth = dice.randrange(slots), 1 + min(int(dice.expovariate(0.5)), 8)
    return Fault(kind=Trouble.ODD, slot=slot, call=dice.choice(CALLS), nth=nth)


def _restless(dice: Random, slots: int, at: int) -> Fault:
    kind = dice.choice([Trouble.LEAVE, Trouble.LEAVE, Trouble.CRASH, Trouble.FREEZE])
    lasts = dice.choice([100, 12_000]) if kind is Trouble.FREEZE else 100
    return Fault(kind=kind, slot=dice.randrange(slots + 1), at=at + dice.randrange(1_000), lasts=lasts)


def _fault(dice: Random, slots: int, horizon: int) -> Fault:
    slot = dice.randrange(slots)
    lasts = dice.choice([100, 2_000, 7_000, 15_000, 25_000])
    if dice.random() < 0.55:
        return Fault(
            kind=dice.choice(IN_CALLS),
            slot=slot,
            call=dice.choice(CALLS),
            nth=1 + min(int(dice.expovariate(0.3)), 20),
            after=dice.random() < 0.5,
            lasts=lasts,
        )
    kind = dice.choice(IN_TIME)
    if kind is Trouble.CLOCK:
        lasts = dice.choice([-60_000, -5_000, -500, 500, 5_000, 60_000])
    return Fault(kind=kind, slot=slot, at=int(dice.random() ** 1.5 * horizon), lasts=lasts)
