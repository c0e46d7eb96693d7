"""Python -> YAML -> push -> run: what a workflow means does not depend on where it runs."""

from typing import Any

import pytest
from tests.api.serving import YAML, Served

from stretto.flow import Flow, collect, either, foreach, on_failure, sleep, text, wait, when, workflow
from stretto.runtimes.python.values import JSON_TEXTS, decode


@workflow(owner="ann", run_strategy="PARALLEL")
def escalated() -> str:
    decision = wait(id="manager", returns=str, timeout="1 second")
    with on_failure(decision):
        later = wait(id="director", returns=str)
    return either(decision, later)


@workflow(owner="ann", run_strategy="PARALLEL")
def unanswered() -> None:
    wait(id="question", timeout="1 second")


@workflow(owner="ann", run_strategy="PARALLEL")
def not_evaluated(n: int) -> None:
    nap = sleep(1 // n, id="nap")
    with on_failure(nap):
        sleep(0, id="handled")


@workflow(owner="ann", run_strategy="PARALLEL")
def returned_errors() -> list[Any]:
    with foreach([1, 0]) as n:
        nap = sleep(n // n, id="nap")
        answer = wait(id="question", returns=str, timeout="1 second")
    return [collect(nap, errors="return"), collect(answer, errors="return")]


def pushed(server: Served, flow: Flow[..., Any], **params: Any) -> str:
    """A run of what was printed, pushed and started over HTTP: the path of its instance."""
    response = server.client.post("/api/v3/workflows/yaml", content=flow.to_yaml(), headers=YAML)
    assert response.status_code == 200, response.text
    asked = {name: {"type": "LONG", "value": value} for name, value in params.items()}
    instance = server.start(flow.id, run_params=asked)["workflow_instance_id"]
    return f"/workflows/{flow.id}/instances/{instance}"


def ended(server: Served, path: str) -> str:
    """How a run has ended, once it has."""
    bad = ("FAILED", "TIMED_OUT", "STOPPED")
    found = server.until(path, lambda found: found["status"] in {"SUCCEEDED", *bad})
    return str(found["status"])


def value(server: Served, path: str, flow: Flow[..., Any]) -> Any:
    """What a run has returned."""
    assert ended(server, path) == "SUCCEEDED"
    assert flow.returns is not None
    return server.get(f"{path}/steps/{flow.returns.step}")["params"][flow.returns.param]["evaluated_result"]


def test_a_question_that_nobody_answers_in_time_is_asked_of_another(server: Served) -> None:
    path = pushed(server, escalated)
    server.step_is("escalated", "director", "RUNNING")
    outputs = {"result": {"type": "STRING", "value": "yes"}}
    answer = {"approved": True, "outputs": outputs}
    server.post(f"{path}/runs/1/steps/director/attempts/1/callback", answer)
    assert value(server, path, escalated) == "yes"
    assert server.get(f"{path}/steps/manager")["runtime_state"]["status"] == "COMPLETED_WITH_ERROR"
    lines = server.get("/approvals?workflow=escalated&state=done")["elements"]
    states = {each["ref"]["step_id"]: each["state"] for each in lines}
    assert states == {"manager": "expired", "director": "approved"}


def test_a_run_whose_question_nobody_answers_has_failed(server: Served) -> None:
    path = pushed(server, unanswered)
    assert ended(server, path) == "FAILED"
    assert server.get(f"{path}/steps/question")["runtime_state"]["status"] == "TIMED_OUT"
    assert "step [question] is TIMED_OUT: timed out" in str(server.get(f"{path}/why"))
    with server.stranger() as client:
        (task,) = client.get("/api/v1/instances/unanswered:1/tasks").json()["data"]["items"]
    assert task["status"] == "TimeoutFailed"


@pytest.mark.parametrize(("n", "status"), [(2, "UNSATISFIED"), (0, "SUCCEEDED")])
def test_a_step_whose_parameters_can_not_be_evaluated_is_handled(server: Served, n: int, status: str) -> None:
    path = pushed(server, not_evaluated, n=n)
    assert ended(server, path) == "SUCCEEDED"
    assert server.get(f"{path}/steps/handled")["runtime_state"]["status"] == status


def test_the_same_definition_for_maestro_times_out(server: Served) -> None:
    text = (
        escalated.to_yaml().replace("semantics: STRETTO", "semantics: MAESTRO").replace("escalated", "strict")
    )
    assert server.client.post("/api/v3/workflows/yaml", content=text, headers=YAML).status_code == 200
    server.start("strict")
    assert ended(server, "/workflows/strict/instances/1") == "TIMED_OUT"


# --------------------------------------------------------------------------------------------- missing values
@workflow(owner="ann", run_strategy="PARALLEL")
def gathered() -> list[int]:
    with foreach([1, 2, 3]) as n:
        found = wait(id="ask", returns=int, prompt=text("part ", 6 // (n - 2)))
        with on_failure(found):
            sleep(0)
    return collect(found)


def test_an_iteration_that_failed_is_null(server: Served) -> None:
    path = pushed(server, gathered)
    open_ = "/approvals?workflow=gathered"
    for line in server.until(open_, lambda page: len(page["elements"]) == 2)["elements"]:
        ref = line["ref"]
        answer = {"approved": True, "outputs": {"result": {"type": "LONG", "value": 7}}}
        instance = f"/workflows/{ref['workflow_id']}/instances/{ref['workflow_instance_id']}"
        server.post(f"{instance}/runs/1/steps/ask/attempts/1/callback", answer)
    assert value(server, path, gathered) == [7, None, 7]


# -------------------------------------------------------------------------------------------------- numbers
@workflow(owner="ann", run_strategy="PARALLEL")
def squared(n: int) -> int:
    return n * n


@workflow(owner="ann", run_strategy="PARALLEL")
def branched(n: int) -> None:
    nap = sleep(0)
    with when(n * n > 0):
        sleep(0, id="positive").after(nap)


def test_numbers_are_exact_or_an_error(server: Served) -> None:
    assert value(server, pushed(server, squared, n=3_000_000_000), squared) == 9 * 10**18
    assert value(server, pushed(server, squared, n=4_000_000_000), squared) == 16 * 10**18
    assert ended(server, pushed(server, branched, n=4_000_000_000)) == "SUCCEEDED"
    for flow in (squared, branched):
        path = pushed(server, flow, n=10**3_000)
        assert ended(server, path) == "FAILED"
        assert "needs more than 4,000 digits" in str(server.get(f"{path}/why"))


def test_errors_of_items_are_values(server: Served) -> None:
    path = pushed(server, returned_errors)
    (naps, answers) = decode(value(server, path, returned_errors), JSON_TEXTS, Any, "result")
    at = "returned_errors/1:foreach"
    assert naps[0] is None
    assert (naps[1].type_name, naps[1].step) == ("StepFailed", f"{at}[2].nap")
    assert [(each.type_name, each.message, each.step) for each in answers] == [
        ("TimeoutError", "timed out", f"{at}[{number}].question") for number in (1, 2)
    ]
