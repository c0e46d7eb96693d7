"""Parameters of 25,000 x 25,000 passes in starts over HTTP, and in children of runs: refused at once."""

from collections.abc import Iterator

import pytest
from tests.api.serving import Served, noop
from tests.unit.actions.test_trials import LOOPS

from stretto.runtimes.expressions.pool import Pool

COSTLY = {"type": "LONG", "expression": LOOPS}
WAY_OUT = "compute it in a step"


@pytest.fixture(autouse=True)
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No process is ever asked to evaluate such a parameter."""
    asked: list[object] = []

    async def evaluate(_pool: Pool, question: object) -> None:
        asked.append(question)
        raise AssertionError(question)

    monkeypatch.setattr(Pool, "evaluate", evaluate)
    yield
    assert asked == []


def test_a_start_with_such_a_parameter_is_refused(server: Served) -> None:
    server.push("costly-given")
    body = {"initiator": {"type": "manual"}, "run_params": {"n": COSTLY}}
    answer = server.post("/workflows/costly-given/versions/latest/actions/start", body, 400)
    assert WAY_OUT in str(answer)


def test_so_is_the_start_of_a_workflow_that_declares_it(server: Served) -> None:
    workflow = {"id": "costly-declared", "params": {"n": COSTLY}, "steps": [noop("a")]}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})
    body = {"initiator": {"type": "manual"}}
    answer = server.post("/workflows/costly-declared/versions/latest/actions/start", body, 400)
    assert WAY_OUT in str(answer)
    answer = server.client.post("/api/v1/workflows/costly-declared/execute", json={})
    assert (answer.status_code, WAY_OUT in answer.text) == (400, True)


def test_a_child_that_declares_it_fails_the_step_that_starts_it(server: Served) -> None:
    child = {"id": "costly-child", "params": {"n": COSTLY}, "steps": [noop("a")]}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": child})
    sub = {
        "subworkflow": {
            "id": "sub",
            "params": {
                "subworkflow_id": {"value": "costly-child", "type": "STRING"},
                "subworkflow_version": {"value": "latest", "type": "STRING"},
            },
        }
    }
    server.push("costly-parent", sub)
    server.start("costly-parent")
    server.ended("costly-parent", status="FAILED")
    step = server.get("/workflows/costly-parent/instances/1/steps/sub")
    assert WAY_OUT in str(step["timeline"])
