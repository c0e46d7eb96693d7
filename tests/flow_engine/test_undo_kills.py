"""A process that is killed while it undoes a run: the next one goes on where it was. Nothing is left
standing, and nothing that was undone is undone again.
"""

import asyncio
import subprocess
import sys
from collections import Counter
from pathlib import Path
from uuid import uuid4

import pytest
from tests.flow_engine.saga import SEATS
from tests.flow_engine.test_take_over import database
from tests.ports.postgresql_server import PostgresServer
from tests.waiting import wait_until

from stretto.model.run_config import RunPolicy
from stretto.model.status import StepStatus
from stretto.ports.paging import Cut
from stretto.ports.run_snapshot import InstancePage, NewestAttempts, RunPage
from stretto.store.opening import open_store

ROOT = Path(__file__).parents[2]
PATIENCE = 240.0  # seconds, on a machine that is busy with other things
KILLS = (SEATS + 1, SEATS + 9, SEATS + 20)  # lines in the ledger: bookings, and then what was undone


def program(url: str, ledger: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(  # noqa: S603 - our own
        [sys.executable, "-m", "tests.flow_engine.saga", url, str(ledger)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


def lines_in(ledger: Path) -> list[str]:
    return ledger.read_text().splitlines()


def wait_for(ledger: Path, lines: int, process: "subprocess.Popen[str]") -> None:
    wait_until(lambda: len(lines_in(ledger)) >= lines or process.poll() is not None, patience=PATIENCE)
    assert len(lines_in(ledger)) >= lines, "it has ended already"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_process_that_is_killed_while_it_undoes_a_run(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path}/work.db"
    if kind == "postgresql":
        server: PostgresServer = request.getfixturevalue("own_postgresql")
        url = asyncio.run(database(server, f"saga {uuid4()}"))
    ledger = tmp_path / "ledger"
    ledger.touch()
    for lines in KILLS:
        process = program(url, ledger)
        try:
            wait_for(ledger, lines, process)
        finally:
            process.kill()
            process.communicate()
    said, _ = program(url, ledger).communicate(timeout=PATIENCE)
    assert said.splitlines() == ["ready", "ended FAILED COMPENSATED"]
    undone = Counter(line for line in lines_in(ledger) if line.startswith("cancel"))
    assert undone.keys() == {f"cancel {seat}" for seat in range(SEATS)}
    assert undone.total() <= SEATS + 2 * len(KILLS)  # those that ran when the process died
    asyncio.run(check_rows(url))


async def check_rows(url: str) -> None:
    """One run undoes the child, and in it one run each iteration, in one attempt."""
    store = await open_store(url)
    try:
        runs = (await store.runs(RunPage("booking", 1, Cut()))).elements
        assert [row.record.policy for row in runs] == [RunPolicy.UNDO, RunPolicy.START_FRESH_NEW_RUN]
        (loop,) = await store.loops(runs[0].key)
        iterations = (await store.runs(InstancePage(loop.inline_id, Cut(most=SEATS + 1)))).elements
        assert [row.record.policy for row in iterations] == [RunPolicy.UNDO] * SEATS
        for row in iterations:
            attempts = await store.attempts(NewestAttempts((row.key,)))
            assert [each.record.status for each in attempts] == [StepStatus.SUCCEEDED]
            assert [each.key.number for each in attempts] == [1]
    finally:
        await store.close()
