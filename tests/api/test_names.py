"""Workflows, steps and templates may be called as the words of paths are."""

import re

import pytest
from tests.api.serving import JSON, YAML, Served, sleep

from stretto.api.routes import ALL
from stretto.api.routing import shown_path

PATHS = sorted({shown_path(path) for route in ALL for path in route.paths})
WORDS = sorted({word for path in PATHS for word in path.split("/") if re.fullmatch(r"[a-z][a-z0-9-]*", word)})


def test_there_are_words() -> None:
    assert {"steps", "yaml", "instances", "actions", "versions", "action-map"} <= set(WORDS)


@pytest.mark.parametrize("word", WORDS)
def test_a_workflow_and_its_step_are_called_so(server: Served, word: str) -> None:
    server.push(word, sleep(word))
    assert server.start(word)["workflow_instance_id"] == 1
    here = f"/workflows/{word}"
    run = f"{here}/instances/1/runs/1"
    server.step_is(word, word, "RUNNING")
    for path in (f"{here}/overview", f"{here}/versions/1", f"{here}/instances/1", run, f"{run}/state"):
        assert server.get(path)
    assert server.get(f"{here}/instances?first=5")["elements"][0]["workflow_id"] == word
    assert len(server.get(f"{run}/steps/{word}/attempts")) == 1
    assert server.get(f"{here}/instances/1/why")["status"] == "IN_PROGRESS"
    server.put(f"{here}/instances/1/actions/stop")
    server.ended(word, status="STOPPED")
    server.put(f"{here}/actions/unblock")
    server.delete(here)
    server.get(f"{here}/overview", 404)


def test_a_template_is_called_so(server: Served) -> None:
    text = (
        "{owner: a, status: x, support: y, definition: {job_type: yaml, step_type: NoOp, version: default}}"
    )
    made = server.client.post("/api/v3/job-templates/yaml", content=text, headers=YAML)
    assert made.status_code == 200
    assert server.get("/job-templates/yaml")["definition"]["job_type"] == "yaml"
    server.delete("/job-templates/yaml")
    server.get("/job-templates/yaml", 404)


@pytest.mark.parametrize(
    "path",
    [
        "/workflows/jaml",
        "/job-templates/jaml",
        "/workflows/step/breakpoints/w/instances/1/runs/1/steps/a/attempts/1/actions/resume",
    ],
)
def test_another_word_is_no_address(server: Served, path: str) -> None:
    refused = server.client.post(f"/api/v3{path}", content="{}", headers=JSON)
    assert (refused.status_code, refused.json()["title"]) == (404, "Not Found")
