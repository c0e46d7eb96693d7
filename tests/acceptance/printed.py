"""Workflows in Python, printed as YAML and pushed to a server: how runs end there, and in process."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from tests.acceptance.command import stretto
from tests.acceptance.processes import PATIENCE
from tests.acceptance.serving import Serving

from stretto import Engine, Flow
from stretto.client import Client
from stretto.runtimes.python.values import decode

Starts = Mapping[Flow[..., Any], Mapping[str, Any]]  # workflows with their parameters
NO_PARAMS: Mapping[str, Any] = {}


class End(NamedTuple):
    """How a run ended: its status, its value, the statuses of its steps."""

    status: str
    value: Any
    steps: dict[str, str]


@contextmanager
def printed_on_a_server(module: ModuleType, folder: Path) -> Iterator[Serving]:
    """A server that has the code of a module, and its workflows from their YAML alone."""
    assert module.__file__ is not None
    text = stretto("convert", module.__file__, "--to", "yaml")
    assert text.code == 0, text
    (folder / "printed.yaml").write_text(text.out)
    with Serving("--app", module.__file__, folder=folder) as server:
        pushed = stretto("push", folder / "printed.yaml", "--server", server.url)
        assert (pushed.code, "warning" in pushed.err) == (0, False), pushed
        yield server


def end_on_the_server(server: Serving, flow: Flow[..., Any], params: Mapping[str, Any] = NO_PARAMS) -> End:
    """A run of what was pushed, started and read over HTTP."""
    return ends_on_the_server(server, {flow: params})[flow.id]


def ends_on_the_server(server: Serving, starts: Starts) -> dict[str, End]:
    """The same of several runs that go on at once."""
    with Client(server.url, user="ann") as client:
        runs = {flow: client.start(flow.id, params=flow.encode(params)) for flow, params in starts.items()}
        return {flow.id: _end(client, flow, run) for flow, run in runs.items()}


def _end(client: Client, flow: Flow[..., Any], run: Any) -> End:
    status = str(client.wait(run, within=PATIENCE).status)
    listed = {each.step_id: each for each in client.steps(run)}
    value = None
    if status == "SUCCEEDED" and flow.returns is not None:
        param = (listed[flow.returns.step].params or {})[flow.returns.param]
        value = decode(param.evaluated_result, flow.returns.kind, Any, "the result")  # None may be in it
    return End(status, value, {name: str(each.runtime_state.status) for name, each in listed.items()})


def end_in_process(flow: Flow[..., Any], params: Mapping[str, Any] = NO_PARAMS) -> End:
    """A run of the function itself, by an engine in this process."""
    return ends_in_process({flow: params})[flow.id]


def ends_in_process(starts: Starts) -> dict[str, End]:
    """The same of several runs that go on at once."""
    with Engine("memory").sync() as engine:
        runs = {flow.id: engine.submit(flow, params=params) for flow, params in starts.items()}
        found = {name: run.wait(PATIENCE) for name, run in runs.items()}
    return {
        name: End(
            str(each.status), each.value, {step: str(found.status) for step, found in each.steps.items()}
        )
        for name, each in found.items()
    }


def why_on_the_server(server: Serving, flow: Flow[..., Any]) -> str:
    """What the server says of the newest run of a workflow."""
    (newest,) = server.get(f"/api/v3/workflows/{flow.id}/instances?first=1")["elements"]
    path = f"/api/v3/workflows/{flow.id}/instances/{newest['workflow_instance_id']}/why"
    return json.dumps(server.get(path))
