"""The task engine's YAML: jobs and definitions -> workflows."""

import json

import pytest
from tests.unit.definition.samples import found, place, spots

from stretto.definition import check, parse_all
from stretto.definition.printing import to_value
from stretto.model.problem import Code

TEXT = """\
workflows:
  jobs:
    - {job_id: fetch, func_key: lib.fetch, description: Fetches, timeout: 60}
    - {job_id: store, func_key: lib.store}
  definitions:
    - workflow_id: nightly
      description: Every night
      tasks:
        - task_id: get
          job_id: fetch
          params: {url: "http://x", tries: 3, rate: 1.5, deep: {a: 1, skipped: ~}, names: [a], nothing: ~}
          callbacks:
            - {state: Success, func_key: lib.note}
            - {state: failed, func_key: lib.alarm}
            - {state: failed, func_key: lib.page}
          required_params: [url]
          result_mapping: {out: in}
          is_template: false
        - task_id: put
          job_id: store
          description: Stores
          timeout: 10 s
          dependencies: [get]
    - workflow_id: other
"""


def definition(*tasks: str) -> str:
    body = "".join(f"        - {task}\n" for task in tasks)
    return (
        "workflows:\n  jobs:\n    - {job_id: j, func_key: f}\n  definitions:\n"
        f"    - workflow_id: w\n      tasks:\n{body}"
    )


def test_all_definitions_of_a_file() -> None:
    nightly, other = [to_value(each)["workflow"] for each in parse_all(TEXT)]
    assert other == {"id": "other", "semantics": "STRETTO", "steps": []}
    get, put = [each["step"] for each in nightly["steps"]]
    assert (nightly["id"], nightly["description"]) == ("nightly", "Every night")
    assert get["transition"] == {"successors": {"put": "true"}}
    assert (get["type"], get["description"], get["timeout"]) == ("Python", "Fetches", 60)
    assert (put["description"], put["timeout"], put["transition"]) == ("Stores", "10 s", {})
    params = {name: param["value"] for name, param in get["params"].items()}
    assert params["function"] == "lib.fetch"
    assert params["callbacks"] == {
        "success": {"value": ["lib.note"], "type": "STRING_ARRAY"},
        "failed": {"value": ["lib.alarm", "lib.page"], "type": "STRING_ARRAY"},
    }
    assert get["params"]["nothing"] == {"value": "null", "type": "STRING", "format": "json"}
    assert json.loads(params["deep"]) == {"a": 1, "skipped": None}
    assert (params["required_params"], params["result_mapping"]) == (["url"], {"out": "in"})
    assert params.keys() == {
        *("function", "callbacks", "required_params", "result_mapping", "is_template"),
        *("url", "tries", "rate", "deep", "names", "nothing"),
    }


def test_a_file_is_valid() -> None:
    assert found(TEXT) == []


@pytest.mark.parametrize("timeouts", ["", "timeout: ~"])
def test_the_default_timeout(timeouts: str) -> None:
    [made] = parse_all(definition(f"{{task_id: t, job_id: j, {timeouts}}}"))
    assert made.workflow.steps[0].timeout == 30


def test_null_is_not_there() -> None:
    nulls = "params: ~, dependencies: ~, callbacks: ~, required_params: ~, result_mapping: ~, is_template: ~"
    assert found(definition(f"{{task_id: t, job_id: j, description: ~, {nulls}}}")) == []
    assert found("workflows: {jobs: ~, definitions: [{workflow_id: w, tasks: ~, description: ~}]}") == []


@pytest.mark.parametrize(
    ("task", "code", "path", "mark"),
    [
        ("{task_id: t, job_id: k}", Code.UNKNOWN_JOB, "tasks[0].job_id", "k}"),
        ("{task_id: t}", Code.MISSING_FIELD, "tasks[0].job_id", "{task_id: t}"),
        ("{task_id: t, job_id: ''}", Code.MISSING_FIELD, "tasks[0].job_id", "''"),
        ("{task_id: t, job_id: 5}", Code.WRONG_TYPE, "tasks[0].job_id", "5"),
        ("{task_id: t, job_id: j, dependencies: [u]}", Code.UNKNOWN_STEP, "tasks[0].dependencies[0]", "u]"),
        ("{task_id: t, job_id: j, dependencies: [5]}", Code.WRONG_TYPE, "tasks[0].dependencies[0]", "5]"),
        ("{task_id: t, job_id: j, dependencies: t}", Code.WRONG_TYPE, "tasks[0].dependencies", "t}"),
        ("{task_id: t, job_id: j, params: [1]}", Code.WRONG_TYPE, "tasks[0].params", "[1]"),
        (
            "{task_id: t, job_id: j, params: {function: x}}",
            Code.RESERVED_NAME,
            "tasks[0].params.function",
            "function",
        ),
        (
            "{task_id: t, job_id: j, params: {callbacks: x}}",
            Code.RESERVED_NAME,
            "tasks[0].params.callbacks",
            "callbacks",
        ),
        (
            "{task_id: t, job_id: j, dependancies: []}",
            Code.UNKNOWN_FIELD,
            "tasks[0].dependancies",
            "dependancies",
        ),
        ("{task_id: t, job_id: j, callbacks: x}", Code.WRONG_TYPE, "tasks[0].callbacks", "x}"),
        ("{task_id: t, job_id: j, callbacks: [x]}", Code.WRONG_TYPE, "tasks[0].callbacks[0]", "x]"),
        (
            "{task_id: t, job_id: j, callbacks: [{state: done, func_key: f}]}",
            *(Code.UNKNOWN_VALUE, "tasks[0].callbacks[0].state", "done"),
        ),
        (
            "{task_id: t, job_id: j, callbacks: [{state: failed}]}",
            *(Code.MISSING_FIELD, "tasks[0].callbacks[0].func_key", "{state"),
        ),
        ("text", Code.WRONG_TYPE, "tasks[0]", "text"),
    ],
)
def test_problems_of_tasks(task: str, code: str, path: str, mark: str) -> None:
    text = definition(task)
    assert found(text) == [(code, f"workflows.definitions[0].{path}")]
    assert spots(text) == [(code, *place(text, mark))]


@pytest.mark.parametrize(
    ("task", "code", "path", "mark"),
    [
        ("{task_id: 1x, job_id: j}", Code.BAD_NAME, "steps[0].step.id", "1x"),
        ("{task_id: t, job_id: j, timeout: soon}", Code.BAD_DURATION, "steps[0].step.timeout", "soon"),
        ("{task_id: t, job_id: j, params: {1p: x}}", Code.BAD_NAME, 'steps[0].step.params["1p"]', "1p"),
        (
            "{task_id: t, job_id: j, params: {m: {1p: 5}}}",
            Code.BAD_NAME,
            'steps[0].step.params.m.value["1p"]',
            "1p",
        ),
        (
            "{task_id: t, job_id: j, required_params: [5]}",
            Code.WRONG_TYPE,
            "steps[0].step.params.required_params.value[0]",
            "5]",
        ),
        (
            "{task_id: t, job_id: j, result_mapping: x}",
            Code.WRONG_TYPE,
            "steps[0].step.params.result_mapping.value",
            "x}",
        ),
        (
            "{task_id: t, job_id: j, dependencies: [t]}",
            Code.CYCLE,
            "steps[0].step.transition.successors.t",
            "t]",
        ),
    ],
)
def test_problems_of_the_model(task: str, code: str, path: str, mark: str) -> None:
    text = definition(task)
    assert found(text) == [(code, f"workflow.{path}")]
    assert spots(text) == [(code, *place(text, mark))]


def test_task_ids_are_used_once() -> None:
    text = definition("{task_id: t, job_id: j}", "{task_id: t, job_id: j, dependencies: [t]}")
    assert (Code.DUPLICATE_ID, "workflow.steps[1].step.id") in found(text)


def test_a_cycle_is_shown_at_a_dependency() -> None:
    text = definition(
        "{task_id: a, job_id: j, dependencies: [b]}", "{task_id: b, job_id: j, dependencies: [a]}"
    )
    assert spots(text) == [(Code.CYCLE, *place(text, "a]"))]


def test_problems_of_several_definitions_say_which() -> None:
    tasks = "tasks: [{task_id: 1x, job_id: j}]"
    text = (
        "workflows:\n  jobs: [{job_id: j, func_key: f}]\n  definitions:\n    - {workflow_id: a}\n"
        f"    - {{workflow_id: b, {tasks}}}\n"
    )
    assert found(text) == [(Code.BAD_NAME, "[1].workflow.steps[0].step.id")]
    assert spots(text) == [(Code.BAD_NAME, *place(text, "1x"))]


@pytest.mark.parametrize(
    ("body", "code", "path"),
    [
        ("{definitions: []}", Code.EMPTY, "workflows.definitions"),
        ("{}", Code.EMPTY, "workflows.definitions"),
        ("{definitions: x}", Code.WRONG_TYPE, "workflows.definitions"),
        ("{definitions: [x]}", Code.WRONG_TYPE, "workflows.definitions[0]"),
        ("{definitions: [{}]}", Code.MISSING_FIELD, "workflows.definitions[0].workflow_id"),
        ("{definitions: [{workflow_id: a, jobs: []}]}", Code.UNKNOWN_FIELD, "workflows.definitions[0].jobs"),
        ("{job: [], definitions: [{workflow_id: a}]}", Code.UNKNOWN_FIELD, "workflows.job"),
        (
            "{jobs: [{job_id: a}], definitions: [{workflow_id: a}]}",
            Code.MISSING_FIELD,
            "workflows.jobs[0].func_key",
        ),
        ("{jobs: {}, definitions: [{workflow_id: a}]}", Code.WRONG_TYPE, "workflows.jobs"),
        (
            "{jobs: [{job_id: a, func_key: f}, {job_id: a, func_key: f}], definitions: [{workflow_id: a}]}",
            *(Code.DUPLICATE_ID, "workflows.jobs[1].job_id"),
        ),
    ],
)
def test_problems_of_the_whole(body: str, code: str, path: str) -> None:
    assert (code, path) in found(f"workflows: {body}")


def test_nothing_stands_beside_it() -> None:
    assert found("workflows: {definitions: [{workflow_id: a}]}\ntask-engine: {}\n") == [
        (Code.UNKNOWN_FIELD, "task-engine")
    ]


def test_two_definitions_of_one_id() -> None:
    text = "workflows: {definitions: [{workflow_id: a}, {workflow_id: a}]}"
    assert [problem.code for problem in check(text).problems] == [Code.DUPLICATE_ID]


def test_a_definition_of_the_model_may_have_metadata_of_that_name() -> None:
    assert found("workflow: {id: a}\nworkflows: {definitions: []}\n") == []


@pytest.mark.parametrize(
    ("value", "param"),
    [
        ("[1, 2]", {"value": [1, 2], "type": "LONG_ARRAY"}),
        ("{a: {b: 1}}", {"value": {"a": {"value": {"b": {"value": 1, "type": "LONG"}}, "type": "MAP"}}}),
        ("[1, a]", {"value": '[1,"a"]', "format": "json"}),
        ("[{a: 1}]", {"value": '[{"a":1}]', "format": "json"}),
        ("['$$5', ~]", {"value": '["$$5",null]', "format": "json"}),
        ("'${p}'", {"expression": "Json.text(p)", "format": "json"}),
        ("'${p} '", {"value": "${p} ", "type": "STRING"}),
        ("'${p.q}'", {"value": "${p.q}", "type": "STRING"}),
        ("'$${p}'", {"value": "$${p}", "type": "STRING"}),
        ("['${p}', '$$5']", {"expression": "Json.array(Json.text(p), '\"$5\"')"}),
        ("{k: '${p}', n: [~]}", {"expression": "Json.object('k', Json.text(p), 'n', '[null]')"}),
        ("{'a${q}': [~]}", {"expression": "Json.object('a' + q + '', '[null]')"}),
        ("[~, 'it''s ${p}']", {"expression": "Json.array('null', Json.text('it\\'s ' + p + ''))"}),
    ],
)
def test_values_of_every_type(value: str, param: dict[str, object]) -> None:
    text = definition(f"{{task_id: t, job_id: j, params: {{v: {value}}}}}")
    [made] = [to_value(each)["workflow"] for each in parse_all(text)]
    written = made["steps"][0]["step"]["params"]["v"]
    assert {key: written[key] for key in param} == param
    assert found(text) == []
