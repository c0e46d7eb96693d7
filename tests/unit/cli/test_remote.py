"""`stretto push`, `start`, `stop`, `restart`, and `show`, `runs`, `why` with a server."""

import json
import re
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result
from tests.api.serving import LOOP, Served, noop, served, shell, sleep
from tests.unit.cli.running.files import FAILING, PAIR, as_json
from tests.unit.cli.running.files import stretto as called

from stretto.cli.database import Place
from stretto.cli.remote import watching
from stretto.cli.remote.server import remote_of
from stretto.cli.remote.watching import Wish, watch
from stretto.cli.serving.telling import tell_start
from stretto.client import Changed, Client, Resync
from stretto.config import Config
from stretto.engine.records import RunKey
from stretto.model.response import StartResponse, StartStatus

NAMES = iter(range(1_000_000))


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served() as made:
        yield made


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("NO_COLOR", "1")
    with chdir(tmp_path):
        yield tmp_path


@pytest.fixture
def stretto(server: Served) -> Callable[..., Result]:
    """The command, on the server."""
    return lambda *arguments: called(*arguments, "--server", server.url)


def fresh(prefix: str = "cli") -> str:
    return f"{prefix}{next(NAMES)}"


def told(result: Result) -> list[str]:
    """What was said, without times and how long it took."""
    assert result.exit_code == 0, result.output
    return [re.sub(r"^\d\d:\d\d:\d\d | \d+\.\ds$", "", line) for line in result.stdout.splitlines()]


# ----------------------------------------------------------------------------------------------------- push
def test_push(stretto: Any, server: Served, folder: Path) -> None:
    one, two = fresh(), fresh()
    (folder / "one.yaml").write_text(FAILING.replace("id: failing", f"id: {one}"))
    (folder / "two.yaml").write_text(PAIR.replace("id: pair", f"id: {two}"))
    assert told(stretto("push", "one.yaml", "two.yaml")) == [f"{one}: version 1", f"{two}: version 1"]
    made = as_json(stretto("push", "one.yaml", "--json", "--user", "bob"))
    assert made == {"pushed": [{"workflow_id": one, "workflow_version_id": 2}]}
    owner = server.get(f"/workflows/{two}/properties-snapshot/latest")["owner"]
    assert owner == "ann"  # as its file says; who pushes a file that says nothing owns it
    assert server.get(f"/workflows/{one}/properties-snapshot/latest")["owner"] not in {"ann", "bob"}


def test_nothing_is_pushed_if_something_is_wrong(stretto: Any, server: Served, folder: Path) -> None:
    name = fresh()
    (folder / "good.yaml").write_text(FAILING.replace("id: failing", f"id: {name}"))
    (folder / "bad.yaml").write_text("workflow:\n  id: x\n  stps: []\n")
    result = stretto("push", "good.yaml", "bad.yaml")
    assert result.exit_code == 2
    assert "bad.yaml:3:3:" in result.stderr
    server.get(f"/workflows/{name}/versions/latest", 404)


def test_the_server_has_the_last_word(stretto: Any, folder: Path) -> None:
    good, name = fresh(), fresh()
    steps = "[{step: {id: a, type: OfNobody}}, {step: {id: b, type: OfNobody}}]"
    (folder / "good.yaml").write_text(FAILING.replace("id: failing", f"id: {good}"))
    (folder / "odd.yaml").write_text(f"workflow: {{id: {name}, steps: {steps}}}")
    result = stretto("push", "good.yaml", "odd.yaml", "--json")
    assert result.exit_code == 2
    assert [each["workflow_id"] for each in json.loads(result.stdout)["pushed"]] == [good]
    assert result.stderr.count("`OfNobody` is not a step type") == 3  # in a sentence, and one by one


# ---------------------------------------------------------------------------------------------------- start
def test_start(stretto: Any, server: Served) -> None:
    name = fresh()
    server.push(name)
    assert told(stretto("start", name)) == [f"{name}/1, version 1: started"]
    assert told(stretto("start", name, "--wait"))[-1] == f"✓ {name}/2 SUCCEEDED"
    made = as_json(stretto("start", name, "--version", "1", "--json"))
    assert (made["run"], made["status"]) == (f"{name}/3/1", "CREATED")
    made = as_json(stretto("start", name, "--json", "--follow"))
    assert (made["run"], made["status"]) == (f"{name}/4/1", "SUCCEEDED")
    assert made["end_time"] >= made["start_time"]


def test_follow(stretto: Any, server: Served) -> None:
    name = fresh()
    server.push(name, noop("a", "b"), sleep("b", 1, "c"), noop("c"))
    assert told(stretto("start", name, "--follow")) == [
        f"{name}/1, version 1: started",
        "✓ a SUCCEEDED",
        "▶ b RUNNING",
        "✓ b SUCCEEDED",
        "✓ c SUCCEEDED",
        f"✓ {name}/1 SUCCEEDED",
    ]


def test_a_run_that_fails(stretto: Any, server: Served) -> None:
    name = fresh()
    server.push(name, shell("bad", "echo no >&2; exit 3"))
    result = stretto("start", name, "--follow")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert re.fullmatch(r".{9}✗ bad FATALLY_FAILED \S+: exit code 3: no", lines[-4])
    assert lines[-3].startswith(f"✗ {name}/1 FAILED")
    assert lines[-2].endswith("is FATALLY_FAILED: exit code 3: no")
    assert lines[-1] == f"More: stretto show {name}/1 --server {server.url}"


def test_parameters_have_the_types_of_the_workflow(stretto: Any, server: Served) -> None:
    name = fresh()
    params = {"days": {"type": "LONG_ARRAY", "value": [1]}, "table": {"type": "STRING", "value": "a"}}
    body = {"properties": {"owner": "ann"}, "workflow": {"id": name, "params": params, "steps": [noop("a")]}}
    server.post("/workflows", body)
    stretto("start", name, "-p", "days=4,5", "-p", "table=$x", "--wait")
    found = server.get(f"/workflows/{name}/instances/1")["params"]
    assert (found["days"]["evaluated_result"], found["table"]["evaluated_result"]) == ([4, 5], "$x")
    for wrong, said in (
        ("days=x", "LONG_ARRAY"),
        ("tabel=x", "did you mean `table`"),
        ("x", "not NAME=VALUE"),
    ):
        result = stretto("start", name, "-p", wrong)
        assert result.exit_code == 2
        assert said in result.stderr


def test_a_request_that_was_seen_before(stretto: Any, server: Served) -> None:
    name, request = fresh(), fresh("request")
    server.push(name)
    stretto("start", name, "--request-id", request)
    again = told(stretto("start", name, "--request-id", request))
    assert again == [f"{name}/1, version 1: this request has started it before"]


def test_a_strategy_that_starts_nothing(stretto: Any, server: Served) -> None:
    name = fresh()
    server.push(name, sleep("s"), run_strategy="FIRST_ONLY")
    stretto("start", name)
    result = stretto("start", name)
    assert result.exit_code == 1
    assert "not started, as the run strategy of the workflow wants it" in result.stdout
    assert as_json(stretto("start", name, "--json"))["status"] == "STOPPED"
    stretto("stop", f"{name}/1")


def test_who_is_interrupted_leaves_the_run_alone(
    server: Served, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_args: Any) -> None:
        raise KeyboardInterrupt

    remote = remote_of(None, (), server.url, "ann")
    made = StartResponse(
        workflow_id="w",
        workflow_version_id=1,
        workflow_instance_id=7,
        workflow_run_id=2,
        status=StartStatus.CREATED,
    )
    with Client(server.url) as client:
        monkeypatch.setattr(client, "wait", interrupted, raising=False)
        assert watch(client, remote, made, Wish(wait=True)) == 130
    said = capsys.readouterr().err
    assert (
        said
        == f"w/7/2 goes on there; it is stopped by: stretto stop w/7/2 --user ann --server {server.url}\n"
    )


def test_who_missed_something_looks_again(
    server: Served, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = fresh()
    server.push(name, noop("a"))
    with Client(server.url, user="ann") as client:
        run = client.wait(client.start(name))
        happened = [
            Resync(cursor="c", reason="x"),
            Changed(cursor="c", at=1, events=()),
            Resync(cursor="c", reason="x"),
        ]
        monkeypatch.setattr(client, "follow_run", lambda *_args, **_rest: iter(happened), raising=False)
        watching._follow(client, RunKey(name, run.workflow_instance_id, 1), None)
    assert capsys.readouterr().out.count("a SUCCEEDED") == 1


# -------------------------------------------------------------------------------------------- stop, restart
def test_stop(stretto: Any, server: Served) -> None:
    name = fresh()
    server.push(name, sleep("s"), sleep("t"))
    for _ in range(2):
        stretto("start", name)
    for each in "st":
        server.step_is(name, each, "RUNNING")
    assert told(stretto("stop", f"{name}/1:s")) == [f"{name}/1:s: STOPPED"]
    assert as_json(stretto("stop", f"{name}/1:t", "--kill", "--json"))["step_id"] == "t"
    server.ended(name, 1, "FAILED")
    server.step_is(name, "s", "RUNNING", 2)
    told_so = stretto("stop", f"{name}/2", "--user", "bob", "--reason", "wrong table").stdout
    assert re.search(rf"User \[bob\] asked to stop run {name}/2.*wrong table", told_so)
    server.ended(name, 2, "STOPPED")
    stretto("start", name)
    stretto("stop", f"{name}/3/1", "--kill")
    server.ended(name, 3, "FAILED")


def test_stop_an_iteration(stretto: Any, server: Served) -> None:
    name = fresh()
    inner = {"foreach": {**LOOP["foreach"], "steps": [sleep("inner")]}}
    server.push(name, inner)
    stretto("start", name)
    server.until(
        f"/workflows/{name}/instances/1/runs/1/resolve?path=each[1].inner",
        lambda found: found.get("step_attempt_id") == 1,
    )
    for flags in ([], ["--kill"]):
        result = stretto("stop", f"{name}/1:each[{1 + len(flags)}]", *flags)
        assert result.exit_code == 0, result.output
    stretto("stop", f"{name}/1")


def test_restart(stretto: Any, server: Served, folder: Path) -> None:
    name, mark = fresh(), folder / "mark"
    params = {"word": {"type": "STRING", "value": "a"}}
    steps = [noop("first", "second"), shell("second", f"test -e {mark}")]
    body = {"properties": {"owner": "ann"}, "workflow": {"id": name, "params": params, "steps": steps}}
    server.post("/workflows", body)
    assert stretto("start", name, "--wait").exit_code == 1
    assert stretto("restart", f"{name}/1", "--wait").exit_code == 1
    mark.touch()
    again = told(stretto("restart", f"{name}/1", "--follow"))
    assert again[0] == f"{name}/1/3, version 1: started"
    assert "✓ second SUCCEEDED" in again
    assert "✓ first SUCCEEDED" not in again
    whole = told(stretto("restart", f"{name}/1", "--all", "-p", "word=b", "--follow"))
    assert "✓ first SUCCEEDED" in whole
    assert server.get(f"/workflows/{name}/instances/1")["params"]["word"]["evaluated_result"] == "b"
    begin = told(stretto("restart", f"{name}/1", "--from", "second", "--wait"))
    assert begin == [f"{name}/1/5, version 1: started", f"✓ {name}/1/5 SUCCEEDED"]
    assert told(stretto("restart", f"{name}/1:second"))[0].startswith(f"{name}/1/6")


def test_restart_an_iteration(stretto: Any, server: Served) -> None:
    name = fresh()
    server.push(name, LOOP)
    stretto("start", name, "--wait")
    result = stretto("restart", f"{name}/1:each[2]", "--all", "--wait")
    assert result.exit_code == 0, result.output
    assert f"{name}/1/2" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["restart", "w/1:a", "--from", "b"], "name the step once"),
        (["restart", "w/1:a", "-p", "x=1"], "parameters are those of a whole run"),
        (["restart", "w"], "names no run"),
        (["start", "absent"], "Cannot find workflow"),
        (["start", "absent", "-p", "x=1"], "Cannot find workflow"),
        (["stop", "absent/1"], "absent"),
        (["show", "absent/1"], "absent"),
        (["why", "absent/1"], "absent"),
        (["runs", "--db", "memory:"], "leave --database or --server out"),
        (["start", "w", "--user", "Jürgen"], "can not be sent"),
        (["start", "w", "--request-id", ""], "the request id is empty"),
        (["start", ""], "a name is empty"),
        (["start", "w", "--server", "localhost:1"], "it is given twice; keep one of them"),
    ],
)
def test_refusals(stretto: Any, arguments: list[str], said: str) -> None:
    result = stretto(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_nobody_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        result = called("why", "w/1", "--server", address, "--set", "client.answer_within=50ms")
    assert result.exit_code == 2
    assert "hint: look what keeps it busy, or wait longer: --set client.answer_within=2m" in result.stderr


def test_nobody_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    result = called("start", "w", "--server", f"127.0.0.1:{port}")
    assert result.exit_code == 2
    assert f"there is no server at http://127.0.0.1:{port}" in result.stderr
    assert "hint: start one with `stretto serve`, or name another: --server URL" in result.stderr
    result = called("start", "w", "--server", "ftp://x")
    assert result.exit_code == 2
    assert "not the address of a server" in result.stderr


# --------------------------------------------------------------------------------------------------- reading
def test_show_runs_why(stretto: Any, server: Served) -> None:
    name = fresh()
    server.push(name, LOOP, shell("bad", "exit 3"))
    stretto("start", name, "--wait")
    shown = stretto("show", f"{name}/1").stdout
    assert f"✗ {name}/1 FAILED" in shown
    assert "3 iterations" in shown
    assert "FATALLY_FAILED: exit code 3" in shown
    assert stretto("show", f"{name}/1/1:each[2]").stdout.startswith(f"✓ {name}/1:each[2] SUCCEEDED")
    step = stretto("show", f"{name}/1:bad").stdout
    assert step.startswith(f"✗ {name}/1:bad FATALLY_FAILED")
    assert {"run", "steps"} == as_json(stretto("show", f"{name}/1", "--json")).keys()
    lines = stretto("runs", "--workflow", name, "--status", "failed").stdout.splitlines()
    assert [line.split()[1:3] for line in lines] == [[f"{name}/1", "FAILED"]]
    none = stretto("runs", "--workflow", name, "--status", "stopped").stdout
    assert none == f"no runs that fit at {server.url}; `stretto start WORKFLOW` makes one\n"
    assert "has ended FAILED" in stretto("why", f"{name}/1").stdout
    assert "bad FATALLY_FAILED" in stretto("why", f"{name}/1:bad").stdout


def test_loops_that_did_not_go_well(stretto: Any, server: Served) -> None:
    name = fresh()
    loop = {**LOOP["foreach"], "steps": [shell("inner", "test $i != 8")]}
    inside = noop("inside")
    inside["step"]["params"] = {"n": {"expression": "n + 1", "type": "LONG"}}
    again = {
        "id": "again",
        "condition": "n < 2",
        "params": {"loop_params": {"type": "MAP", "value": {"n": {"value": 0, "type": "LONG"}}}},
        "steps": [inside],
    }
    server.push(name, {"foreach": loop}, {"while": again})
    stretto("start", name, "--wait")
    shown = stretto("show", f"{name}/1").stdout
    assert "3 iterations, not well: each[2]" in shown
    assert re.search(r"again +while .*iterations$", shown, re.MULTILINE)


def test_a_server_that_is_set(server: Served, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    name = fresh()
    server.push(name)
    server.start(name)
    server.ended(name)
    monkeypatch.setenv("STRETTO_CLIENT_SERVER", server.url)
    assert f"{name}/1 SUCCEEDED" in called("show", f"{name}/1").stdout
    assert told(called("start", name)) == [f"{name}/2, version 1: started"]
    assert called("show", f"{name}/1", "--db", "sqlite:///none.db").exit_code == 2
    monkeypatch.delenv("STRETTO_CLIENT_SERVER")
    (folder / "stretto.toml").write_text(f'[client]\nserver = "{server.url}"\n')
    assert f"{name}/1 SUCCEEDED" in called("show", f"{name}/1").stdout
    (folder / "stretto.toml").write_text("[client]\nserver = 8080\n")
    assert "`8080` is not the address of a server" in called("show", f"{name}/1").stderr


# ------------------------------------------------------------------------------------------------------ serve
def test_commands_to_try_are_called_as_this_one_was(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    def tried() -> str:
        tell_start("http://127.0.0.1:1", Place("memory://", Config(), ()), {"api"}, {"w": 1})
        return click.unstyle(capsys.readouterr().out)

    own = folder / "stretto"
    own.touch(mode=0o755)
    monkeypatch.setattr(sys, "argv", ["pytest"])
    assert "  stretto start w --follow --server http://127.0.0.1:1\n" in tried()
    monkeypatch.setattr(sys, "argv", [str(own)])
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    assert f"  {own} show w/1 --server http://127.0.0.1:1\n" in tried()
    monkeypatch.setattr(shutil, "which", lambda _name: str(own))
    assert "  stretto runs --server http://127.0.0.1:1\n" in tried()
