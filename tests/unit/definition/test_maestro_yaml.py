"""Maestro's YAML: every mapping of workflow, jobs, loops and dag, and where its problems are shown."""

from typing import Any

import pytest
from tests.unit.definition.samples import edges_of, found, model, place, spots, step, steps_of

from stretto.definition.parse import Options
from stretto.model.problem import Code

TEMPLATES = Options(
    templates={"Spark": "Notebook", "shell": "Kubernetes", "sleep": "Http", "python": "Titus"}
)


def dsl(*lines: str) -> str:
    return "workflow:\n  id: a\n" + "".join(f"  {line}\n" for line in lines)


def jobs(*items: str, dag: str | None = None) -> str:
    return dsl("jobs:", *(f"  - {item}" for item in items), *([f"dag: {dag}"] if dag else []))


def one(item: str, options: Options = TEMPLATES) -> dict[str, Any]:
    [made] = steps_of(jobs(item), options)
    return made


class TestWorkflow:
    def test_defaults(self) -> None:
        assert model(dsl("jobs: []")) == {
            "properties": {
                "run_strategy": {"rule": "SEQUENTIAL", "workflow_concurrency": 1},
                "step_concurrency": 20,
            },
            "workflow": {"id": "a", "params": {}, "steps": []},
            "is_active": True,
        }

    def test_every_field(self) -> None:
        made = model(
            dsl(
                *(
                    "name: A",
                    "description: d",
                    "owner: me",
                    "run_strategy: Parallel",
                    "workflow_concurrency: 5",
                ),
                *("tags: [x]", "timeout: 90", "criticality: high", "jobs: []"),
            )
        )
        assert made["properties"] == {
            "owner": "me",
            "run_strategy": {"rule": "PARALLEL", "workflow_concurrency": 5},
            "step_concurrency": 20,
        }
        assert made["workflow"] == {
            "id": "a",
            "name": "A",
            "description": "d",
            "tags": [{"name": "x"}],
            "timeout": "90",
            "criticality": "HIGH",
            "params": {},
            "steps": [],
        }

    def test_concurrency_without_strategy_is_ignored(self) -> None:
        made = model(dsl("workflow_concurrency: 5", "jobs: []"))
        assert made["properties"]["run_strategy"] == {"rule": "SEQUENTIAL", "workflow_concurrency": 1}

    def test_a_null_field_is_not_there(self) -> None:
        fields = (
            "name",
            "description",
            "owner",
            "run_strategy",
            "tags",
            "timeout",
            "criticality",
            "jobs",
            "dag",
        )
        nulls = [f"{name}:" for name in (*fields, "workflow_params", "stages")]
        assert model(dsl(*nulls)) == model(dsl("jobs: []"))

    def test_capital_key(self) -> None:
        assert model("Workflow:\n  id: a\n")["workflow"]["steps"] == []

    @pytest.mark.parametrize("key", ["properties", "is_active", "Workflow"])
    def test_nothing_stands_beside_it(self, key: str) -> None:
        assert spots(f"workflow: {{id: a, jobs: []}}\n{key}: {{}}\n") == [(Code.UNKNOWN_FIELD, 2, 1)]

    def test_the_model_as_yaml_is_not_this_form(self) -> None:
        assert model("workflow: {id: a, steps: []}\nWorkflow: x\nworkflows: {}\n")["Workflow"] == "x"


class TestJobs:
    def test_common_fields(self) -> None:
        item = (
            "job: {id: j, type: noop, name: n, description: d, failure_mode: ignore_failure, tags: [t],"
            " timeout: 1h, p: 1, job_params: {q: x}}"
        )
        assert one(item) == {
            "id": "j",
            "type": "NoOp",
            "name": "n",
            "description": "d",
            "failure_mode": "IGNORE_FAILURE",
            "tags": [{"name": "t"}],
            "timeout": "1h",
            "transition": {},
            "params": {"p": {"value": 1, "type": "LONG"}, "q": {"value": "x", "type": "STRING"}},
        }

    @pytest.mark.parametrize(
        ("kind", "made"),
        [
            ("KUBERNETES", {"type": "Kubernetes"}),
            ("spark", {"type": "Notebook", "sub_type": "spark"}),
            ("SHELL", {"type": "Kubernetes", "sub_type": "SHELL"}),
            ("sleep", {"type": "Sleep"}),
            ("python", {"type": "Titus", "sub_type": "python"}),
            ("wait", {"type": "Wait"}),
        ],
    )
    def test_types_and_templates(self, kind: str, made: dict[str, str]) -> None:
        body = one(f"job: {{id: j, type: {kind}, type_version: v2}}")
        assert {key: body[key] for key in ("type", "sub_type") if key in body} == made
        assert "sub_type_version" not in body

    def test_unknown_type(self) -> None:
        text = jobs("job: {id: j, type: sprak}")
        assert spots(text, TEMPLATES) == [(Code.UNKNOWN_JOB, *place(text, "sprak"))]

    @pytest.mark.parametrize(
        ("item", "code", "path", "mark"),
        [
            ("job: {id: j}", Code.MISSING_FIELD, "workflow.steps[0].step.type", "{id"),
            ("job: {id: j, type: 5}", Code.WRONG_TYPE, "workflow.steps[0].step.type", "5}"),
            ("job: {id: 7, type: noop}", Code.WRONG_TYPE, "workflow.steps[0].step.id", "7"),
            ("job: {type: noop}", Code.MISSING_FIELD, "workflow.steps[0].step.id", "{type"),
            ("job: text", Code.WRONG_TYPE, "workflow.jobs[0].job", "text"),
            ("jop: {id: j}", Code.UNKNOWN_VALUE, "workflow.jobs[0].jop", "jop"),
            ("step: {id: j, type: noop}", Code.UNKNOWN_VALUE, "workflow.jobs[0].step", "step"),
            ("text", Code.WRONG_TYPE, "workflow.jobs[0]", "text"),
            ("{job: {}, while: {}}", Code.WRONG_TYPE, "workflow.jobs[0]", "{job"),
            ("{}", Code.WRONG_TYPE, "workflow.jobs[0]", "{}"),
            (
                "job: {id: j, type: noop, id<string>: x}",
                Code.RESERVED_NAME,
                'workflow.jobs[0].job["id<string>"]',
                "id<",
            ),
            (
                "job: {id: j, type: noop, timeout: 1.5}",
                Code.WRONG_TYPE,
                "workflow.steps[0].step.timeout",
                "1.5",
            ),
            (
                "job: {id: j, type: noop, job_params: 1}",
                Code.WRONG_TYPE,
                "workflow.jobs[0].job.job_params",
                "1}",
            ),
        ],
    )
    def test_problems_and_their_place(self, item: str, code: str, path: str, mark: str) -> None:
        text = jobs(item)
        assert found(text) == [(code, path)]
        assert spots(text) == [(code, *place(text, mark))]

    def test_other_steps_are_read_beside_a_bad_one(self) -> None:
        text = jobs(
            "jop: {id: x}", "text", "job: {id: b, type: noop, transition: [x]}", "foreach: {id: f, jobs: [1]}"
        )
        assert [code for code, _ in found(text)].count(Code.UNKNOWN_STEP) == 0

    def test_what_is_no_list(self) -> None:
        assert found(dsl("jobs: {a: 1}")) == [(Code.WRONG_TYPE, "workflow.jobs")]


class TestSubworkflow:
    def test_the_id_is_the_default(self) -> None:
        made = one("subworkflow: {id: s, sync: false, explicit_params: true, p: 1}")
        assert (made["sync"], made["explicit_params"]) == (False, True)
        assert made["params"] == {
            "subworkflow_id": {"value": "s", "type": "STRING"},
            "p": {"value": 1, "type": "LONG"},
        }

    @pytest.mark.parametrize(
        "names", ["workflow_id: w, version: 3", "subworkflow_id: w, subworkflow_version: '3'"]
    )
    def test_both_spellings(self, names: str) -> None:
        params = one(f"subworkflow: {{id: s, {names}}}")["params"]
        assert {name: param["value"] for name, param in params.items()} == {
            "subworkflow_id": "w",
            "subworkflow_version": "3",
        }

    def test_both_at_once(self) -> None:
        text = jobs("subworkflow: {id: s, workflow_id: w, subworkflow_id: v}")
        assert spots(text) == [(Code.CONFLICT, *place(text, "workflow_id"))]


class TestLoops:
    def test_ranges_and_loop_params(self) -> None:
        made = one(
            "foreach: {id: f, concurrency: 2, loop_params: {d: [1, 2]}, ranges: {i: {to: 3},"
            " j: {from: 1, to: n, increment: 2}}, jobs: [job: {id: g, type: noop}], p: x}"
        )
        assert made["concurrency"] == 2
        assert made["params"]["p"] == {"value": "x", "type": "STRING"}
        assert made["params"]["loop_params"]["value"] == {
            "d": {"value": [1, 2], "type": "LONG_ARRAY"},
            "i": {"expression": "Util.intsBetween(0, 3, 1);", "type": "LONG_ARRAY"},
            "j": {"expression": "Util.intsBetween(1, n, 2);", "type": "LONG_ARRAY"},
        }
        assert [each["step"]["id"] for each in made["steps"]] == ["g"]

    def test_other_names(self) -> None:
        made = one("foreach: {id: f, job_concurrency: 2, params: {d: [x]}, jobs: [job: {id: g, type: noop}]}")
        assert (made["concurrency"], list(made["params"]["loop_params"]["value"])) == (2, ["d"])

    def test_while(self) -> None:
        made = one("while: {id: w, condition: i < 3, params: {i: 0}, jobs: [job: {id: g, type: noop}], x: 1}")
        assert made["condition"] == "i < 3"
        assert made["params"]["loop_params"]["value"] == {"i": {"value": 0, "type": "LONG"}}
        assert made["params"]["x"]["value"] == 1

    @pytest.mark.parametrize(
        ("condition", "made"), [("true", "true"), ("{expression: a > 1, type: x}", "a > 1")]
    )
    def test_other_conditions(self, condition: str, made: str) -> None:
        body = one(f"while: {{id: w, condition: {condition}, jobs: [job: {{id: g, type: noop}}]}}")
        assert (body["condition"], body["params"]) == (made, {})

    @pytest.mark.parametrize(
        ("fields", "code", "path", "mark"),
        [
            ("loop_params: [1]", Code.WRONG_TYPE, "workflow.jobs[0].foreach.loop_params", "[1]"),
            ("params: x", Code.WRONG_TYPE, "workflow.jobs[0].foreach.params", "x"),
            ("ranges: [1]", Code.WRONG_TYPE, "workflow.jobs[0].foreach.ranges", "[1]"),
            ("ranges: {i: 3}", Code.MISSING_FIELD, "workflow.jobs[0].foreach.ranges.i", "3"),
            ("ranges: {i: {to: }}", Code.MISSING_FIELD, "workflow.jobs[0].foreach.ranges.i", "{to"),
            (
                "ranges: {i: {to: 3, step: 2}}",
                Code.UNKNOWN_FIELD,
                "workflow.jobs[0].foreach.ranges.i.step",
                "step",
            ),
            ("ranges: {i: {to: [3]}}", Code.WRONG_TYPE, "workflow.jobs[0].foreach.ranges.i.to", "[3]"),
            ("ranges: {i: {to: 1.5}}", Code.WRONG_TYPE, "workflow.jobs[0].foreach.ranges.i.to", "1.5"),
            (
                "params: {i: [1]}, ranges: {i: {to: 3}}",
                Code.DUPLICATE_KEY,
                "workflow.jobs[0].foreach.ranges.i",
                "i: {to",
            ),
            (
                "params: {i: [1]}, loop_params: {i: [1]}",
                Code.CONFLICT,
                "workflow.jobs[0].foreach.params",
                "params: {i",
            ),
            ("params: {i: 5}", Code.BAD_PARAM, "workflow.steps[0].foreach.params.loop_params.value.i", "5"),
            (
                "params: {1i: [5]}",
                Code.BAD_NAME,
                'workflow.steps[0].foreach.params.loop_params.value["1i"]',
                "1i",
            ),
            (
                "ranges: {$: {to: 3}}",
                Code.BAD_NAME,
                'workflow.steps[0].foreach.params.loop_params.value["$"]',
                "$",
            ),
            (
                "concurrency: x, params: {i: [1]}",
                Code.WRONG_TYPE,
                "workflow.steps[0].foreach.concurrency",
                "x",
            ),
        ],
    )
    def test_problems_and_their_place(self, fields: str, code: str, path: str, mark: str) -> None:
        text = jobs(f"foreach: {{id: f, jobs: [job: {{id: g, type: noop}}], {fields}}}")
        assert (code, path) in found(text)
        assert (code, *place(text, mark)) in spots(text)

    def test_a_range_may_leave_out_what_is_null(self) -> None:
        text = "foreach: {id: f, ranges: {i: {from: , to: 3}}, jobs: [job: {id: g, type: noop}]}"
        loop = one(text)["params"]["loop_params"]["value"]
        assert loop["i"]["expression"] == "Util.intsBetween(0, 3, 1);"

    def test_a_while_without_condition(self) -> None:
        text = jobs("while: {id: w, jobs: [job: {id: g, type: noop}]}")
        assert found(text) == [(Code.MISSING_FIELD, "workflow.steps[0].while.condition")]

    def test_a_foreach_over_nothing(self) -> None:
        text = jobs("foreach: {id: f, jobs: [job: {id: g, type: noop}]}")
        assert found(text) == [(Code.EMPTY, "workflow.steps[0].foreach.params.loop_params")]


class TestDag:
    THREE = (
        "job: {id: a, type: noop}",
        "job: {id: b, type: noop, transition: [a]}",
        "job: {id: c, type: noop}",
    )

    @pytest.mark.parametrize("dag", ["sequential", "SEQUENTIAL", "Sequential"])
    def test_sequential(self, dag: str) -> None:
        items = ("job: {id: a, type: noop}", "job: {id: b, type: noop}", "job: {id: c, type: noop}")
        assert edges_of(jobs(*items, dag=dag)) == {"a": {"b": "true"}, "b": {"c": "true"}, "c": {}}

    @pytest.mark.parametrize("dag", ["parallel", "PARALLEL", "~", None])
    def test_parallel(self, dag: str | None) -> None:
        assert edges_of(jobs(*self.THREE, dag=dag)) == {"a": {}, "b": {"a": "true"}, "c": {}}

    def test_own_transitions_win(self) -> None:
        assert edges_of(jobs(*self.THREE, dag="{a: [IF x THEN b, c], b: c, c: }")) == {
            "a": {"b": "x", "c": "true"},
            "b": {"a": "true"},
            "c": {},
        }

    def test_unknown_names(self) -> None:
        text = jobs(
            "job: {id: aaa, type: noop}", "job: {id: bbb, type: noop}", dag="{aab: [bbb], aaa: [ccc]}"
        )
        assert spots(text) == [
            (Code.UNKNOWN_STEP, *place(text, "aab")),
            (Code.UNKNOWN_STEP, *place(text, "ccc")),
        ]

    @pytest.mark.parametrize("dag", ["circle", "5", "[a]"])
    def test_other_values(self, dag: str) -> None:
        assert found(jobs(*self.THREE, dag=dag)) == [(Code.BAD_TRANSITION, "workflow.dag")]

    def test_ids_that_are_no_texts(self) -> None:
        text = jobs("job: {id: [1], type: noop}", "job: {id: 2, type: noop}", dag="sequential")
        assert found(text) == [
            (Code.WRONG_TYPE, "workflow.steps[0].step.id"),
            (Code.WRONG_TYPE, "workflow.steps[1].step.id"),
        ]

    def test_an_unknown_successor_is_shown_at_its_entry(self) -> None:
        text = jobs("job: {id: a, type: noop, transition: [IF x THEN b, c]}", "job: {id: c, type: noop}")
        assert spots(text) == [(Code.UNKNOWN_STEP, *place(text, "IF x"))]

    def test_a_cycle_is_shown_at_an_edge(self) -> None:
        text = jobs("job: {id: a, type: noop}", "job: {id: b, type: noop}", dag="{a: [b], b: [a]}")
        assert spots(text) == [(Code.CYCLE, *place(text, "b], b"))]


class TestStages:
    def test_stages_of_jobs(self) -> None:
        text = dsl(
            *("stages:", "- id: one", "  jobs: [job: {id: a, type: noop}, job: {id: b, type: noop}]"),
            *("  dag: sequential", "- name: two", "  jobs: [job: {id: c, type: noop}]"),
        )
        assert edges_of(text) == {"a": {"b": "true"}, "b": {"c": "true"}, "c": {}}
        assert [body["stage"] for body in steps_of(text)] == ["one", "one", "two"]

    @pytest.mark.parametrize("line", ["jobs: []", "dag: sequential"])
    def test_not_beside_jobs_or_dag(self, line: str) -> None:
        assert spots(dsl("stages: [{id: s, jobs: []}]", line)) == [(Code.CONFLICT, 4, 3)]

    def test_what_is_no_stage(self) -> None:
        assert found(dsl("stages: [{id: s, jobs: []}, x]")) == [(Code.WRONG_TYPE, "workflow.stages[1]")]
        assert found("Workflow: {id: a, stages: x}") == [(Code.WRONG_TYPE, "workflow.stages")]


def test_steps_of_the_model_are_no_jobs() -> None:
    assert found({"workflow": {"id": "a", "jobs": [step("a")]}}) == [
        (Code.UNKNOWN_VALUE, "workflow.jobs[0].step")
    ]
