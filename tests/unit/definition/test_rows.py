"""Capabilities by their row in the union of the four systems."""

import json

from tests.unit.definition.samples import flow, foreach, found, step, text_of

from stretto.definition import check, load, parse
from stretto.definition.drawing import count_steps
from stretto.model.problem import Code

TASKS = """\
workflows:
  jobs: [{job_id: fetch, func_key: lib.fetch}]
  definitions:
    - workflow_id: first
      tasks: [{task_id: a, job_id: fetch}, {task_id: b, job_id: fetch, dependencies: [a]}]
    - {workflow_id: second, tasks: [{task_id: a, job_id: fetch}]}
"""


def test_row_2_a_yaml_file_holds_several_definitions() -> None:
    made = load(TASKS)
    assert [(each.workflow.id, count_steps(each.workflow.steps)) for each in made] == [
        ("first", 2),
        ("second", 1),
    ]
    assert made[0].workflow.steps[0].transition.successors == {"b": "true"}


def test_row_2_all_or_nothing() -> None:
    checked = check(TASKS.replace("dependencies: [a]", "dependencies: [c]"))
    assert [problem.code for problem in checked.problems] == [Code.UNKNOWN_STEP]


def test_row_6_duplicate_step_ids_are_refused_and_named() -> None:
    for value in (flow(step("same"), step("same")), flow(foreach("f", [step("same")]), step("same"))):
        [problem] = check(text_of(value)).problems
        assert (problem.code, "`same`" in problem.message) == (Code.DUPLICATE_ID, True)


def test_row_6_duplicate_task_ids_too() -> None:
    text = TASKS.replace("task_id: b", "task_id: a").replace(", dependencies: [a]", "")
    assert found(text) == [(Code.DUPLICATE_ID, "[0].workflow.steps[1].step.id")]


def test_row_7_a_cycle_is_refused_and_named() -> None:
    [problem] = check(text_of(flow(step("a", "b"), step("b", "a")))).problems
    assert (problem.code, "a -> b -> a" in problem.message) == (Code.CYCLE, True)


def test_row_7_so_is_an_edge_to_itself() -> None:
    [problem] = check(text_of(flow(step("a", "a")))).problems
    assert (problem.code, "a -> a" in problem.message) == (Code.CYCLE, True)


def test_row_7_in_every_form() -> None:
    jobs = (
        "workflow: {id: x, jobs: [job: {id: a, type: noop}, job: {id: b, type: noop}], dag: {a: [b], b: [a]}}"
    )
    tasks = TASKS.replace(
        "{task_id: a, job_id: fetch}, {", "{task_id: a, job_id: fetch, dependencies: [b]}, {"
    )
    assert [code for text in (jobs, tasks) for code, _ in found(text)] == [Code.CYCLE] * 2


def test_row_8_an_unknown_successor_is_refused_at_its_field() -> None:
    value = flow(step("job.1", "job.3"), step("job.2"))
    [problem] = check(json.dumps(value)).problems
    assert (problem.code, problem.path) == (
        Code.UNKNOWN_STEP,
        'workflow.steps[0].step.transition.successors["job.3"]',
    )
    assert parse(json.dumps(value)).workflow.id == "wf"


def test_row_8_so_are_unknown_jobs_and_dependencies() -> None:
    text = TASKS.replace("dependencies: [a]", "dependencies: [zz]").replace(
        "b, job_id: fetch", "b, job_id: load"
    )
    assert [code for code, _ in found(text)] == [Code.UNKNOWN_JOB, Code.UNKNOWN_STEP]
