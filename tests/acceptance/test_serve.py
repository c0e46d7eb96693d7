"""`stretto serve` as a process of its own: it starts, answers, stops, and says what is wrong."""

import shlex
import signal
import socket
from pathlib import Path

import pytest
from tests.acceptance.command import stretto
from tests.acceptance.processes import until
from tests.acceptance.serving import Serving

WORKFLOW = "workflow: {id: w, owner: ann, run_strategy: parallel, jobs: [{job: {id: a, type: NoOp}}]}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "w.yaml").write_text(WORKFLOW)
    return tmp_path


def ended_well(server: Serving, instance: int) -> bool:
    return bool(server.get(f"/api/v3/workflows/w/instances/{instance}").get("status") == "SUCCEEDED")


def test_a_server_starts_answers_and_keeps_what_it_has(folder: Path) -> None:
    with Serving("--load", "w.yaml", folder=folder) as server:
        assert server.get("/ready") == {"status": "UP"}
        assert server.start("w")["workflow_instance_id"] == 1
        until(lambda: ended_well(server, 1), "the run ended")
        code, out, err = server.stopped()
        assert "loaded: w (version 1)" in server.told
        assert "start w --follow" in server.told
    assert (code, err) == (0, "")
    assert "stopping" in out
    with Serving("--load", "w.yaml", folder=folder) as server:
        assert ended_well(server, 1)
        assert server.get("/api/v3/workflows/w/versions/latest")["metadata"]["workflow_version_id"] == 1
        assert server.start("w")["workflow_instance_id"] == 2
        assert server.stopped()[0] == 0


def test_what_it_says_to_try_works(folder: Path) -> None:
    """The three commands, as they stand there."""
    with Serving("--load", "w.yaml", folder=folder) as server:
        commands = [line.strip() for line in server.told.splitlines() if line.startswith("  ")]
        assert len(commands) == 3
        for each in commands:
            program, *arguments = shlex.split(each)
            assert Path(program).name == "stretto"
            ended = stretto(*arguments)
            assert (ended.code, ended.err) == (0, ""), each
            assert "w/1 SUCCEEDED" in " ".join(ended.out.split())
        assert server.stopped()[0] == 0


def test_roles_apart(folder: Path) -> None:
    """One process takes requests and another runs them; they meet in the database."""
    with (
        Serving("--role", "api", "--load", "w.yaml", folder=folder) as api,
        Serving("--role", "engine,scheduler", folder=folder) as engine,
    ):
        assert "(api)" in api.told
        assert engine.get("/ready") == {"status": "UP"}
        assert engine.get("/api/v3/workflows/w/versions/latest")["status"] == 404
        api.start("w")
        until(lambda: ended_well(api, 1), "the run ended")
        assert [each.stopped()[0] for each in (api, engine)] == [0, 0]


def test_an_interrupted_run_goes_on_in_the_next_server(folder: Path) -> None:
    (folder / "s.yaml").write_text(
        WORKFLOW.replace("id: w", "id: s").replace("NoOp", "Sleep, sleep_seconds: 1")
    )
    with Serving("--load", "s.yaml", folder=folder) as server:
        server.start("s")
        server.killed()
    with Serving(folder=folder) as server:
        path = "/api/v3/workflows/s/instances/1"
        until(lambda: server.get(path).get("status") == "SUCCEEDED", "the run ended")
        assert server.stopped()[0] == 0


def test_a_second_interrupt_ends_work_at_once(folder: Path) -> None:
    (folder / "c.yaml").write_text(
        WORKFLOW.replace("id: w", "id: c").replace(
            "type: NoOp", "type: Shell, command: touch began; sleep 600"
        )
    )
    with Serving("--load", "c.yaml", folder=folder) as server:
        server.start("c")
        until((folder / "began").exists, "the command began")
        server.send(signal.SIGINT)
        assert server.process.stdout is not None
        while "stopping" not in server.process.stdout.readline():
            pass
        server.send(signal.SIGINT)
        code, _, _ = server.ended()
    assert code == 128 + signal.SIGINT


# --------------------------------------------------------------------------------------------- refusals
def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = stretto("serve", "--port", str(port), "--db", "memory:")
    assert ended.code == 2
    assert f"port {port} of 127.0.0.1 is taken" in ended.err
    assert "--port" in ended.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--host", "0.0.0.0"), "it has no authentication"),  # noqa: S104 - that is the point
        (("--port", "high"), "is not a whole number"),
        (("--port", "65536"), "at most 65535"),
        (("--role", "cook"), "`cook` is not a role"),
        (("--role", "engine"), "go together"),
        (("--role", ","), "name at least one"),
        (("--role", "api"), "for one process"),
        (("--load", "nowhere.yaml"), "nowhere.yaml"),
    ],
)
def test_bad_options(arguments: tuple[str, ...], said: str) -> None:
    ended = stretto("serve", "--db", "memory:", *arguments)
    assert ended.code == 2
    assert said in ended.err + ended.out


def test_settings_say_where_it_listens() -> None:
    ended = stretto("config", "show", "--set", "server.port=9000", "--set", "server.host=localhost")
    assert "9000" in ended.out


def test_a_new_home_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default database is in a folder that the server makes, and so are the logs of steps."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "STRETTO_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with Serving(folder=tmp_path, database=None) as server:
        assert server.stopped()[0] == 0
    assert (tmp_path / "home/.local/share/stretto/stretto.db").is_file()
