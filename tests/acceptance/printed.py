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

from stretto import Engine, Flow, RunFailed
from stretto.client import Client
from stretto.runtimes.python.values import decode

ENDS = {"SUCCEEDED", "FAILED", "TIMED_OUT", "STOPPED"}


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
        assert pushed.code == 0, pushed
        yield server


def end_on_the_server(server: Serving, flow: Flow[..., Any], params: Mapping[str, Any] = {}) -> End:
    """A run of what was pushed, started and read over HTTP."""
    with Client(server.url, user="ann") as client:
        run = client.start(flow.id, params=flow.encode(params))
        status = str(client.wait(run, within=PATIENCE).status)
        listed = client.steps(run)
    steps = {each.step_id: str(each.runtime_state.status) for each in listed}
    value = None
    if status == "SUCCEEDED" and flow.returns is not None:
        (last,) = (each for each in listed if each.step_id == flow.returns.step)
        shown = (last.params or {})[flow.returns.param].evaluated_result
        value = decode(shown, flow.returns.kind, Any, "the result")  # None may be in it
    return End(status, value, steps)


def end_in_process(flow: Flow[..., Any], params: Mapping[str, Any] = {}) -> End:
    """The same of a run of the function itself, by an engine in this process."""
    with Engine("memory").sync() as engine:
        run = engine.submit(flow, params=params)
        try:
            value = run.result(PATIENCE)
        except RunFailed:
            value = None
        steps = {name: str(each.status) for name, each in run.steps().items()}
        return End(str(run.status()), value, steps)


def why_on_the_server(server: Serving, flow: Flow[..., Any]) -> str:
    """What the server says of the newest run of a workflow."""
    (newest,) = server.get(f"/api/v3/workflows/{flow.id}/instances?first=1")["elements"]
    path = f"/api/v3/workflows/{flow.id}/instances/{newest['workflow_instance_id']}/why"
    return json.dumps(server.get(path))
