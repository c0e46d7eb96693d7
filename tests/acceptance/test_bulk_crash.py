"""A server that is killed in the middle of a bulk job: the next one goes on, and does nothing twice."""

from pathlib import Path
from typing import Any

import httpx
from tests.acceptance.processes import PATIENCE, until
from tests.acceptance.serving import Serving

RUNS = 100  # some of them wait still when the server is killed, however busy the machine is
CALM = ("--set", "node.calm_after=100ms")
WORKFLOW = """
workflow:
  id: w
  owner: ann
  run_strategy: parallel
  jobs: [{job: {id: a, type: NoOp}}]
"""
REQUEST = {
    "action": "RESTART",
    "restart_policy": "RESTART_FROM_BEGINNING",
    "filter": {"workflow": "w"},
    "request_id": "job",
}


def counts(server: Serving) -> dict[str, int]:
    found: dict[str, int] = server.get("/api/v3/bulk/job")["counts"]
    return found


def ask(server: Serving) -> Any:
    path = f"{server.url}/api/v3/bulk"
    return httpx.post(path, json=REQUEST, headers={"user": "ann"}, timeout=PATIENCE).json()


def ended(server: Serving, runs: int) -> None:
    def is_so() -> bool:
        page = server.get("/api/v3/instances?workflow=w&status=SUCCEEDED&first=200")
        return len(page["elements"]) == runs

    until(is_so, f"{runs} runs ended")


def test_a_job_goes_on_after_its_server_was_killed(tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_text(WORKFLOW)
    with Serving("--load", "w.yaml", *CALM, folder=tmp_path) as server:
        for _ in range(RUNS):
            server.start("w")
        ended(server, RUNS)
        assert ask(server)["job"]["total"] == RUNS
        until(lambda: counts(server).get("DONE", 0) > 2, "some items are done")
        server.killed()
    with Serving(*CALM, folder=tmp_path) as server:
        assert counts(server).get("WAITING", 0) > 0, "it was killed too late to show anything"
        until(lambda: server.get("/api/v3/bulk/job")["job"]["state"] == "DONE", "the job is done")
        assert counts(server) == {"DONE": RUNS}
        ended(server, 2 * RUNS)
        page = server.get(f"/api/v3/workflows/w/instances?first={RUNS}")
        assert {each["workflow_run_id"] for each in page["elements"]} == {2}
        assert server.stopped()[0] == 0
