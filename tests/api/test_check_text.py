"""A text is checked before it is published: every problem with its place, and nothing is written."""

import json
from typing import Any

import pytest
from tests.api.serving import JSON, Served

from stretto.definition.reading.located import Spot
from stretto.definition.reading.spans import end_of, lines_of
from stretto.model.errors import Unavailable

TEXT = """\
properties: {owner: ann}
workflow:
  id: checked
  timeout: ${hours} hours
  params:
    hours: {type: LONG, value: 2}
    twice: {type: LONG, expression: return hours * 2;}
    inner: {type: MAP, value: {deep: {type: LONG, value: 1, mode: CONSTANT}}}
  steps:
    - step: {id: a, type: NoOp, transition: {successors: {b: hours > 1}}}
    - foreach:
        id: b
        params: {loop_params: {type: MAP, value: {i: {type: LONG_ARRAY, value: [1, 2]}}}}
        steps: [{step: {id: inner, type: Shell, params: {command: {type: STRING, value: ls $twice $inner}}}}]
"""
ONE = "--- {properties: {owner: x}, workflow: {id: %s, steps: [{step: {id: s, type: NoOp}}]}}\n"
TWO = ONE % "a" + ONE % "b"


def check(server: Served, text: str, status: int = 200, **more: Any) -> Any:
    return server.post("/definitions/check", {"text": text, **more}, status)


def only_problem(found: Any) -> Any:
    (problem,) = found["problems"]
    assert found["valid"] is False
    assert not {"definition", "params", "step_params"} & found.keys()
    assert problem["severity"] == "ERROR"
    return problem


def spot(problem: Any) -> tuple[int, int, int, int]:
    return problem["line"], problem["column"], problem["end_line"], problem["end_column"]


def test_a_text_without_a_mistake(server: Served) -> None:
    found = check(server, TEXT)
    assert found["valid"] is True
    assert found["problems"] == []
    assert found["definition"]["workflow"]["steps"][0]["step"]["transition"] == {
        "successors": {"b": "hours > 1"}
    }
    assert found["graph"]["ids"] == ["a", "b", "inner"]
    assert found["params"]["twice"]["evaluated_result"] == 4
    assert found["step_params"]["b"]["loop_params"]["type"] == "MAP"
    assert check(server, json.dumps(found["definition"]), format="json")["valid"] is True
    server.get("/workflows/checked/overview", 404)


def test_a_warning_forbids_nothing(server: Served) -> None:
    """It stands where it belongs among the errors, and a push does not ask for it."""
    text = TEXT.replace("b: hours > 1", "b: hours > 1, c: 1 > 0").replace("type: NoOp", "type: NoOpp")
    found = check(server, text)
    assert [(each["code"], each["severity"]) for each in found["problems"]] == [
        ("unknown-value", "ERROR"),
        ("unknown-step", "ERROR"),
        ("constant-condition", "WARNING"),
    ]
    doubtful = TEXT.replace("b: hours > 1", "b: 2 > 1").replace("$twice", "")
    found = check(server, doubtful)
    assert found["valid"] is True
    assert found["definition"]["workflow"]["id"] == "checked"
    problems = {each["path"]: each for each in found["problems"]}
    assert {each["severity"] for each in found["problems"]} == {"WARNING"}
    assert spot(problems["workflow.params.twice"]) == (7, 5, 7, 10)
    assert problems["workflow.params.twice"]["code"] == "unused-param"
    assert problems["workflow.steps[0].step.transition.successors.b"]["hint"] == "write `true`"
    assert check(server, doubtful, run_params={"twice": {"type": "LONG", "value": 2}})["valid"] is True
    server.post("/workflows", found["definition"])
    server.delete("/workflows/checked")


def test_with_parameters_of_a_run(server: Served) -> None:
    found = check(server, TEXT, run_params={"hours": {"type": "LONG", "value": 5}})
    assert found["params"]["twice"]["evaluated_result"] == 10


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"hours": {"type": "STRING", "value": "many"}}, "run_params.hours"),
        (
            {"inner": {"type": "MAP", "value": {"deep": {"type": "LONG", "value": 2}}}},
            "run_params.inner.value.deep",
        ),
        ({"params": {"type": "STRING", "value": "mine"}}, "run_params.params"),
        ({f"p{number}": {"type": "LONG", "value": 1} for number in range(200)}, "workflow.params"),
    ],
)
def test_wrong_parameters_of_a_run_are_not_in_the_text(
    server: Served, params: dict[str, Any], path: str
) -> None:
    problem = only_problem(check(server, TEXT, run_params=params))
    assert (problem["path"], problem["code"]) == (path, "bad-param")
    assert ("line" in problem) is path.startswith("workflow")


@pytest.mark.parametrize(
    ("old", "new", "path", "code", "place"),
    [
        ("type: NoOp", "type: 'No Op'", "workflow.steps[0].step.type", "unknown-value", (10, 27, 10, 34)),
        (
            "b: hours > 1",
            "c: hours > 1",
            "workflow.steps[0].step.transition.successors.c",
            "unknown-step",
            (10, 59, 10, 60),
        ),
        ("return hours * 2;", "return hourz * 2;", "workflow.params.twice", "bad-param", (7, 12, 7, 13)),
        ("${hours} hours", "${hours} years", "workflow.timeout", "bad-duration", (4, 12, 4, 13)),
        ("id: checked", "idd: checked", "workflow.idd", "unknown-field", (3, 3, 3, 6)),
    ],
)
def test_a_mistake_is_shown_where_it_stands(
    server: Served, old: str, new: str, path: str, code: str, place: tuple[int, int, int, int]
) -> None:
    found = check(server, TEXT.replace(old, new))
    problems = {each["path"]: each for each in found["problems"]}
    assert problems[path]["code"] == code
    assert spot(problems[path]) == place
    assert found["graph"]["ids"]


def test_a_parameter_of_a_step(server: Served) -> None:
    """It can not be merged with what every step has."""
    text = TEXT.replace("id: a, type: NoOp,", "id: a, type: NoOp, params: {step_id: {type: MAP, value: {}}},")
    problem = only_problem(check(server, text))
    assert problem["path"] == "workflow.steps[0].step.params.step_id"
    assert spot(problem)[0] == 10


def test_a_template_that_goes_round_in_circles(server: Served) -> None:
    for name, other in (("round", "circle"), ("circle", "round")):
        template = {
            "job_type": name,
            "step_type": "NoOp",
            "version": "default",
            "inherit_from": {other: "default"},
        }
        server.post("/job-templates", {"owner": "a", "status": "x", "support": "y", "definition": template})
    text = TEXT.replace("id: a, type: NoOp,", "id: a, type: NoOp, sub_type: round,")
    problem = only_problem(check(server, text))
    assert problem["path"] == "workflow.steps[0].step"
    text = "workflow: {id: dsl, owner: ann, jobs: [{job: {id: a, type: round}}]}"
    assert only_problem(check(server, text))["code"] == "bad-param"
    server.delete("/job-templates/round")
    server.delete("/job-templates/circle")


def test_a_template_that_has_no_default_version(server: Served) -> None:
    """As for a push: what a step names is looked up as it names it."""
    image = {"type": "MAP", "value": {"image": {"type": "STRING", "value": "busybox"}}}
    template = {
        "job_type": "rare",
        "step_type": "Kubernetes",
        "version": "v2",
        "params": {"kubernetes": image},
    }
    server.post("/job-templates", {"owner": "a", "status": "x", "support": "y", "definition": template})
    step = "{id: a, type: Kubernetes, sub_type: rare, sub_type_version: v2}"
    text = f"{{properties: {{owner: ann}}, workflow: {{id: rarely, steps: [{{step: {step}}}]}}}}"
    assert check(server, text)["problems"] == []
    unknown = text.replace("rare,", "unknown,")
    for wrong in (unknown, unknown.replace(", sub_type_version: v2", ""), text.replace("v2", "v3")):
        found = {each["severity"]: each for each in check(server, wrong)["problems"]}
        assert {name: each["code"] for name, each in found.items()} == {
            "ERROR": "missing-param",
            "WARNING": "unknown-value",
        }
        assert ("`rare`" if "rare," in wrong else "`unknown`") in found["ERROR"]["hint"]
    server.delete("/job-templates/rare")


def test_a_definition_behind_an_empty_document(server: Served) -> None:
    text = "---\n---\n" + TEXT.replace("return hours * 2;", "return hourz * 2;")
    assert spot(only_problem(check(server, text)))[0] == 9


def test_a_database_that_is_away_says_nothing_of_the_text(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_args: Any) -> None:
        raise Unavailable("the database does not answer")

    monkeypatch.setattr(server.desk.store, "now", away)
    check(server, TEXT, 503)


@pytest.mark.parametrize(
    ("line", "column", "end"),
    [
        ("a: 'it''s' b", 4, 11),
        ('a: "x \\" y" b', 4, 12),
        ("a: 'open", 4, 5),
        ("a: word, b", 4, 8),
        ("a: [1]", 4, 5),
        ("a:", 3, 3),
    ],
)
def test_where_a_word_ends(line: str, column: int, end: int) -> None:
    lines = lines_of(f"first\r\nsecond\r{line}\nlast")
    assert end_of(lines, Spot(3, column)) == Spot(3, end)
    assert end_of(lines, Spot(99, 1)) == Spot(99, 1)


def test_every_problem_at_once(server: Served) -> None:
    found = check(
        server, TEXT.replace("id: a,", "id: a b,").replace("owner: ann", "").replace("ls $twice $inner", "''")
    )
    codes = {each["code"] for each in found["problems"]}
    assert {"bad-name", "missing-owner"} <= codes


def test_the_owner_is_needed_for_the_first_version_only(server: Served) -> None:
    text = "{workflow: {id: once, steps: [{step: {id: a, type: NoOp}}]}}"
    assert only_problem(check(server, text))["code"] == "missing-owner"
    server.push("once")
    assert check(server, text)["valid"] is True


@pytest.mark.parametrize(
    ("text", "form", "code"),
    [
        ("", None, "empty"),
        ("{", "json", "syntax"),
        ("a: [", "yaml", "syntax"),
        ("{a: 1}", "json", "syntax"),
        (TWO, "yaml", "too-many"),
    ],
)
def test_no_definition_at_all(server: Served, text: str, form: str | None, code: str) -> None:
    found = check(server, text, format=form)
    assert only_problem(found)["code"] == code
    assert "graph" not in found


@pytest.mark.parametrize("body", [{}, {"text": 1}, {"text": "", "format": "xml"}, {"text": "", "x": 1}, []])
def test_wrong_bodies(server: Served, body: Any) -> None:
    found = server.client.post("/api/v3/definitions/check", json=body, headers=JSON)
    assert (found.status_code, found.json()["status"]) == (400, "BAD_REQUEST")


def test_nobody_needs_a_name_for_it(server: Served) -> None:
    with server.stranger() as client:
        assert client.post("/api/v3/definitions/check", json={"text": TEXT}).json()["valid"] is True
