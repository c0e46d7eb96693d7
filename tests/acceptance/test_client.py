"""A client whose server dies and comes back: it goes on, and hears of everything once."""

import signal
import threading
from pathlib import Path

import pytest
from tests.acceptance.processes import PATIENCE, until
from tests.acceptance.serving import Serving
from tests.ports.mariadb_server import free_port

from stretto.client import Changed, Client, Retries
from stretto.model.event import InstanceStatusChanged, StepStatusChanged
from stretto.model.instance import WorkflowInstance
from stretto.model.status import InstanceStatus

WORKFLOW = """
workflow:
  id: w
  owner: ann
  run_strategy: parallel
  jobs:
    - job: {id: a, type: NoOp, transition: [b]}
    - job: {id: b, type: Sleep, sleep_seconds: 3, transition: [c]}
    - job: {id: c, type: NoOp}
"""
PATIENT = Retries(tries=60, first=0.2, longest=0.5)


@pytest.mark.timeout(300)  # three processes, and a lease that has to run out
def test_a_server_that_dies_and_comes_back(tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_text(WORKFLOW)
    port = str(free_port())
    told: list[Changed] = []
    ended: list[WorkflowInstance] = []

    with Client(f"127.0.0.1:{port}", user="ann", retries=PATIENT) as client:

        def follow() -> None:
            told.extend(each for each in client.follow_run(run, cursor=cursor) if isinstance(each, Changed))

        with Serving("--port", port, "--load", "w.yaml", folder=tmp_path) as server:
            cursor = client.cursor()
            run = client.start("w")
            threads = [
                threading.Thread(target=follow),
                threading.Thread(target=lambda: ended.append(client.wait(run))),
            ]
            for each in threads:
                each.start()
            until(lambda: {"b"} <= {step.step_id for step in client.steps(run)}, "the step began")
            server.send(signal.SIGKILL)
            server.process.wait()
        with Serving("--port", port, folder=tmp_path) as server:
            for each in threads:
                each.join(PATIENCE)
            assert client.health().is_up
            assert server.stopped()[0] == 0
    assert [each.status for each in ended] == [InstanceStatus.SUCCEEDED]
    moves = [
        (event.step_id, change.new_status.value)
        for each in told
        for event in each.events
        if isinstance(event, StepStatusChanged)
        for change in event.status_change_records
    ]
    assert len(set(moves)) == len(moves)
    assert [step for step, status in moves if status == "SUCCEEDED"] == ["a", "b", "c"]
    runs = [
        event.new_status for each in told for event in each.events if isinstance(event, InstanceStatusChanged)
    ]
    assert runs[-1] is InstanceStatus.SUCCEEDED
    assert len({each.cursor for each in told}) == len(told)
