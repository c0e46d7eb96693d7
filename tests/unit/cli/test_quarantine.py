"""`stretto quarantine`, and what `show`, `runs` and `why` say of a run that was set aside."""

import sqlite3
from collections.abc import Iterator
from contextlib import chdir, closing
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from tests.api.serving import Served, served, sleep
from tests.unit.cli.running.files import PAIR, as_json, stretto

from stretto.client import Client
from stretto.engine.records import RunKey
from stretto.model.errors import NotFound
from stretto.ports.run_snapshot import read_run
from stretto.ports.suspicion import REASON


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    with chdir(tmp_path):
        yield tmp_path


@pytest.fixture
def aside(folder: Path) -> None:
    """Two runs of a workflow in the database of the folder, and the second is in quarantine."""
    (folder / "pair.yaml").write_text(PAIR)
    stretto("run", "pair.yaml")
    stretto("run", "pair.yaml")
    with closing(sqlite3.connect(".stretto/stretto.db")) as database, database:
        database.execute(
            "UPDATE run SET aside = 1, quarantined = ? WHERE workflow_id = 'pair' AND instance_id = 2",
            [REASON],
        )


@pytest.fixture
def server() -> Iterator[tuple[Served, RunKey]]:
    """A server with one run in quarantine."""
    with served() as made:
        made.push("held", sleep("s"))
        made.start("held")
        made.step_is("held", "s", "RUNNING")
        key = RunKey("held", 1, 1)
        set_aside(made, key)
        yield made, key


def set_aside(made: Served, key: RunKey) -> None:
    store: Any = made.desk.store

    async def put() -> None:
        row = await read_run(store, key)
        assert row is not None
        with store._db.transaction():
            store._db.runs.put(key, msgspec.structs.replace(row, quarantined=REASON))

    made.run(put())


# --------------------------------------------------------------------------------------------- a database
@pytest.mark.usefixtures("aside")
def test_a_run_in_a_database_is_listed_and_released() -> None:
    (line,) = stretto("quarantine", "list").stdout.splitlines()
    assert "pair/2" in line
    assert f"quarantined: {REASON}" in line
    found = as_json(stretto("quarantine", "list", "--json"))
    assert [(each["run"], each["quarantined"]) for each in found["runs"]] == [("pair/2/1", REASON)]
    assert found["more"] is False
    assert f"  quarantined: {REASON}\n" in stretto("show", "pair/2").stdout
    assert "`stretto quarantine release pair/2/1` lets" in stretto("show", "pair/2").stdout
    other = stretto("show", "pair/2", "--db", "sqlite:///.stretto/stretto.db").stdout
    assert "`stretto quarantine release pair/2/1 --db sqlite:///.stretto/stretto.db` lets" in other
    assert "quarantine" not in stretto("show", "pair/1").stdout
    assert as_json(stretto("show", "pair/2", "--json"))["run"]["quarantined"] == REASON
    assert "quarantined" not in as_json(stretto("show", "pair/1", "--json"))["run"]
    assert [("quarantined" in line) for line in stretto("runs").stdout.splitlines()] == [True, False]
    assert "is quarantined" in stretto("why", "pair/2").stdout
    done = stretto("quarantine", "release", "pair/2")
    assert (done.exit_code, done.stdout) == (
        0,
        "pair/2 is released: the node that owns it goes on with it\n",
    )
    assert stretto("quarantine", "list").stdout == "no runs in quarantine in .stretto/stretto.db\n"


@pytest.mark.usefixtures("aside")
def test_one_json_object_says_what_was_released() -> None:
    assert as_json(stretto("quarantine", "release", "pair/2/1", "--json")) == {"released": "pair/2/1"}


@pytest.mark.usefixtures("aside")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pair/1", "is not in quarantine"),
        ("pair/9", "there is no run pair/9"),
        ("other/1", "there is no run other/1"),
        ("pair/2:first", "a run is released as a whole, not the step first"),
        ("pair", "pair"),
    ],
)
def test_what_can_not_be_released(name: str, said: str) -> None:
    done = stretto("quarantine", "release", name)
    assert done.exit_code == 2
    assert said in done.stderr


def test_where_nothing_was_run_nothing_is_in_quarantine() -> None:
    assert stretto("quarantine", "list").stdout == "no runs in quarantine in .stretto/stretto.db\n"
    assert as_json(stretto("quarantine", "list", "--json")) == {"runs": [], "more": False}
    assert stretto("quarantine", "release", "pair/1").exit_code == 2


# ----------------------------------------------------------------------------------------------- a server
def test_a_run_on_a_server_is_listed_and_released(server: tuple[Served, RunKey]) -> None:
    made, _key = server
    at = ("--server", made.url)
    assert f"quarantined: {REASON}" in stretto("quarantine", "list", *at).stdout
    assert f"quarantined: {REASON}" in stretto("runs", *at).stdout
    assert f"quarantined: {REASON}" in stretto("show", "held/1", *at).stdout
    assert "is quarantined" in stretto("why", "held/1", *at).stdout
    assert made.get("/workflows/held/instances/1")["quarantined"] == REASON
    stretto("context", "add", "here", "--server", made.url)
    done = stretto("quarantine", "release", "held/1", "--context", "here")
    assert (done.exit_code, done.stdout) == (
        0,
        "held/1 is released: the node that owns it goes on with it\n",
    )
    assert stretto("quarantine", "list", *at).stdout == f"no runs in quarantine at {made.url}\n"
    assert "quarantined" not in made.get("/workflows/held/instances/1")
    again = stretto("quarantine", "release", "held/1", *at)
    assert again.exit_code == 2
    assert "is not in quarantine" in again.stderr
    unknown = stretto("quarantine", "release", "held/7", *at)
    assert unknown.exit_code == 2
    assert "held" in unknown.stderr


def test_lists_say_that_there_are_more(server: tuple[Served, RunKey]) -> None:
    made, _key = server
    made.start("held")
    made.until("/workflows/held/instances/2", lambda found: found["status"] == "IN_PROGRESS")
    set_aside(made, RunKey("held", 2, 1))
    lines = stretto("quarantine", "list", "--limit", "1", "--server", made.url).stdout.splitlines()
    assert len(lines) == 2
    assert "there are more" in lines[1]


def test_the_client_and_the_task_engine_s_api_know_of_it(server: tuple[Served, RunKey]) -> None:
    made, key = server
    with Client(made.url, user="ann") as client:
        (line,) = client.quarantine().elements
        assert (line.workflow_id, line.quarantined) == ("held", REASON)
        assert client.run("held/1").quarantined == REASON
        client.release("held/1")
        assert client.quarantine().elements == ()
        with pytest.raises(NotFound, match="not in quarantine"):
            client.release(("held", 1, 1))
        set_aside(made, key)
        assert client.why("held/1").sentence == f"run {key} is quarantined: {REASON}"
        step = client.why_step("held/1", "s")
        assert step.sentence.startswith(f"run {key} is quarantined: {REASON}; ")
        assert next((each.kind, each.ref) for each in step.blockers) == ("quarantine", "held/1/1")
        task_engine = httpx.get(f"{made.url}/api/v1/instances/held:1", timeout=60).json()
        assert task_engine["data"]["quarantined"] == REASON
        listed = httpx.get(f"{made.url}/api/v1/instances?workflow_id=held", timeout=60).json()
        assert REASON in str(listed)
        client.release(("held", 1, 1))
