"""What docs/explanation/differences.md says about rare input is what the server does."""

import json
from typing import Any

import pytest
from tests.api.serving import JSON, YAML, Served, noop


def loop(kind: str, loop_params: dict[str, Any], *steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    params = {"loop_params": {"type": "MAP", "value": loop_params}}
    return {kind: {"id": "each", "params": params, "steps": list(steps), **fields}}


ARRAY = {"i": {"type": "LONG_ARRAY", "value": [1, 2]}}
NUMBER = {"i": {"type": "LONG", "value": 1}}


def definition(*steps: dict[str, Any], **fields: Any) -> str:
    workflow = {"id": "rare", "steps": list(steps) or [noop("a")], **fields}
    return json.dumps({"properties": {"owner": "ann"}, "workflow": workflow})


def with_double(text: str) -> str:
    return definition(params={"d": {"type": "DOUBLE", "value": 12345}}).replace("12345", text)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(definition(loop("foreach", ARRAY)), "empty", id="foreach without steps"),
        pytest.param(definition(loop("while", NUMBER, condition="i < 2")), "empty", id="while without steps"),
        pytest.param(definition(loop("foreach", NUMBER, noop("a"))), "bad-param", id="foreach over a number"),
        pytest.param(
            definition().replace('"id"', '"id": "x", "id"', 1), "duplicate-key", id="same key twice"
        ),
        pytest.param(definition(description="a\0b"), "syntax", id="NUL"),
        pytest.param(with_double("NaN"), "out-of-range", id="NaN"),
        pytest.param(with_double("-Infinity"), "out-of-range", id="infinity"),
        pytest.param(with_double('"NaN"'), "out-of-range", id="NaN as a text"),
    ],
)
def test_a_rare_definition_is_refused(server: Served, body: str, code: str) -> None:
    found = server.client.post("/api/v3/workflows", content=body, headers=JSON)
    assert found.status_code == 400
    assert f"[{code}]" in found.json()["errors"][0]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("  id: rare\n", "duplicate-key"),
        ("other: 1\n", "unknown-field"),
        ("  mixed: [1, a]\n", "wrong-type"),
        ("  number: .nan\n", "out-of-range"),
    ],
)
def test_rare_yaml_is_refused(server: Served, text: str, code: str) -> None:
    begin = "workflow:\n  id: rare\n  owner: ann\n  jobs: [{job: {id: a, type: NoOp}}]\n"
    found = server.client.post("/api/v3/workflows/yaml", content=begin + text, headers=YAML)
    assert found.status_code == 400
    assert any(f"[{code}]" in each for each in found.json()["errors"])


def test_a_double_beyond_the_range_of_java_is_kept(server: Served) -> None:
    found = server.client.post("/api/v3/workflows", content=with_double("1e400"), headers=JSON)
    assert found.status_code == 200
    assert '"value":1E+400' in found.text


def test_keys_beside_the_workflow_are_metadata_in_json(server: Served) -> None:
    body = {"properties": {"owner": "ann"}, "workflow": {"id": "beside", "steps": [noop("a")]}, "other": 1}
    assert server.post("/workflows", body)["workflow_definition"]["metadata"]["other"] == 1


@pytest.mark.parametrize(
    "path",
    [
        *(f"/workflows/nosuch/actions/{each}" for each in ("stop", "kill", "unblock", "deactivate")),
        "/workflows/nosuch/versions/1/actions/activate",
        *(f"/workflows/nosuch/instances/1/actions/{each}" for each in ("stop", "kill", "unblock")),
        *(
            f"/workflows/nosuch/instances/1/steps/a/actions/{each}"
            for each in ("stop", "kill", "skip", "bypass")
        ),
    ],
)
def test_an_action_on_an_unknown_workflow_is_404(server: Served, path: str) -> None:
    assert server.put(path, 404)["status"] == "NOT_FOUND"


@pytest.mark.parametrize(
    "path",
    ["/instances/9/actions/stop", "/instances/1/steps/nosuch/actions/stop", "/instances/9/actions/unblock"],
)
def test_an_action_on_an_unknown_instance_or_step_is_404(server: Served, path: str) -> None:
    server.push("known")
    server.start("known")
    server.ended("known")
    assert server.put(f"/workflows/known{path}", 404)["status"] == "NOT_FOUND"


@pytest.mark.parametrize(
    "path", ["/instances?first=5", "/versions/pagination?first=5", "/instances/1/runs?first=5"]
)
def test_a_list_of_an_unknown_workflow_is_an_empty_page(server: Served, path: str) -> None:
    assert server.get(f"/workflows/nosuch{path}")["elements"] == []


def test_the_steps_of_what_is_not_there(server: Served) -> None:
    assert server.get("/workflows/nosuch/instances/1/steps") == []
    server.get("/workflows/nosuch/instances/1/runs/1/steps", 404)
