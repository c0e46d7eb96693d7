"""A follower of live events: two processes work, its connection is cut again and again, and its server is
killed and started anew. What it hears of each run is in order, nothing is lost, and nothing comes twice.
"""

import json
import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.acceptance.processes import PATIENCE
from tests.acceptance.serving import Serving

WIDE = 20
STATUSES = {"CREATED": 0, "IN_PROGRESS": 1, "SUCCEEDED": 2}


def workflow() -> str:
    jobs = "\n".join(f"    - job: {{id: s{number}, type: NoOp}}" for number in range(WIDE))
    return f"workflow:\n  id: w\n  owner: ann\n  run_strategy: parallel\n  jobs:\n{jobs}\n"


class Heard:
    """What somebody has heard, and up to where."""

    def __init__(self, cursor: str) -> None:
        self.cursor = cursor
        self.places: set[tuple[int, int]] = set()
        self.runs: dict[int, list[str]] = {}
        self.steps: dict[tuple[int, str], list[str]] = {}

    def take(self, message: dict[str, str]) -> None:
        if message.get("event") == "changes":
            told = json.loads(message["data"])
            place = (told["group"], told["seq"])
            assert place not in self.places
            self.places.add(place)
            for event in told["events"]:
                self._note(event)
        self.cursor = message["id"]

    def _note(self, event: dict[str, Any]) -> None:
        run = event.get("workflow_instance_id")
        if "new_status" in event:
            self.runs.setdefault(event["workflow_instance_id"], []).append(event["new_status"])
        elif "step_id" in event:
            moves = self.steps.setdefault((event["workflow_instance_id"], event["step_id"]), [])
            for each in event["status_change_records"]:
                assert not moves or moves[-1] == each["old_status"], (run, event["step_id"], moves, each)
                moves.append(each["new_status"])

    @property
    def ended(self) -> int:
        return sum(moves[-1] == "SUCCEEDED" for moves in self.runs.values())


def messages(response: httpx.Response) -> Iterator[dict[str, str]]:
    text = ""
    for part in response.iter_text():
        text += part
        while "\n\n" in text:
            one, _, text = text.partition("\n\n")
            yield dict(line.partition(": ")[::2] for line in one.splitlines())


def listen(server: Serving, heard: Heard, most: int, runs: int) -> None:
    """So many messages, unless all has been heard before."""
    with httpx.stream(
        "GET",
        f"{server.url}/api/v3/events?topic=workflow:w",
        headers={"last-event-id": heard.cursor},
        timeout=PATIENCE,
    ) as response:
        for count, message in enumerate(messages(response)):
            heard.take(message)
            if count >= most or heard.ended == runs:
                return


def follow(folder: Path, runs: int, cuts: int) -> None:
    (folder / "w.yaml").write_text(workflow())
    dice = random.Random(20261116)  # noqa: S311 - moments, no secrets
    with ExitStack() as stack:
        other = stack.enter_context(Serving("--load", "w.yaml", folder=folder))
        server = stack.enter_context(Serving(folder=folder))
        heard = Heard(httpx.get(f"{server.url}/api/v3/me", timeout=PATIENCE).headers["stretto-cursor"])
        started = 0
        for cut in range(cuts):
            while started < runs * (cut + 1) // cuts:
                started += 1
                assert (other, server)[started % 2].start("w")["workflow_instance_id"] == started
            listen(server, heard, dice.randint(1, 6), runs)
            if cut == cuts // 2:
                server.killed()
                server = stack.enter_context(Serving(folder=folder))
        while heard.ended < runs:
            listen(server, heard, 1_000, runs)
        assert _ended(other) == min(runs, 200)
        check(heard, runs)
        for each in (server, other):
            assert each.stopped()[0] == 0


def check(heard: Heard, runs: int) -> None:
    assert sorted(heard.runs) == list(range(1, runs + 1))
    for moves in heard.runs.values():
        assert moves == sorted(set(moves), key=STATUSES.__getitem__), moves
    assert len(heard.steps) == runs * WIDE
    assert {moves[-1] for moves in heard.steps.values()} == {"SUCCEEDED"}


def _ended(server: Serving) -> int:
    return len(server.get("/api/v3/instances?workflow=w&status=SUCCEEDED&first=200")["elements"])


def test_a_follower_of_two_processes(tmp_path: Path) -> None:
    follow(tmp_path, runs=25, cuts=6)


@pytest.mark.prove
def test_ten_thousand_steps_and_twenty_cuts(tmp_path: Path) -> None:
    follow(tmp_path, runs=500, cuts=20)
