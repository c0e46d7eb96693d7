"""Versions as text, as a form, and compared."""

import json
from typing import Any

import jsonschema_rs
import pytest
from tests.api.serving import YAML, Served, noop, sleep

from stretto.definition import parse

PARAMS = {
    "region": {"type": "STRING", "value": "eu"},
    "fixed": {"type": "LONG", "value": 1, "mode": "CONSTANT"},
}


def push(server: Served, workflow_id: str, *steps: dict[str, Any], **properties: Any) -> None:
    workflow = {"id": workflow_id, "params": PARAMS, "steps": list(steps)}
    server.post("/workflows", {"properties": properties, "workflow": workflow, "git_info": {"sha": "3f2a1c"}})


@pytest.fixture(scope="module", autouse=True)
def two(server: Served) -> None:
    push(server, "two", noop("a", "b"), noop("b"), owner="ann")
    push(server, "two", noop("a", "c"), sleep("c", 5), owner="ann", description="second")


# ------------------------------------------------------------------------------------------------- source
def test_the_text_of_a_version(server: Served) -> None:
    response = server.client.get("/api/v3/workflows/two/versions/1/source")
    assert response.headers["content-type"].startswith("application/yaml")
    read = parse(response.text)
    assert [step.id for step in read.workflow.steps] == ["a", "b"]
    assert read.properties is None
    assert read.git_info is not None
    as_json = server.client.get("/api/v3/workflows/two/versions/1/source?format=JSON")
    assert as_json.headers["content-type"] == "application/json"
    assert parse(as_json.text) == read
    whole = server.client.get("/api/v3/workflows/two/versions/latest/source?properties=true").text
    properties = parse(whole).properties
    assert properties is not None
    assert properties.description == "second"


def test_the_text_can_be_pushed_again(server: Served) -> None:
    """It is the same version, and the properties stay as they are."""
    push(server, "again", noop("a"), owner="ann", run_strategy="PARALLEL")
    for form, path, kind in (("json", "", "application/json"), ("yaml", "/yaml", YAML["content-type"])):
        text = server.client.get(f"/api/v3/workflows/again/versions/1/source?format={form}").text
        headers = {"content-type": kind}
        made = server.client.post(f"/api/v3/workflows{path}", content=text, headers=headers)
        assert made.status_code == 200, made.text
    (newest, *_rest, oldest) = server.get("/workflows/again/versions/pagination?first=9")["elements"]
    assert newest["workflow"] == oldest["workflow"]
    assert newest["properties_snapshot"]["run_strategy"]["rule"] == "PARALLEL"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("two/versions/1/source?format=xml", 400),
        ("two/versions/9/source", 404),
        ("two/versions/x/form", 400),
        ("nobody/versions/1/form", 404),
        ("two/versions/diff", 400),
        ("two/versions/diff?from=9", 404),
        ("two/versions/diff?from=1&to=0", 400),
        ("nobody/versions/diff?from=1&to=2", 404),
    ],
)
def test_wrong_requests(server: Served, path: str, status: int) -> None:
    server.get(f"/workflows/{path}", status)


# --------------------------------------------------------------------------------------------------- form
def test_the_form_of_a_start(server: Served) -> None:
    schema = server.get("/workflows/two/versions/active/form")
    assert schema["title"] == "Parameters of [two][2]"
    form = jsonschema_rs.Draft202012Validator(schema)
    good = {"region": {"type": "STRING", "value": "us"}}
    bad = {"fixed": {"type": "LONG", "value": 2}}
    assert form.is_valid(good)
    assert not form.is_valid(bad)
    path = "/workflows/two/versions/active/actions/start"
    server.post(path, {"initiator": {"type": "manual"}, "run_params": good})
    server.post(path, {"initiator": {"type": "manual"}, "run_params": bad}, 400)
    server.put("/workflows/two/actions/kill", 202)


# --------------------------------------------------------------------------------------------------- diff
def test_two_versions_compared(server: Served) -> None:
    found = server.get("/workflows/two/versions/diff?from=1&to=2")
    assert (found["before"]["workflow_version_id"], found["after"]["workflow_version_id"]) == (1, 2)
    assert found["after"]["version_author"] == "ann"
    assert [(each["change"], each["step_id"]) for each in found["steps"]] == [
        ("REMOVED", "b"),
        ("ADDED", "c"),
    ]
    assert [(each["change"], each["source"], each["target"]) for each in found["edges"]] == [
        ("REMOVED", "a", "b"),
        ("ADDED", "a", "c"),
    ]
    assert found["properties"] == [{"change": "ADDED", "path": "description", "after": "second"}]
    assert found["text"].startswith("--- version 1\n+++ version 2\n@@ ")
    assert "\n+  description: second\n" in found["text"]
    back = server.get("/workflows/two/versions/diff?from=2&to=1")
    assert [each["change"] for each in back["properties"]] == ["REMOVED"]


def test_the_same_version_twice(server: Served) -> None:
    found = server.get("/workflows/two/versions/diff?from=latest")
    assert json.dumps(found["steps"] + found["edges"] + found["params"] + found["properties"]) == "[]"
    assert found["text"] == ""
