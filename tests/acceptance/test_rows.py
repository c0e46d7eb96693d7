"""Rows of the union table that processes and databases show: starts, crashes, databases, settings."""

import asyncio
import json
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance import started_by_code
from tests.acceptance.processes import Running, until
from tests.acceptance.test_run_on_servers import mariadb, postgresql, stretto
from tests.waiting import until as eventually

from stretto.actions.caller import Caller
from stretto.actions.publish import publish
from stretto.actions.start import start
from stretto.app import App
from stretto.config import Config
from stretto.definition import parse_all
from stretto.engine.records import RunKey
from stretto.model.errors import Unavailable
from stretto.model.initiator import ManualInitiator
from stretto.model.request import StartRequest
from stretto.model.status import RunStatus
from stretto.model.user import User
from stretto.node.group import GroupState
from stretto.node.settings import NodeSettings
from stretto.ports.observer import Observer
from stretto.ports.places import GROUPS
from stretto.ports.run_snapshot import read_run
from stretto.runtimes.logs.files import LogFiles
from stretto.store.memory.hints import MemoryHints
from stretto.store.opening import open_store
from stretto.testing.faults import Moment, interfered

__all__ = ["mariadb", "postgresql"]  # fixtures

PROGRAM = Path(started_by_code.__file__)
DATABASES = ["sqlite", "postgresql", "mariadb"]


@pytest.fixture(params=DATABASES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of each kind, with its tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/rows.db"
    made: str = request.getfixturevalue(request.param)
    assert stretto(tmp_path, "db", "upgrade", "--db", made)[0] == 0
    return made


def ask(url: str, request_id: str, how: str) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, PROGRAM, url, request_id, how], stdout=subprocess.PIPE, text=True
    )


def answer(asked: subprocess.Popen[str]) -> list[Any]:
    out, _ = asked.communicate(timeout=60)
    found: list[Any] = json.loads(out)
    return found


# -------------------------------------------------------------------------------------------------- 73 and 74
def test_row_73_what_was_answered_survives_a_kill_right_after(url: str, tmp_path: Path) -> None:
    asked = ask(url, "one", "die")
    instance, run, status = answer(asked)
    assert (asked.returncode, run, status) == (-signal.SIGKILL, 1, "CREATED")
    (tmp_path / "asked.yaml").write_text(started_by_code.FLOW)
    code, out, err = stretto(tmp_path, "run", "asked.yaml", "--db", url, "--resume", "--json")
    assert code == 0, err
    assert json.loads(out)["run"] == f"asked/{instance}/1"
    assert (tmp_path / "done.txt").read_text() == "done\n"


def test_row_74_the_same_request_starts_one_instance(url: str, tmp_path: Path) -> None:
    """Also if two processes ask at the same time."""
    first = answer(ask(url, "first", "stay"))
    both = [ask(url, "same", "stay") for _ in range(2)]
    answers = sorted((answer(each) for each in both), key=lambda each: str(each[2]))
    assert [each[:2] for each in answers] == [[first[0] + 1, 1]] * 2
    assert [each[2] for each in answers] == ["CREATED", "DUPLICATED"]
    code, out, _ = stretto(tmp_path, "runs", "--db", url, "--json")
    assert (code, len(json.loads(out)["runs"])) == (0, 2)


# -------------------------------------------------------------------------------------------------------- 140
def test_row_140_a_sample_runs_without_any_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new machine: no settings, no home, no server, nothing but the command."""
    home, folder = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "STRETTO_CONFIG", "STRETTO_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    sample = Path(__file__).parents[2] / "examples" / "etl.yaml"
    code, out, err = stretto(folder, "run", str(sample), "--json")
    assert (code, json.loads(out)["status"]) == (0, "SUCCEEDED"), err
    assert [each.name for each in folder.iterdir()] == [".stretto"]
    assert list(home.iterdir()) == []


# -------------------------------------------------------------------------------------------------------- 145
STEPS = [f"s{place}" for place in range(8)]
LONG = "workflow:\n  id: long\n  dag: sequential\n  jobs:\n" + "".join(
    f"    - job: {{id: {step}, type: Shell, command: 'echo {step} >> log.txt; sleep 0.2'}}\n"
    for step in STEPS
)


def finished_steps(folder: Path) -> set[str]:
    """The steps that the database says have ended well."""
    code, out, _ = stretto(folder, "show", "long/1", "--json")
    steps = json.loads(out)["steps"] if code == 0 else []
    return {each["step_id"] for each in steps if each["runtime_state"]["status"] == "SUCCEEDED"}


@pytest.mark.timeout(600)  # eleven starts, on a machine that may be busy
def test_row_145_killed_at_ten_random_moments(tmp_path: Path) -> None:
    (tmp_path / "long.yaml").write_text(LONG)
    log, dice = tmp_path / "log.txt", random.Random(145)  # noqa: S311 - not for secrets
    over: dict[str, int] = {}  # finished step -> how often it had been begun by then
    resume: list[str] = []
    for _ in range(10):
        with Running("run", "long.yaml", *resume, folder=tmp_path) as command:
            if not resume:
                until(log.exists, "the beginning of the first step")
            time.sleep(dice.uniform(0, 1.2))
            command.killed()
        resume = ["--resume"]
        begun = log.read_text().split()
        over |= {step: begun.count(step) for step in finished_steps(tmp_path) if step not in over}
    if len(over) < len(STEPS):
        code, out, err = stretto(tmp_path, "run", "long.yaml", "--resume", "--json")
        assert (code, json.loads(out)["status"]) == (0, "SUCCEEDED"), err
    begun = log.read_text().split()
    assert {step: begun.count(step) for step in over} == over  # what had ended was not repeated
    assert set(begun) == set(STEPS)
    assert [*dict.fromkeys(begun)] == STEPS
    assert finished_steps(tmp_path) == set(STEPS)


# -------------------------------------------------------------------------------------------------------- 147
ANN = Caller(user=User(name="ann"))


class Told(Observer):
    """Remembers what a node says of its database."""

    def __init__(self) -> None:
        self.tries: list[int] = []

    def store_failed(self, error: Exception, tries: int) -> None:
        assert isinstance(error, Unavailable)
        self.tries.append(tries)


class Trouble:
    """A database whose commits fail, so many times, from now on."""

    def __init__(self) -> None:
        self.left = 0
        self.failed = 0

    async def __call__(self, call: str, moment: Moment) -> None:
        if call == "commit" and moment is Moment.BEFORE and self.left > 0:
            self.left -= 1
            self.failed += 1
            raise Unavailable("the disk is gone")


async def carried_out(folder: Path, failures: int) -> tuple[list[RunStatus], list[int]]:
    """The statuses that a reader sees from the start of a run to its end; what was told of the database."""
    trouble, told, seen = Trouble(), Told(), [RunStatus.CREATED]
    store = await open_store(f"sqlite:///{folder}/trouble.db")
    quick = Config(node=NodeSettings(retry_first=50, retry_most=100, commits_at_once=1, stop_within=1_000))
    logs = LogFiles(folder / "logs", 64 * 1024, lambda: 0)
    app = App(quick, interfered(store, trouble), MemoryHints(), logs, [told])
    await app.start()
    (definition,) = parse_all(started_by_code.FLOW.replace(">> done.txt", ""))
    await publish(store, ANN, definition, hints=app.hints)
    await eventually(
        lambda: sum(each.state is GroupState.READY for each in app._node.groups.values()) == GROUPS
    )
    trouble.left = failures
    made = await start(
        store, ANN, "asked", "latest", StartRequest(initiator=ManualInitiator()), hints=app.hints
    )
    key = RunKey("asked", made.workflow_instance_id, 1)

    async def has_ended() -> bool:
        row = await read_run(store, key)
        assert row is not None
        if trouble.left:
            assert row.record.status is RunStatus.CREATED  # the last stable state
        if row.record.status is not seen[-1]:
            seen.append(row.record.status)
        return seen[-1].is_terminal

    await eventually(has_ended)
    assert trouble.failed == failures
    await app.stop()
    logs.close()
    await store.close()
    return seen, told.tries


def test_row_147_two_failures_have_no_visible_effect(tmp_path: Path) -> None:
    seen, tries = asyncio.run(carried_out(tmp_path, failures=2))
    assert seen[-1] is RunStatus.SUCCEEDED
    assert max(tries) < 3


def test_row_147_after_the_third_there_is_a_warning_and_nothing_is_lost(tmp_path: Path) -> None:
    seen, tries = asyncio.run(carried_out(tmp_path, failures=4))
    assert seen[-1] is RunStatus.SUCCEEDED
    assert max(tries) >= 3


# -------------------------------------------------------------------------------------------------------- 148
def test_row_148_a_workflow_ends_the_same_way_on_each_database(url: str, tmp_path: Path) -> None:
    sample = Path(__file__).parents[2] / "examples" / "etl.yaml"
    code, out, err = stretto(tmp_path, "run", str(sample), "--db", url, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["status"], found["run"]) == ("SUCCEEDED", "etl/1/1")
    steps = {each["step_id"]: each["status"] for each in found["steps"]}
    assert steps == {
        "extract": "SUCCEEDED",
        "each_day": "SUCCEEDED",
        "nothing_to_do": "UNSATISFIED",
        "load": "SUCCEEDED",
        "report": "SUCCEEDED",
    }


def test_row_148_the_same_suite_is_run_on_each_database() -> None:
    ports = Path(__file__).parents[1] / "ports"
    for kind in ("memory", *DATABASES):
        text = (ports / f"test_{kind}_store.py").read_text(encoding="utf-8")
        assert re.search(r"parametrize\([^)]*\bCHECKS\b", text), kind


# -------------------------------------------------------------------------------------------------------- 149
def connections(folder: Path, *arguments: str) -> tuple[int, Any]:
    code, out, err = stretto(
        folder, "config", "show", "database.connections", "--json", "--config", "stretto.yaml", *arguments
    )
    return code, (json.loads(out) if code == 0 else err)


def test_row_149_each_source_sets_the_pool_and_the_flag_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stretto.yaml").write_text("database:\n  connections: ${POOL:3}\n")
    found = [connections(tmp_path)]
    monkeypatch.setenv("POOL", "4")
    found.append(connections(tmp_path))
    monkeypatch.setenv("STRETTO_DATABASE_CONNECTIONS", "5")
    found.append(connections(tmp_path))
    found.append(connections(tmp_path, "--set", "database.connections=6"))
    assert [code for code, _ in found] == [0] * 4
    values = [shown["settings"][0]["value"] for _, shown in found]
    assert [str(value) for value in values] == ["3", "4", "5", "6"]


@pytest.mark.parametrize("source", ["file", "environment", "flag"])
def test_row_149_a_pool_of_nothing_is_refused_at_the_start(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "asked.yaml").write_text(started_by_code.FLOW)
    (tmp_path / "stretto.yaml").write_text("database:\n  connections: 0\n" if source == "file" else "{}\n")
    if source == "environment":
        monkeypatch.setenv("STRETTO_DATABASE_CONNECTIONS", "0")
    flags = ["--set", "database.connections=0"] if source == "flag" else []
    code, out, err = stretto(tmp_path, "run", "asked.yaml", "--config", "stretto.yaml", *flags)
    assert (code, out) == (2, "")
    assert "database.connections" in err
    assert "at least 1" in err
    assert not (tmp_path / ".stretto").exists()
