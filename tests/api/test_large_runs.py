"""Every GET, of a run of 5,000 steps and of a loop of 50,000 iterations: plans and slices are counted."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from tests.api.large_runs import BIG, LOOP, STEPS, Cost, fill, get_paths, measured
from tests.api.serving import Served, served

from stretto.api.routes import API
from stretto.api.routing import shown_path
from stretto.engine.records import RunKey

MOST_CALLS: Final = 25_000  # in one slice: some milliseconds
MOST_JSON: Final = 4_000_000  # bytes that one call writes
MOST_PLANS: Final = 2  # for one run
ENDLESS: Final = "/api/v3/events"
ANCESTOR: Final = {
    "workflow_id": LOOP,
    "instance_id": 1,
    "run_id": 1,
    "step_id": "each",
    "step_attempt_id": 1,
}
QUERIES: Final[dict[str, dict[str, Any]]] = {
    "/api/v3/workflows/{workflow_id}/versions/diff": {"from": 1, "to": "latest"},
    "/api/v3/workflows/{workflow_id}/versions/pagination": {"first": 10},
    "/api/v3/workflows/{workflow_id}/instances": {"first": 10},
    "/api/v3/workflows/{workflow_id}/instances/{instance_id}/runs": {"first": 10},
    "/api/v3/workflows/{workflow_id}/instances/{instance_id}/runs/{run}/resolve": {"path": ""},
    "/api/v3/views/flatten/workflows/{workflow_id}/instances/{instance_id}/runs/{run_id}/steps/{step_id}": {
        "first": 10
    },
    "/api/v3/search": {"q": "s1"},
    "/api/v3/workflows/steps/breakpoints": {"workflowId": BIG, "stepId": "s7"},
    "/api/v3/workflows/steps/breakpoints/paused-step-attempts": {"workflowId": BIG, "stepId": "s7"},
}
FLATTEN: Final = "/api/v3/views/flatten/"
PAGE: Final = (
    f"{FLATTEN}workflows/{{workflow_id}}/instances/{{instance_id}}/runs/{{run_id}}/steps/{{step_id}}"
)
QUERIES[PAGE] = {"first": 10}


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    with served(url=f"sqlite:///{tmp_path_factory.mktemp('large')}/large.db") as server:
        yield server, fill(server)


def values_for(workflow: str, step: str) -> dict[str, str]:
    """What stands for the names in a path. A route with another name needs a value here."""
    return {
        "workflow_id": workflow,
        "instance_id": "1",
        "instance": f"{workflow}:1",
        "run": "1",
        "run_id": "1",
        "version": "latest",
        "snapshot": "latest",
        "step_id": step,
        "attempt": "1",
        "attempt_id": "1",
        "iteration": "7",
        "key": "none",
        "tag": "none",
        "name": "none",
        "seq": "1",
        "job_type": "none",
        "job_id": "none",
    }


def subjects(path: str, inline: str) -> list[tuple[str, str]]:
    """The runs that a path is read of: workflow and step."""
    if "{workflow_id}" not in path and "{instance}" not in path:
        return [(BIG, "s7")]
    if path.startswith(FLATTEN):
        return [(LOOP, "inner")]
    return [(BIG, "s7"), (LOOP, "each"), (inline, "inner")]


@pytest.mark.parametrize("path", [each for each in get_paths() if each != ENDLESS])
def test_no_read_of_a_large_run_holds_the_loop(
    large: tuple[Served, str], monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    server, inline = large
    answered = []
    for workflow, step in subjects(path, inline):
        values = values_for(workflow, step)
        named = path.replace("{", "%(").replace("}", ")s") % values
        body = json.dumps([ANCESTOR]) if "inline-workflow-id" in path else None
        with measured(server, monkeypatch) as cost:
            answer = server.client.request(
                "GET",
                named,
                params=QUERIES.get(path, {}),
                content=body,
                headers={"content-type": "application/json"} if body else {},
            )
        answered.append(answer.status_code)
        check(cost, f"{named}: {answer.status_code}")
    assert max(answered) < 500
    if "{workflow_id}" in path and not path.endswith(("/content", "/inline-path")):
        assert 200 in answered


def check(cost: Cost, what: str) -> None:
    assert cost.plans <= MOST_PLANS, (what, cost)
    assert cost.most <= MOST_CALLS, (what, cost)
    assert cost.json <= MOST_JSON, (what, cost)


def test_the_events_of_a_large_run_are_written_in_slices(
    large: tuple[Served, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, _inline = large
    with (
        measured(server, monkeypatch) as cost,
        server.client.stream("GET", ENDLESS, params={"cursor": "", "topic": f"workflow:{BIG}"}) as answer,
    ):
        lines = answer.iter_lines()
        while not next(lines).startswith("event: hello"):
            pass
    check(cost, ENDLESS)


@pytest.mark.parametrize("form", ["application/json", "application/yaml"])
def test_a_push_of_a_large_definition_does_not_hold_the_loop(
    large: tuple[Served, str], monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    server, _inline = large
    kind = form.rpartition("/")[2]
    wanted = {"format": kind, "properties": "true"}
    source = server.client.get(f"/api/v3/workflows/{BIG}/versions/latest/source", params=wanted)
    text = source.text
    path = "/api/v3/workflows" if kind == "json" else "/api/v3/workflows/yaml"
    with measured(server, monkeypatch) as cost:
        answer = server.client.post(path, content=text, headers={"content-type": form})
    assert answer.status_code == 200, answer.text[:500]
    check(cost, path)


def test_a_check_of_a_large_text_does_not_hold_the_loop(
    large: tuple[Served, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, _inline = large
    text = server.client.get(f"/api/v3/workflows/{BIG}/versions/latest/source?properties=true").text
    with measured(server, monkeypatch) as cost:
        found = server.post("/definitions/check", {"text": text})
    assert found["valid"], found["problems"]
    check(cost, "a check")


def test_all_paths_are_those_of_the_server() -> None:
    """Who adds a route adds it here, too: the paths come from the routes themselves."""
    routed = {shown_path(path) for route in API if "GET" in route.http_methods for path in route.paths}
    assert routed <= set(get_paths())


def test_a_start_with_parameters_for_every_step_does_not_hold_the_loop(
    large: tuple[Served, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, _inline = large
    value = {"type": "STRING", "value": "another text"}
    body = {
        "initiator": {"type": "manual"},
        "step_run_params": {f"s{place}": {"x": value} for place in range(STEPS)},
    }
    path = f"/workflows/{BIG}/versions/1/actions/start"
    with measured(server, monkeypatch) as cost:
        made = server.post(path, body)
    check(cost, path)
    server.wait_for(RunKey(BIG, made["workflow_instance_id"], 1))
