"""Rates: at most so many starts of a step in any time, over all processes."""

import asyncio
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.flow_engine.flows import CALLS, finish

from stretto.actions.caller import Caller
from stretto.actions.reading.why import why_run
from stretto.definition import parse
from stretto.flow import TraceError
from stretto.flow.engine import Engine
from stretto.flow.steps import step
from stretto.flow.workflow import workflow
from stretto.model.user import User
from stretto.store.sql import commits, permits
from stretto.store.sql.codec import GRANTS
from stretto.store.sql.granting import grant
from stretto.store.sql.permit_room import take_permits
from stretto.store.sql.statement import Statement
from stretto.testing.harness import Harness

SECOND = 1_000


@step(rate="2/minute")
def call(n: int) -> int:
    CALLS.append(n)
    return n


@workflow
def calls(numbers: list[int]) -> list[int]:
    return call.map(numbers)


@step(rate="4/second")
async def quick(n: int) -> int:
    CALLS.append(n)
    return n


@workflow
def quickly(n: int) -> int:
    return quick(n)


def test_starts_follow_the_rate_and_nobody_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two start at once, and two more whenever a minute has passed; the line is looked at when a slot is
    free, when somebody comes and when somebody ends, and by the usual sweeps.
    """
    looks: list[int] = []
    with Harness() as harness:
        store = harness.store
        looked = store.grant

        async def counted(*given: Any) -> Any:
            looks.append(harness.now)
            return await looked(*given)

        monkeypatch.setattr(store, "grant", counted)
        run = harness.start(calls, numbers=[1, 2, 3, 4, 5])
        harness.advance(seconds=59)
        assert len(CALLS) == 2
        harness.advance(seconds=2)
        assert len(CALLS) == 4
        harness.advance(seconds=58)
        assert len(CALLS) == 4
        harness.advance(seconds=2)
        assert (run.status, run.result) == ("SUCCEEDED", [1, 2, 3, 4, 5])
    assert len(looks) < 40  # 8 of them sweeps; polling each second would be 120


@workflow
def one(n: int) -> int:
    return call(n)


def test_a_run_says_what_it_waits_for_and_until_when() -> None:
    ann = Caller(user=User(name="ann"))
    with Harness() as harness:
        started = harness.now
        for n in range(3):
            harness.start(one, n=n)
        found = harness.ask(why_run(harness.store, ann, "one", 3))
        ((blocker,), (waiting,)) = found.blockers, found.steps
        assert str(waiting).endswith("it waits for the rate 2/minute of step call")
        at = datetime.fromtimestamp(started / 1_000 + 60, UTC).isoformat(timespec="seconds")
        assert blocker.detail == f"it waits for the rate 2/minute of step call, next slot at {at}"
        assert blocker.moves_when == f"the rate allows the next start, at {at}"
        assert blocker.blocked_by is not None
        assert started < (blocker.blocked_by.next_slot or 0) - 60_000 < started + 1_000


def test_the_rate_is_printed_and_read_again() -> None:
    text = calls.to_yaml()
    assert "rate: 2/minute" in text
    assert parse(text).workflow == calls.definition.workflow
    with pytest.raises(TraceError, match=r"`rate` is '2/week'; write a rate such as `10/minute`"):
        step(rate="2/week")(call.fn)


@pytest.fixture(params=["sqlite", "postgresql"])
def shared(request: pytest.FixtureRequest) -> str:
    """A database that several engines share."""
    fixture = {"sqlite": "url", "postgresql": "postgresql_url"}[request.param]
    return str(request.getfixturevalue(fixture))


@pytest.mark.parametrize("through_yaml", [False, True])
def test_three_nodes_start_no_more_than_the_rate_says(
    shared: str, monkeypatch: pytest.MonkeyPatch, through_yaml: bool
) -> None:
    """All starts that were ever recorded, on the database's clock: no second has more than four. Some are
    taken by a commit, others are granted to who stands in line.
    """
    starts: Counter[int] = Counter()
    before: set[int] | None = None  # what earlier tests have left in a database that all share

    def noting(work: Any) -> Any:
        async def noted(tx: Any, *given: Any) -> Any:
            # Before the work: what this transaction grants counts only if it commits.
            nonlocal before
            rows = await tx.all(Statement("SELECT grants FROM tag_rate WHERE grants IS NOT NULL"))
            found = [Counter(GRANTS.read(document)) for (document,) in rows]
            before = {at for each in found for at in each} if before is None else before
            for at, count in (item for each in found for item in each.items() if item[0] not in before):
                starts[at] = max(starts[at], count)
            return await work(tx, *given)

        return noted

    monkeypatch.setattr(permits, "grant", noting(grant))
    monkeypatch.setattr(commits, "take_permits", noting(take_permits))
    given = parse(quickly.to_yaml()) if through_yaml else quickly

    async def work() -> None:
        async with Engine(shared) as one, Engine(shared) as two, Engine(shared) as three:
            engines = (one, two, three)
            for engine in engines:
                engine.register(quickly)
            runs = [await engines[n % 3].submit(given, n=n) for n in range(14)]
            await asyncio.gather(*(run.result(60) for run in runs))
            last = await one.submit(given, n=14)  # whose transaction reads what the others have left
            await last.result(60)

    finish(work(), 90)
    assert sorted(CALLS) == list(range(15))
    assert starts.total() in {14, 15}
    for first in starts:
        assert sum(count for at, count in starts.items() if first <= at < first + SECOND) <= 4
