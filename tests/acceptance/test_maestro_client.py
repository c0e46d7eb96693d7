"""The published Python client of Maestro against a real server: every call, every command of its own."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from maestro import Foreach, Job, MaestroClient, Subworkflow, While, Workflow
from tests.acceptance.processes import PATIENCE, until
from tests.acceptance.serving import Serving

CLI = Path(__file__).with_name("maestro_cli.py")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(folder=tmp_path_factory.mktemp("served")) as made:
        yield made
        assert made.stopped()[0] == 0


@pytest.fixture(scope="module")
def client(server: Serving) -> MaestroClient:
    return MaestroClient(base_url=server.url, user="tester")


def workflow(workflow_id: str, *jobs: Any) -> Workflow:
    made = Workflow(id=workflow_id).owner("tester").tags("test").run_strategy("parallel")
    return made.jobs(*(jobs or (Job(id="job1", type="NoOp"),)))


def sleeping(workflow_id: str) -> Workflow:
    return workflow(workflow_id, Job(id="nap", type="Sleep").param("sleep_seconds", 3_600))


def ended(client: MaestroClient, workflow_id: str, status: str = "SUCCEEDED", instance: int = 1) -> Any:
    def is_so() -> bool:
        return bool(client.get_instance(workflow_id, instance).get("status") == status)

    until(is_so, f"{workflow_id} ended {status}")
    return client.get_instance(workflow_id, instance)


def runs(client: MaestroClient, workflow_id: str, step_id: str, instance: int = 1) -> None:
    def is_so() -> bool:
        found = client.get_instance(workflow_id, instance, step_id=step_id)
        return bool(found.get("runtime_state", {}).get("status") == "RUNNING")

    until(is_so, f"{workflow_id} runs {step_id}")


# ------------------------------------------------------------------------------------------------ the client
def test_push_validate_and_read(client: MaestroClient, tmp_path: Path) -> None:
    text = workflow("pushed").to_yaml()
    file = tmp_path / "pushed.yaml"
    file.write_text(text)
    assert client.validate(file)["action"] == "VALIDATE"
    assert client.validate_yaml(text)["type"] == "ACTION"
    made = client.push(file)["workflow_definition"]
    assert made["metadata"]["workflow_version_id"] == 1
    again = client.push_yaml(text)["workflow_definition"]
    assert again["metadata"]["workflow_version_id"] == 2
    assert again["metadata"]["version_author"] == "tester"
    assert client.get_workflow("pushed")["metadata"]["workflow_version_id"] == 2
    assert client.get_workflow("pushed", version="1")["metadata"]["workflow_version_id"] == 1
    assert "enriched_extras" in client.get_workflow("pushed", version="latest", enriched=True)
    assert client.get_workflow("nobody")["status"] == "NOT_FOUND"


def test_what_is_wrong_comes_back_as_maestro_says_it(client: MaestroClient) -> None:
    found = client.push_yaml("workflow: {id: bad, owner: t, jobs: [{job: {id: a, type: Magic}}]}")
    assert found["status"] == "BAD_REQUEST"
    assert found["errors"]
    assert client.start("nobody")["status"] == "NOT_FOUND"
    assert client.stop("nobody", 1)["status"] == "NOT_FOUND"
    assert client.get_instance("nobody", 1)["status"] == "NOT_FOUND"


def test_start_and_read(client: MaestroClient) -> None:
    wf = workflow("started").param("foo", "plain").param_expr("bar", "foo + '!'")
    client.push_yaml(wf.to_yaml())
    made = client.start("started")
    assert (made["status"], made["workflow_instance_id"], made["workflow_run_id"]) == ("CREATED", 1, 1)
    found = ended(client, "started")
    assert found["params"]["bar"]["evaluated_result"] == "plain!"
    params = {"foo": {"value": "given", "type": "STRING"}}
    client.start("started", version="1", initiator={"type": "manual"}, run_params=params)
    assert ended(client, "started", instance=2)["params"]["bar"]["evaluated_result"] == "given!"
    assert client.get_instance("started", 1, run_id=1)["workflow_run_id"] == 1
    assert client.get_instance("started", 1, step_id="job1")["step_attempt_id"] == 1
    step = client.get_instance("started", 1, run_id=1, step_id="job1", attempt_id=1)
    assert step["runtime_state"]["status"] == "SUCCEEDED"


def test_stop_a_step_an_instance_and_all_of_them(client: MaestroClient) -> None:
    client.push_yaml(sleeping("stopped").to_yaml())
    for instance in (1, 2, 3):
        client.start("stopped")
        runs(client, "stopped", "nap", instance)
    assert client.stop("stopped", 1, "nap")["step_runtime_state"]["status"] == "STOPPED"
    ended(client, "stopped", "STOPPED", 1)
    assert client.stop("stopped", 2)["completed"] is False
    ended(client, "stopped", "STOPPED", 2)
    assert client.stop("stopped")["action"] == "STOP"
    ended(client, "stopped", "STOPPED", 3)


COUNTING = Job(id="inner", type="NoOp").param("!n<long>", "n + 1")
SHAPES: dict[str, Callable[[], Any]] = {
    "foreach": lambda: Foreach(id="f").loop_param("i", [1, 2, 3]).job(Job(id="inner", type="NoOp")),
    "while": lambda: While(id="w").condition("n < 2").loop_param("n", 0).job(COUNTING),
    "subworkflow": lambda: Subworkflow(id="s").workflow_id("a-child").version("latest"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_kind_of_job_of_its_language_runs(client: MaestroClient, shape: str) -> None:
    client.push_yaml(workflow("a-child").to_yaml())
    made = client.push_yaml(workflow(f"a-{shape}", SHAPES[shape]()).to_yaml())
    assert "workflow_definition" in made, made
    client.start(f"a-{shape}")
    ended(client, f"a-{shape}")


# ----------------------------------------------------------------------------------------- its command line
def command(server: Serving, *arguments: str | Path) -> str:
    done = subprocess.run(  # noqa: S603 - the published command
        [sys.executable, CLI, "--base-url", server.url, "--user", "typist", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def answer(server: Serving, *arguments: str | Path) -> Any:
    return json.loads(command(server, *arguments))


def test_every_command(server: Serving, client: MaestroClient, tmp_path: Path) -> None:
    file = tmp_path / "typed.yaml"
    workflow("typed").param("foo", "x").to_yaml(file)
    assert answer(server, "validate", file)["author"] == "typist"
    assert answer(server, "push", file)["workflow_definition"]["is_latest"] is True
    assert answer(server, "get-workflow", "typed", "--version", "1")["workflow"]["id"] == "typed"
    params = json.dumps({"foo": {"value": "y", "type": "STRING"}})
    initiator = json.dumps({"type": "manual"})
    begun = answer(
        server, "start", "typed", "--version", "latest", "--initiator", initiator, "--params", params
    )
    assert begun["workflow_instance_id"] == 1
    watched = command(server, "watch", "typed", "1", "--poll-interval", "1")
    assert "completed with status [SUCCEEDED]" in watched
    assert "job1 -> SUCCEEDED" in watched
    assert answer(server, "get-instance", "typed", "1")["params"]["foo"]["evaluated_result"] == "y"
    assert answer(server, "get-instance", "typed", "1", "--run-id", "1")["workflow_run_id"] == 1
    assert answer(server, "get-instance", "typed", "1", "job1")["step_id"] == "job1"
    one = answer(server, "get-instance", "typed", "1", "job1", "--run-id", "1", "--attempt-id", "1")
    assert one["step_attempt_id"] == 1
    assert "not found" in command(server, "watch", "typed", "99")
    client.push_yaml(sleeping("typed-nap").to_yaml())
    client.start("typed-nap")
    runs(client, "typed-nap", "nap")
    assert answer(server, "stop", "typed-nap", "1", "nap")["step_id"] == "nap"
    ended(client, "typed-nap", "STOPPED")
    assert answer(server, "stop", "typed-nap", "1")["completed"] is True
    assert answer(server, "stop", "typed-nap")["action"] == "STOP"
