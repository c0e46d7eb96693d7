"""Lists of workflows: what their rows carry, how they are found, and that no row costs a query of its own."""

import asyncio
from pathlib import Path

import pytest
from tests.ports.statement_counts import CountedSqlite
from tests.unit.actions.test_lists import ALL, ANY, ids, with_runs
from tests.unit.actions.world import ANN, NOOP, flow

from stretto.actions.deactivate import deactivate
from stretto.actions.publish import publish
from stretto.actions.reading.all_workflows import Extra, hour_of, list_workflows, words_of
from stretto.definition import parse_all
from stretto.model.errors import InvalidRequest
from stretto.model.request import PageRequest
from stretto.model.status import RunStatus
from stretto.ports.workflows import WorkflowFilter
from stretto.store.opening import open_store

MORE = (
    "  name: Each hour\n  criticality: HIGH\n"
    "  time_triggers: [{type: CRON, cron: '0 * * * *'}, {type: CRON, cron: '5 * * * *'}]\n"
    "  signal_triggers: [{definitions: {s: {}}}]\n"
)


def test_rows_carry_what_the_definition_says() -> None:
    world = with_runs()
    world.publish(flow(NOOP, name="cron", more=MORE))
    world.do(deactivate(world.store, ANN, "good"))
    lines = {line.workflow_id: line for line in world.do(list_workflows(world.store, ANN, ALL, ANY)).elements}
    cron = lines["cron"]
    assert (cron.name, cron.criticality, cron.active) == ("Each hour", "HIGH", True)
    assert (cron.triggers.time, cron.triggers.signal) == (2, 1)
    good = lines["good"]
    assert (good.active, good.active_version_id, good.latest_version_id) == (False, None, 1)
    assert (good.counts, good.p50, good.recent) == (None, None, None)


def test_counts_and_the_middle_are_of_runs() -> None:
    world = with_runs()
    world.publish(flow("{id: w, type: Wait}", name="waits"))
    world.start("waits")
    world.settle()
    since = hour_of(world.do(world.store.now()))
    extras = [Extra.COUNTS, Extra.P50, Extra.RECENT]
    page = world.do(list_workflows(world.store, ANN, ALL, ANY, include=extras, since=since))
    lines = {line.workflow_id: line for line in page.elements}
    assert {name: line.counts for name, line in lines.items()} == {
        "bad": {"F": 2},
        "good": {"s": 2},
        "waits": {"r": 1},
    }
    assert (lines["bad"].p50, lines["good"].p50, lines["waits"].p50) == (None, 0, None)
    later = world.do(list_workflows(world.store, ANN, ALL, ANY, include=extras, since=since + 3_600_000))
    assert [line.counts for line in later.elements] == [{}, {}, {"r": 1}]


def test_workflows_are_found_by_words_and_status() -> None:
    world = with_runs()

    def found(**wanted: object) -> list[str]:
        return ids(world.do(list_workflows(world.store, ANN, WorkflowFilter(**wanted), ANY)))  # type: ignore[arg-type]

    assert found(words=words_of("  O  gO ")) == ["good"]
    assert found(has=RunStatus.FAILED) == ["bad"]
    assert found(active=False) == []
    assert words_of(None) == ()
    with pytest.raises(InvalidRequest, match="6 words"):
        words_of("a b c d e f")


def test_no_row_costs_a_query_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = CountedSqlite(tmp_path / "counted.db", monkeypatch)

    async def statements_for(*sizes: int) -> list[int]:
        store = await open_store(counted.url)
        for number in range(max(sizes)):
            (definition,) = parse_all(flow(NOOP, name=f"w{number:02}"))
            await publish(store, ANN, definition)
        found = []
        for size in sizes:
            before = counted.statements()
            request = PageRequest(first=size)
            page = await list_workflows(store, ANN, ALL, request, include=list(Extra))
            assert len(page.elements) == size
            found.append(counted.statements() - before)
        await store.close()
        return found

    few, many, again, more = asyncio.run(statements_for(2, 16, 16, 48))
    assert few == many == 6  # the page, its versions, runs, outcomes, those that have not ended, fires
    assert again == many - 1  # what versions say is remembered
    assert more == many + 2  # recent runs are read for sixteen workflows at once
