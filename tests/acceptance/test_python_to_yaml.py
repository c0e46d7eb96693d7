"""Workflows in Python, printed as YAML, pushed to a server that has their code: the same ends and results."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.acceptance import portable
from tests.acceptance.command import stretto
from tests.acceptance.processes import PATIENCE
from tests.acceptance.serving import Serving
from tests.waiting import wait_until

from stretto import Engine, Flow, RunFailed
from stretto.runtimes.python.values import decode

FILE = Path(portable.__file__)
SCHEDULES = """
from stretto import Cron, step, workflow

@step
def tick() -> str:
    return "tick"

@workflow(schedule=Cron("0 3 1 1 *"))
def latest() -> str:
    return tick()

@workflow(schedule=Cron("0 3 1 1 *", catch_up="all", catch_up_limit=3))
def newest() -> str:
    return tick()

@workflow(schedule=Cron("0 3 1 1 *", catch_up="none"))
def none() -> str:
    return tick()
"""
LONG_AGO = 1_546_311_600_000  # 2019-01-01T03:00Z, when the yearly schedules fire
ENDS = {"SUCCEEDED", "FAILED", "TIMED_OUT", "STOPPED"}
CASES: list[tuple[Flow[..., Any], Any]] = [
    (portable.mapped, [12, None, 4]),
    (portable.listed, [12, None]),
    (portable.gathered_twice, [[None, 12], [None, 6]]),
    (portable.power, 4_000_000_000**4),
    (portable.only_large, [None, 5_000_000_000**4]),
    (portable.grown, 10**32),
    (portable.late, "late"),
    (portable.late_items, ["in time", None]),
    (portable.unanswered_items, ["nobody", "nobody"]),
    (portable.handled_child, "the child is late"),
    (portable.late_child, RunFailed),
    (portable.all_then_fail, RunFailed),
]


@pytest.fixture(scope="module")
def printed() -> str:
    done = stretto("convert", FILE, "--to", "yaml")
    assert done.code == 0, done
    return done.out


@pytest.fixture(scope="module")
def server(printed: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server with the code, to which the YAML was pushed, and the YAML alone."""
    folder = tmp_path_factory.mktemp("portable")
    (folder / "portable.yaml").write_text(printed)
    with Serving("--app", FILE, folder=folder) as made:
        pushed = stretto("push", folder / "portable.yaml", "--server", made.url)
        assert pushed.code == 0, pushed
        yield made


def until(server: Serving, path: str, holds: Any) -> Any:
    found: list[Any] = []

    def so() -> bool:
        found[:] = [server.get(path)]
        return bool(holds(found[0]))

    wait_until(so, lambda: f"{path}, where {found[0]} is,")
    return found[0]


def pushed_end(server: Serving, flow: Flow[..., Any]) -> tuple[str, Any, dict[str, str]]:
    """How a run on the server ended: its status, its value, the statuses of its steps."""
    here = f"/api/v3/workflows/{flow.id}/instances/{server.start(flow.id)['workflow_instance_id']}"
    status = until(server, here, lambda found: found["status"] in ENDS)["status"]
    listed = server.get(f"{here}/runs/1/steps")
    steps = {each["step_id"]: each["runtime_state"]["status"] for each in listed}
    value = None
    if status == "SUCCEEDED":
        assert flow.returns is not None
        (last,) = (each for each in listed if each["step_id"] == flow.returns.step)
        shown = last["params"][flow.returns.param]["evaluated_result"]
        value = decode(shown, flow.returns.kind, Any, "the result")  # None may be in it
    return status, value, steps


def python_end(flow: Flow[..., Any]) -> tuple[str, Any, dict[str, str]]:
    """The same of a run in this process."""
    with Engine("memory").sync() as engine:
        run = engine.submit(flow)
        try:
            value = run.result(PATIENCE)
        except RunFailed:
            value = None
        return str(run.status()), value, {name: str(each.status) for name, each in run.steps().items()}


@pytest.mark.parametrize(("flow", "value"), CASES, ids=[each.id for each, _ in CASES])
def test_the_printed_workflow_ends_as_the_python_one_does(
    server: Serving, flow: Flow[..., Any], value: Any
) -> None:
    pushed = pushed_end(server, flow)
    assert pushed == python_end(flow)
    assert pushed[:2] == (("FAILED", None) if value is RunFailed else ("SUCCEEDED", value))


def test_runs_of_the_printed_workflow_go_on_at_once(server: Serving) -> None:
    numbers = [server.start("held")["workflow_instance_id"] for _ in range(3)]
    for number in numbers:
        here = f"/api/v3/workflows/held/instances/{number}/steps/ask"
        until(server, here, lambda found: found.get("runtime_state", {}).get("status") == "RUNNING")


def test_the_printed_schedule_says_what_happens_to_missed_fires(server: Serving, printed: str) -> None:
    (text,) = (each for each in yaml.safe_load_all(printed) if each["workflow"]["id"] == "nightly")
    (trigger,) = text["workflow"]["time_triggers"]
    assert trigger["catch_up"] == "latest"
    pushed = server.get("/api/v3/workflows/nightly/versions/latest")
    (kept,) = pushed["workflow"]["time_triggers"]
    assert kept["catch_up"] == "latest"


def missed_by_a_server(folder: Path) -> None:
    """The schedules in a database are due since years: as if no server had been there."""
    with sqlite3.connect(folder / "work.db") as database:
        changed = database.execute("UPDATE time_trigger SET next_fire_at = ?", (LONG_AGO,))
        assert changed.rowcount == 3


def test_missed_fires_of_the_printed_schedule_are_those_of_the_python_one(tmp_path: Path) -> None:
    """One server has the YAML, the other one publishes the workflows in Python; both come back late."""
    file = tmp_path / "schedules.py"
    file.write_text(SCHEDULES)
    printed = stretto("convert", file, "--to", "yaml")
    assert printed.code == 0, printed
    found = {}
    for way in ("yaml", "python"):
        folder = tmp_path / way
        folder.mkdir()
        (folder / "schedules.yaml").write_text(printed.out)
        code = ("--app", file) if way == "yaml" else ("--load", file)
        with Serving(*code, folder=folder) as server:
            if way == "yaml":
                pushed = stretto("push", folder / "schedules.yaml", "--server", server.url)
                assert pushed.code == 0, pushed
            server.stopped()
        missed_by_a_server(folder)
        with Serving("--app", file, folder=folder) as server:
            found[way] = {each: caught_up(server, each) for each in ("latest", "newest", "none")}
    assert found["yaml"] == found["python"]
    assert found["yaml"] == {"latest": 1, "newest": 3, "none": 0}


def caught_up(server: Serving, workflow_id: str) -> int:
    """How many runs a server started that came late, once it has told which fires it dropped."""
    timeline = f"/api/v3/workflows/{workflow_id}/timeline"
    until(server, timeline, lambda told: "missed fires" in str(told["timeline_events"]))
    listed = server.get(f"/api/v3/workflows/{workflow_id}/instances?first=20")["elements"]
    return sum(each["initiator"]["type"] == "TIME" for each in listed)
