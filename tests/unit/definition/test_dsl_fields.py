"""Maestro's YAML with fields of the model: keys with a `+`, which no parameter can have."""

from typing import Any

import pytest

from stretto.definition import check, parse
from stretto.definition.parse import Options
from stretto.definition.printing import to_value
from stretto.model.problem import Code

FULL = """
workflow:
  id: nightly
  +cron: 0 6 * * *
  +timezone: Europe/Berlin
  +signal_triggers: [{definitions: {go: {}}}]
  retry: a parameter
  jobs:
    - job:
        id: load
        type: NoOp
        rows: 1
        +retry: 3
        +signal_outputs: [{name: loaded, params: {rows: {expression: rows, type: LONG}}}]
        transition: [each]
    - foreach:
        id: each
        ranges: {i: {to: 3}}
        +signal_dependencies: [{name: go}]
        jobs: [{job: {id: in, type: NoOp, +retry_policy: {timeout_retry_limit: 2}}}]
"""


def workflow(text: str) -> dict[str, Any]:
    made: dict[str, Any] = to_value(parse(text))["workflow"]
    return made


def problems(more: str, place: str = "job") -> list[tuple[str, str, int | None]]:
    """Code, path and line of each, where `more` stands in line 3 of a workflow or in line 6 of a job."""
    own, job = (more, "") if place == "workflow" else ("name: n", more)
    job = f"\n        {job}" if job else ""
    text = f"workflow:\n  id: w\n  {own}\n  jobs:\n    - job:\n        id: a{job}\n        type: NoOp\n"
    return [(each.code, each.path, each.line) for each in check(text).problems]


def test_triggers_retries_and_signals() -> None:
    made = workflow(FULL)
    assert made["time_triggers"] == [{"type": "CRON", "cron": "0 6 * * *", "timezone": "Europe/Berlin"}]
    assert made["signal_triggers"] == [{"definitions": {"go": {}}}]
    assert list(made["params"]) == ["retry"]
    load, each = made["steps"][0]["step"], made["steps"][1]["foreach"]
    assert (load["retry_policy"], list(load["params"])) == ({"error_retry_limit": 3}, ["rows"])
    assert load["signal_outputs"][0]["name"] == "loaded"
    assert each["signal_dependencies"] == [{"name": "go"}]
    assert each["steps"][0]["step"]["retry_policy"] == {"timeout_retry_limit": 2}


def test_a_cron_without_a_zone_and_a_null() -> None:
    job = "{id: a, type: NoOp, +retry: null}"
    text = f"workflow: {{id: w, +cron: 0 6 * * *, +signal_triggers: null, jobs: [{{job: {job}}}]}}"
    made = workflow(text)
    assert made["time_triggers"] == [{"type": "CRON", "cron": "0 6 * * *"}]
    assert "signal_triggers" not in made
    assert "retry_policy" not in made["steps"][0]["step"]


def test_retries_may_be_a_text() -> None:
    text = "workflow: {id: w, tries: 2, jobs: [{job: {id: a, type: NoOp, +retry: '${tries}'}}]}"
    assert workflow(text)["steps"][0]["step"]["retry_policy"] == {"error_retry_limit": "${tries}"}


@pytest.mark.parametrize(
    ("place", "more", "code", "path"),
    [
        ("job", "+retrys: 3", Code.UNKNOWN_FIELD, 'workflow.jobs[0].job["+retrys"]'),
        ("job", "+retry: [3]", Code.WRONG_TYPE, 'workflow.jobs[0].job["+retry"]'),
        ("job", "+cron: 0 6 * * *", Code.UNKNOWN_FIELD, 'workflow.jobs[0].job["+cron"]'),
        ("job", "+retry_policy: {limit: 3}", Code.UNKNOWN_FIELD, "workflow.steps[0].step.retry_policy.limit"),
        ("workflow", "+retry: 3", Code.UNKNOWN_FIELD, 'workflow["+retry"]'),
        ("workflow", "+cron: never", Code.BAD_CRON, "workflow.time_triggers[0].cron"),
        ("workflow", "+timezone: UTC", Code.MISSING_FIELD, 'workflow["+timezone"]'),
        (
            "workflow",
            "+signal_triggers: [{definitions: {}}]",
            Code.EMPTY,
            "workflow.signal_triggers[0].definitions",
        ),
    ],
)
def test_what_is_wrong_has_its_place(place: str, more: str, code: str, path: str) -> None:
    assert problems(more, place) == [(code, path, 3 if place == "workflow" else 7)]


@pytest.mark.parametrize(
    ("place", "more"),
    [
        ("job", "+retry: 3\n        +retry_policy: {error_retry_limit: 3}"),
        ("workflow", "+cron: 0 6 * * *\n  +time_triggers: [{type: CRON, cron: 0 7 * * *}]"),
    ],
)
def test_a_field_in_two_ways(place: str, more: str) -> None:
    assert [code for code, _path, _line in problems(more, place)] == [Code.CONFLICT]


def test_a_subworkflow_has_no_retries() -> None:
    text = "workflow: {id: w, jobs: [{subworkflow: {id: a, workflow_id: b, +retry: 3}}]}"
    (problem,) = check(text).problems
    assert (problem.code, problem.hint) == (
        Code.UNKNOWN_FIELD,
        "one of +signal_dependencies, +signal_outputs",
    )


@pytest.mark.parametrize(("key", "hint"), [("retry_policy", "+retry_policy"), ("retries", "+retry")])
def test_a_warning_shows_the_way(key: str, hint: str) -> None:
    text = f"workflow: {{id: w, jobs: [{{job: {{id: a, type: NoOp, {key}: x}}}}]}}"
    (warning,) = check(text, Options(warnings=True)).warnings
    assert warning.hint == f"write `{hint}`"


def test_no_parameter_has_such_a_name() -> None:
    text = "workflow: {id: w, params: {+retry: {value: 1, type: LONG}}, steps: [{step: {id: a, type: NoOp}}]}"
    assert [each.code for each in check(text).problems] == [Code.BAD_NAME]
