"""A server that is killed again and again, with default leases: no healthy run is set aside, and all end
well. A run that kills its server itself is set aside, and harms no other.
"""

import random
import sys
import time
from pathlib import Path

import httpx
import pytest
from tests.acceptance.processes import PATIENCE, Running, until
from tests.acceptance.serving import Serving

ROOT = Path(__file__).parents[2]
KILLS = 10
RUNS = 10
MOST_DEATHS = 4  # of a run that kills its owner


def workflow(name: str, *seconds: float) -> str:
    steps = "".join(
        f'    - job: {{id: s{number}, type: Shell, command: "sleep {each:.2f}"}}\n'
        for number, each in enumerate(seconds)
    )
    head = f"workflow:\n  id: {name}\n  owner: ann\n  run_strategy: parallel\n  dag: sequential\n"
    return f"{head}  jobs:\n{steps}"


def ended_well(server: Serving, name: str) -> int:
    return len(server.get(f"/api/v3/instances?workflow={name}&status=SUCCEEDED&first=200")["elements"])


def quarantined(server: Serving) -> list[str]:
    return [each["workflow_id"] for each in server.get("/api/v3/quarantine")["elements"]]


def killed(folder: Path, seed: int, kills: int) -> None:
    """Runs are started at first and between kills; the last server ends them all."""
    dice = random.Random(f"kills {seed}")  # noqa: S311 - moments, no secrets
    folder.mkdir()
    (folder / "w.yaml").write_text(workflow("w", *(dice.uniform(0.1, 3.0) for _ in range(3))))
    started = 0
    for number in range(kills):
        with Serving("--load", "w.yaml", folder=folder) as server:
            for _ in range(RUNS // 2 if number == 0 else int(started < RUNS)):
                server.start("w")
                started += 1
            time.sleep(dice.choice([dice.uniform(0.0, 0.3), dice.uniform(0.0, 3.0)]))
            server.killed()
    with Serving(folder=folder) as server:
        until(lambda: ended_well(server, "w") + len(quarantined(server)) == started, "all runs ended")
        assert (quarantined(server), ended_well(server, "w")) == ([], started)
        assert server.stopped()[0] == 0


def test_kills_from_outside_set_nothing_aside(tmp_path: Path) -> None:
    killed(tmp_path / "kills", 0, 3)


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(1, 41))
def test_ten_kills(tmp_path: Path, seed: int) -> None:
    killed(tmp_path / "kills", seed, KILLS)


# ------------------------------------------------------------------------------------------- a real killer
class Deadly(Serving):
    """A server with a bug that one workflow meets."""

    program = (sys.executable, ROOT / "tests/acceptance/deadly_server.py")


def until_it_dies(server: Running, name: str) -> bool:
    """Whether it has died; else the run is in quarantine."""
    assert isinstance(server, Serving)

    def over() -> bool:
        try:
            return server.process.poll() is not None or name in quarantined(server)
        except httpx.HTTPError:
            return server.process.poll() is not None

    until(over, "the server has died, or the run is set aside")
    return server.process.poll() is not None


def test_a_run_that_kills_its_server_is_set_aside_and_harms_nobody(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(workflow("bad", 0.3))
    (tmp_path / "good.yaml").write_text(workflow("good", 0.3, 0.3))
    loads = ("--load", "bad.yaml", "--load", "good.yaml")
    deaths = started = 0
    while True:
        with Deadly(*loads, folder=tmp_path) as server:
            if not deaths:
                server.start("bad")
            if started < RUNS:
                server.start("good")
                started += 1
            if not until_it_dies(server, "bad"):
                break
            deaths += 1
            assert deaths <= MOST_DEATHS, "it is not set aside"
    assert deaths == MOST_DEATHS
    with Serving(folder=tmp_path) as server:
        until(lambda: ended_well(server, "good") == started, "the others ended")
        assert quarantined(server) == ["bad"]
        path = "/api/v3/workflows/bad/instances/1/runs/1/actions/release"
        answer = httpx.put(f"{server.url}{path}", headers={"user": "ann"}, timeout=PATIENCE)
        assert answer.is_success, answer.text
        until(lambda: ended_well(server, "bad") == 1, "it goes on where nothing is wrong")
        assert server.stopped()[0] == 0
