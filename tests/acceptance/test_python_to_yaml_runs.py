"""Runs of Python workflows start, wait and go on as in process, if they were pushed as YAML."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.acceptance import portable_runs as flows
from tests.acceptance.printed import printed_on_a_server
from tests.acceptance.processes import PATIENCE
from tests.acceptance.serving import Serving
from tests.waiting import wait_until

from stretto import Engine, Flow
from stretto.client import Client

MORE_THAN_PARALLEL = 21  # which allows 20 runs by itself
BAD = ("FAILED", "STOPPED", "TIMED_OUT")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with printed_on_a_server(flows, tmp_path_factory.mktemp("runs")) as made:
        yield made


@pytest.fixture
def client(server: Serving) -> Iterator[Client]:
    with Client(server.url, user="ann") as made:
        yield made


def until_asked(client: Client, workflow: str, count: int) -> None:
    """Until so many steps ask at the same time."""

    def asked() -> bool:
        return len(client.approvals(workflow=workflow, first=100).elements) >= count

    wait_until(asked, f"that {count} steps of `{workflow}` ask")


def started(server: Serving, workflow: str) -> Any:
    path = f"/api/v3/workflows/{workflow}/versions/latest/actions/start?include=queued"
    body = {"initiator": {"type": "manual"}}
    return httpx.post(f"{server.url}{path}", json=body, headers={"user": "ann"}, timeout=PATIENCE).json()


def test_more_runs_than_maestro_allows_by_itself_go_on_at_once(client: Client) -> None:
    for _ in range(MORE_THAN_PARALLEL):
        client.start("held")
    until_asked(client, "held", MORE_THAN_PARALLEL)


def test_children_in_a_map_go_on_at_once(client: Client) -> None:
    before = len(client.approvals(workflow="held", first=100).elements)
    client.start("mapped_children")
    until_asked(client, "held", before + 3)


def test_a_strategy_that_the_workflow_names_is_kept(server: Serving, client: Client) -> None:
    first = client.start("strict")
    until_asked(client, "strict", 1)
    assert started(server, "strict")["queued"]["blocked_by"] == ["strict/1"]
    client.kill(first)
    assert client.wait(first, within=PATIENCE).status in BAD
    third = started(server, "strict")["queued"]
    with Engine("memory").sync() as engine:
        run = engine.submit(flows.strict)
        run.kill()
        run.wait(PATIENCE)
        second = engine.submit(flows.strict)
    assert second.queued is not None
    assert (third["hold"], third["blocked_by"]) == (str(second.queued.hold), [*second.queued.blocked_by])


def test_other_strategies_that_a_workflow_names_are_kept(server: Serving, client: Client) -> None:
    client.start("first_only")
    until_asked(client, "first_only", 1)
    assert started(server, "first_only")["status"] == "STOPPED"
    for _ in range(2):
        client.start("two_at_once")
    until_asked(client, "two_at_once", 2)
    assert started(server, "two_at_once")["queued"]["blocked_by"] == ["two_at_once/1", "two_at_once/2"]


CASES: list[tuple[Flow[..., Any], list[str], list[str]]] = [
    (flows.all_of_them, ["1", "2", "3", "4"], ["1", "3"]),
    (flows.in_a_block, ["2", "3", "4", "5"], ["3", "5"]),
    (flows.until_one_fails, ["2", "1"], ["1", "4"]),
]


def played_on_the_server(client: Client, flow: Flow[..., Any], ledger: Path) -> tuple[list[str], list[str]]:
    """What a run that fails has done, and what its restart did once that was mended."""
    run = client.start(flow.id, params={"ledger": str(ledger)})
    assert client.wait(run, within=PATIENCE).status == "FAILED"
    first = mended(ledger)
    assert client.wait(client.restart(run), within=PATIENCE).status == "SUCCEEDED"
    return first, ledger.read_text().split()


def played_in_process(flow: Flow[..., Any], ledger: Path) -> tuple[list[str], list[str]]:
    with Engine("memory").sync() as engine:
        run = engine.submit(flow, ledger=str(ledger))
        assert run.wait(PATIENCE).status == "FAILED"
        first = mended(ledger)
        assert run.restart().wait(PATIENCE).status == "SUCCEEDED"
        return first, ledger.read_text().split()


def mended(ledger: Path) -> list[str]:
    """What is in the ledger, which begins anew."""
    done = ledger.read_text().split()
    ledger.write_text("")
    ledger.with_name("mended").touch()
    return done


@pytest.mark.parametrize(("flow", "first", "again"), CASES, ids=[each[0].id for each in CASES])
def test_a_restart_runs_the_items_again_that_failed(
    client: Client, flow: Flow[..., Any], first: list[str], again: list[str], tmp_path: Path
) -> None:
    for each in ("server", "process"):
        (tmp_path / each).mkdir()
    pushed = played_on_the_server(client, flow, tmp_path / "server" / "ledger")
    assert pushed == played_in_process(flow, tmp_path / "process" / "ledger")
    assert pushed == (first, again)
