"""A server that is killed right after it has said yes: what it has said holds."""

import random
import time
from pathlib import Path

import pytest
from tests.acceptance.processes import until
from tests.acceptance.serving import Serving

WORKFLOW = """
workflow:
  id: w
  owner: ann
  run_strategy: parallel
  dag: sequential
  jobs:
    - job: {id: a, type: NoOp}
    - job: {id: b, type: Sleep, sleep_seconds: 0}
    - job: {id: c, type: Shell, command: "true"}
"""


def killed_after_yes(folder: Path, kills: int) -> None:
    """Each next server ends what the one before has promised, at the pace that it has by default: no run is
    set aside, though owners die again and again.
    """
    (folder / "w.yaml").write_text(WORKFLOW)
    dice = random.Random(20261116)  # noqa: S311 - moments, no secrets
    promised = 0
    for _ in range(kills):
        with Serving("--load", "w.yaml", folder=folder) as server:
            all_ended(server, promised)
            for _ in range(dice.randint(1, 3)):
                promised += 1
                assert server.start("w")["workflow_instance_id"] == promised
            time.sleep(dice.choice([0, 0, dice.random() / 20]))
            server.killed()
    with Serving(folder=folder) as server:
        all_ended(server, promised)
        assert server.stopped()[0] == 0


def all_ended(server: Serving, promised: int) -> None:
    def is_so() -> bool:
        page = server.get("/api/v3/instances?workflow=w&status=SUCCEEDED&first=200")
        return len(page["elements"]) == min(promised, 200)

    until(is_so, f"{promised} runs ended")


def test_a_start_that_was_answered_is_carried_out(tmp_path: Path) -> None:
    killed_after_yes(tmp_path, 3)


@pytest.mark.prove
def test_a_hundred_times(tmp_path: Path) -> None:
    killed_after_yes(tmp_path, 100)
