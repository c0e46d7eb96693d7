"""Several processes on one SQLite file: nobody writes past a take-over, and nothing is lost."""

import asyncio
from pathlib import Path

import pytest
from tests.ports.sqlite_crowd import Written, crowd
from tests.ports.sqlite_race import race

from stretto.ports.rows import NodeId
from stretto.store.sqlite import open_sqlite

WRITERS = 16


def check_races(path: Path, rounds: int) -> tuple[int, int]:
    found = race(path, rounds)
    assert all(each.seen is not each.fenced for each in found)
    assert all(each.late for each in found)
    won = sum(not each.fenced for each in found)
    return won, len(found) - won


def check_crowd(path: Path, seconds: float) -> list[Written]:
    found = crowd(path, WRITERS, seconds)
    ids = sorted(each for writer in found for each in writer.ids)
    assert len(set(ids)) == len(ids)

    async def stored() -> list[int]:
        store = await open_sqlite(path)
        mail = await store.fetch(NodeId("reader"), [1], most=10_000_000)
        await store.close()
        return [each.id for each in mail.messages]

    assert asyncio.run(stored()) == ids
    return found


def report(found: list[Written], seconds: float) -> str:
    total = sum(len(each.ids) for each in found)
    longest = max(each.longest for each in found)
    least, most = (choose(len(each.ids) for each in found) for choose in (min, max))
    return (
        f"{WRITERS} processes, {seconds:.0f} s: {total / seconds:,.0f} writes/s, {least} to {most} each, "
        f"longest wait {longest * 1_000:,.0f} ms"
    )


def test_nobody_writes_past_a_take_over(tmp_path: Path) -> None:
    assert sum(check_races(tmp_path / "stretto.db", 100)) == 100


def test_many_processes_write_at_once(tmp_path: Path) -> None:
    found = check_crowd(tmp_path / "stretto.db", 2)
    assert all(each.ids for each in found), report(found, 2)


@pytest.mark.prove
@pytest.mark.timeout(0)
def test_a_thousand_take_overs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    won, lost = check_races(tmp_path / "stretto.db", 1_000)
    with capsys.disabled():
        print(f"\n1,000 take-overs: the owner was first {won} times, the heir {lost}")  # noqa: T201 - who runs a proof wants to know
    assert won
    assert lost


@pytest.mark.prove
@pytest.mark.timeout(0)
def test_many_processes_write_for_a_minute(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = check_crowd(tmp_path / "stretto.db", 60)
    with capsys.disabled():
        print(f"\n{report(found, 60)}")  # noqa: T201 - who runs a proof wants to know
    assert max(each.longest for each in found) < 20
    assert all(each.ids for each in found)
