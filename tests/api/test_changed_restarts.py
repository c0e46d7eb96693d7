"""A restart that changes a parameter which nothing reads again is refused, on every surface."""

from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner
from tests.api.serving import Served, noop, shell

from stretto.actions.caller import Caller
from stretto.actions.restart import restart
from stretto.cli.main import cli
from stretto.client import Client
from stretto.model.errors import InvalidRequest
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.request import InstanceRestartRequest
from stretto.model.run_config import RunPolicy
from stretto.model.user import User

SAID = "its new value has no effect"
CHANGED = {"n": {"type": "LONG", "value": 7}}
PATH = "/workflows/{}/instances/1"
Restart = Callable[[Served, str], str]


def failed(server: Served, name: str) -> None:
    """A step that reads `n` has succeeded, and one that does not has failed."""
    steps = [shell("reads", "echo $n", "fails"), shell("fails", "exit 3", "behind"), noop("behind")]
    workflow = {
        "id": name,
        "semantics": "STRETTO",
        "params": {"n": {"type": "LONG", "value": 1}},
        "steps": steps,
    }
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})
    server.start(name)
    server.ended(name, status="FAILED")


def over_http(server: Served, name: str) -> str:
    body = {"restart_policy": "RESTART_FROM_INCOMPLETE", "run_params": CHANGED}
    return str(server.post(f"{PATH.format(name)}/actions/restart", body, 400))


def of_a_step_over_http(server: Served, name: str) -> str:
    body = {"restart_policy": "RESTART_FROM_INCOMPLETE", "run_params": CHANGED}
    return str(server.post(f"{PATH.format(name)}/steps/fails/actions/restart", body, 400))


def by_the_client(server: Served, name: str) -> str:
    with Client(server.url, user="ann") as client, pytest.raises(InvalidRequest) as refused:
        client.restart(f"{name}/1", params={"n": 7})
    return str(refused.value)


def by_the_client_from_a_step(server: Served, name: str) -> str:
    with Client(server.url, user="ann") as client, pytest.raises(InvalidRequest) as refused:
        client.restart_step(f"{name}/1", "fails", run_params={"n": 7})
    return str(refused.value)


def on_the_command_line(server: Served, name: str) -> str:
    result = CliRunner().invoke(cli, ["restart", f"{name}/1", "-p", "n=7", "--server", server.url])
    assert result.exit_code == 2, result.output
    return result.output


def on_the_command_line_from_a_step(server: Served, name: str) -> str:
    words = ["restart", f"{name}/1", "--from", "fails", "-p", "n=7", "--server", server.url]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 2, result.output
    return result.output


def in_the_process(server: Served, name: str) -> str:
    """As an `Engine` does it."""
    request = InstanceRestartRequest(
        restart_policy=RunPolicy.RESTART_FROM_INCOMPLETE,
        run_params={"n": ParamDefinition(type=ParamType.LONG, value=7)},
    )
    caller = Caller(user=User(name="ann"))
    with pytest.raises(InvalidRequest) as refused:
        server.run(restart(server.app.store, caller, name, 1, request))
    return str(refused.value)


SURFACES: tuple[Restart, ...] = (
    over_http,
    of_a_step_over_http,
    by_the_client,
    by_the_client_from_a_step,
    on_the_command_line,
    on_the_command_line_from_a_step,
    in_the_process,
)


@pytest.mark.parametrize("surface", SURFACES)
def test_a_change_that_nothing_reads_is_refused(server: Served, surface: Restart) -> None:
    name = surface.__name__
    failed(server, name)
    assert SAID in " ".join(surface(server, name).split())
    runs: Any = server.get(f"{PATH.format(name)}/runs/latest")
    assert runs["workflow_run_id"] == 1


def test_a_change_that_something_reads_again_is_obeyed(server: Served) -> None:
    failed(server, "obeyed")
    body = {"restart_policy": "RESTART_FROM_BEGINNING", "run_params": CHANGED}
    server.post(f"{PATH.format('obeyed')}/actions/restart", body)
    found = server.until(PATH.format("obeyed"), lambda each: each["workflow_run_id"] == 2)
    assert found["params"]["n"]["evaluated_result"] == 7
