"""Runs that are read while they move: each answer shows a state that was committed, not one between two."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
from tests.api.databases import database_url
from tests.api.serving import Served, served, shell

RUNS: Final = 8
CHAIN: Final = (shell("a", "true", "b"), shell("b", "true", "c"), shell("c", "true"))
PLACE: Final = "/workflows/chain/instances"


@pytest.fixture(scope="module", params=["sqlite", "postgresql", "mariadb"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Takes the place of the server in memory."""
    with served(url=database_url(request, tmp_path_factory.mktemp("database"))) as made:
        made.push("chain", *CHAIN)
        yield made


def is_over(run: Mapping[str, Any]) -> bool:
    """Whether a run has ended. Its last step ends in the same commit, so that both must agree."""
    steps = run["runtime_overview"]["step_overview"] if run.get("runtime_overview") else {}
    done = steps.get("SUCCEEDED", {}).get("cnt", 0)
    assert (done == len(CHAIN)) is (run["status"] == "SUCCEEDED"), run
    if "aggregated_info" in run:
        views = run["aggregated_info"]["step_aggregated_views"].values()
        assert sum(each["status"] == "SUCCEEDED" for each in views) == done, run
    return bool(run["status"] == "SUCCEEDED")


def test_no_answer_is_torn(server: Served) -> None:
    moved = False
    while not moved:  # a reader that is slow finds all of them ended
        moving = {server.start("chain")["workflow_instance_id"] for _ in range(RUNS)}
        while moving:
            page = server.get(f"{PLACE}?first={RUNS}&aggregated=true")["elements"]
            over = [is_over(each) for each in page]
            moved |= not all(over)
            for number in sorted(moving):
                found = server.get(f"{PLACE}/{number}/runs/1")
                if is_over(found) and is_over(server.get(f"{PLACE}/{number}")):
                    moving.discard(number)


def test_v1_shows_a_run_and_its_tasks_as_of_one_moment(server: Served) -> None:
    number = server.start("chain")["workflow_instance_id"]
    while True:
        answer = server.client.get(f"/api/v1/instances/chain:{number}")
        assert answer.status_code == 200, answer.text
        found = answer.json()["data"]
        is_done = "finished_at" in found
        assert is_done is (found["progress"]["completed"] == len(CHAIN)), found
        if is_done:
            return
