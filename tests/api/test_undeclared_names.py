"""A run that fails because nobody declares a name: the user's error with the way out, and one attempt."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.api.serving import Served, noop, served, shell

BACKOFF = {
    "type": "FIXED_BACKOFF",
    "error_retry_backoff_in_secs": 1,
    "platform_retry_backoff_in_secs": 1,
}
RETRIES = {"error_retry_limit": 3, "platform_retry_limit": 3, "backoff": BACKOFF}
HINT = "declare `f` as a parameter"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served() as made:
        yield made


def reading(step_id: str, expression: str) -> dict[str, Any]:
    step = noop(step_id)
    step["step"]["params"] = {"v": {"type": "LONG", "expression": expression}}
    return step


def announcing(step_id: str) -> dict[str, Any]:
    step = noop(step_id)
    step["step"]["signal_outputs"] = [{"name": "told", "params": {"v": {"type": "LONG", "expression": "f"}}}]
    return step


def branching(step_id: str) -> dict[str, Any]:
    step = noop(step_id)
    step["step"]["transition"] = {"successors": {"other": "f > 1"}}
    return step


CASES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "shell": ([shell("only", "for f in 1 2; do echo $f; done")], "for a shell variable write `$$f`"),
    "param": ([reading("only", "return f + 1;")], HINT),
    "signal": ([announcing("only")], HINT),
    "transition": ([branching("only"), noop("other")], HINT),
}


@pytest.mark.parametrize("semantics", [None, "STRETTO"])
@pytest.mark.parametrize("name", CASES)
def test_one_attempt_and_the_way_out(server: Served, name: str, semantics: str | None) -> None:
    steps, hint = CASES[name]
    for each in steps:
        each["step"]["retry_policy"] = RETRIES
    workflow_id = f"{name}-{semantics or 'maestro'}".lower()
    workflow = {"id": workflow_id, "steps": steps, **({"semantics": semantics} if semantics else {})}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})
    server.start(workflow_id)
    server.ended(workflow_id, status="FAILED")
    base = f"/workflows/{workflow_id}/instances/1/runs/1/steps/only"
    failed = server.get(f"{base}/attempts/1")
    assert hint in str(failed["timeline"])
    assert server.get(f"{base}/attempts/latest")["step_attempt_id"] == 1
    assert [each["step_attempt_id"] for each in server.get(f"{base}/attempts")] == [1]
