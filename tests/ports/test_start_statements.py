"""What starts cost a database that come together: they share their statements."""

import asyncio
from pathlib import Path

import pytest
from tests.ports.statement_counts import CountedSqlite

from stretto.actions.caller import Caller
from stretto.actions.publish import publish
from stretto.actions.start import StartBatcher
from stretto.definition import parse
from stretto.model.initiator import ManualInitiator
from stretto.model.request import StartRequest
from stretto.model.user import User
from stretto.ports.hints import SILENT
from stretto.store.opening import open_store

ANN, BOB = (Caller(user=User(name=name)) for name in ("ann", "bob"))
FLOW = (
    "{properties: {owner: ann, run_strategy: {rule: PARALLEL, workflow_concurrency: 1000}}, "
    "workflow: {id: w, steps: [{step: {id: s, type: NoOp}}]}}"
)
STARTS = 48
MOST = 20  # statements, however many starts come together: about half of them are those of one start
MANUAL = StartRequest(initiator=ManualInitiator())


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CountedSqlite:
    return CountedSqlite(tmp_path / "starts.db", monkeypatch)


def test_starts_that_come_together_share_their_statements(database: CountedSqlite) -> None:
    """Users and versions do not matter. Each run is a row of one insert."""

    async def work() -> None:
        store = await open_store(database.url, create=True)
        try:
            for _ in range(2):
                await publish(store, ANN, parse(FLOW))
            batcher = StartBatcher(store, SILENT)
            await batcher.start(ANN, "w", "latest", MANUAL)
            before = database.statements()
            starts = [
                batcher.start((ANN, BOB)[number % 2], "w", ("latest", "1")[number % 3 == 0], MANUAL)
                for number in range(STARTS)
            ]
            answers = await asyncio.gather(*starts)
            spent = database.statements() - before
            numbers = sorted(each.workflow_instance_id for each in answers)
            assert numbers == list(range(2, STARTS + 2))
            assert spent <= MOST + STARTS  # SQLite inserts row by row
        finally:
            await store.close()

    asyncio.run(work())
