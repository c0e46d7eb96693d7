"""Kinds and types of steps, compensation, loops, numbers, retries, expressions."""

from typing import Any

import pytest
from tests.unit.definition.samples import Raw, flow, foreach, found, step, while_

from stretto.definition import Limits, parse, validate
from stretto.definition.parse import Options
from stretto.model.problem import Code
from stretto.model.wire import to_json

STEP = "workflow.steps[0].step"


def typed(kind: str, **more: Any) -> Raw:
    return {"step": {"id": "a", "type": kind, **more}}


def text(value: str) -> Raw:
    return {"value": value, "type": "STRING"}


class TestKinds:
    @pytest.mark.parametrize("kind", ["NoOp", "sleep", "TITUS", "Join", "Wait", "Python", "Shell"])
    def test_known_types(self, kind: str) -> None:
        assert found(flow(typed(kind))) == []

    @pytest.mark.parametrize("kind", ["foreach", "WHILE", "subworkflow", "template", "nopo", "Spark"])
    def test_other_types(self, kind: str) -> None:
        assert found(flow(typed(kind))) == [(Code.UNKNOWN_VALUE, f"{STEP}.type")]

    def test_own_types(self) -> None:
        limits = Limits(step_types=frozenset({"Spark"}))
        assert found(flow(typed("Spark")), Options(limits=limits)) == []
        assert found(flow(typed("NoOp")), Options(limits=limits)) == [(Code.UNKNOWN_VALUE, f"{STEP}.type")]

    def test_template_steps(self) -> None:
        assert found(flow({"template": {"id": "t", "sub_type": "x"}})) == []

    def test_required_params(self) -> None:
        for kind, count in (("Http", 1), ("Kubernetes", 1), ("Notebook", 2)):
            assert found(flow(typed(kind))) == [(Code.MISSING_PARAM, f"{STEP}.params")] * count

    @pytest.mark.parametrize(
        "http",
        [
            {"value": {"url": text("http://x")}, "type": "MAP"},
            {"expression": "m", "type": "MAP"},
            {"value": {"url": "http://x"}, "type": "STRING_MAP"},
        ],
    )
    def test_required_params_that_are_there(self, http: Raw) -> None:
        assert found(flow(typed("Http", params={"http": http}))) == []

    def test_a_map_without_the_member(self) -> None:
        http = {"value": {"method": text("GET")}, "type": "MAP"}
        assert found(flow(typed("Http", params={"http": http}))) == [(Code.MISSING_PARAM, f"{STEP}.params")]

    def test_a_template_brings_the_rest(self) -> None:
        value = flow(typed("Kubernetes", sub_type="Shell-x"))
        assert found(value) == [(Code.MISSING_PARAM, f"{STEP}.params")]
        assert found(value, Options(templates={"shell-X": "Kubernetes"})) == []

    def test_inside_loops_they_may_come_from_outside(self) -> None:
        assert found(flow(foreach("f", [typed("Http")]))) == []

    def test_a_subworkflow_says_which(self) -> None:
        assert found(flow({"subworkflow": {"id": "s"}})) == [
            (Code.MISSING_PARAM, "workflow.steps[0].subworkflow")
        ]
        assert found(flow({"subworkflow": {"id": "s", "params": {"subworkflow_id": text("w")}}})) == []


class TestCompensation:
    """A step that undoes another is checked like any other, but it stands alone."""

    PATH = f"{STEP}.compensation"

    def undo(self, body: Raw) -> list[tuple[str, str]]:
        return found(flow(step("a", "b", compensation=body), step("b")))

    def test_a_good_one(self) -> None:
        assert self.undo(step("undo-a")) == []
        assert self.undo({"subworkflow": {"id": "undo-a", "workflow_id": "w"}}) == []
        assert self.undo(foreach("undo-a", [step("c")])) == []

    def test_problems(self) -> None:
        assert self.undo(step("a")) == [(Code.DUPLICATE_ID, f"{self.PATH}.step.id")]
        assert self.undo(step("$")) == [(Code.BAD_NAME, f"{self.PATH}.step.id")]
        assert self.undo({"step": {"id": "u", "type": "Nopo"}}) == [
            (Code.UNKNOWN_VALUE, f"{self.PATH}.step.type")
        ]
        assert self.undo(step("u", "b")) == [(Code.UNKNOWN_STEP, f"{self.PATH}.step.transition.successors.b")]
        assert self.undo(foreach("u", [step("c", "c")])) == [
            (Code.CYCLE, f"{self.PATH}.foreach.steps[0].step.transition.successors.c")
        ]


class TestLoops:
    PATH = "workflow.steps[0].foreach.params.loop_params"

    def test_a_rate(self) -> None:
        assert found(flow(step("a", rate="10/minute"))) == []
        for bad in ("10", "0/hour", "5/week"):
            assert found(flow(step("a", rate=bad))) == [(Code.BAD_PARAM, "workflow.steps[0].step.rate")]

    def test_a_loop_that_goes_on_can_not_stop_at_once(self) -> None:
        go_on: Raw = {"continue_on_failure": True}
        assert found(flow(foreach("f", [step("a")], **go_on, failure_mode="IGNORE_FAILURE"))) == []
        assert found(flow(foreach("f", [step("a")], **go_on, failure_mode="FAIL_IMMEDIATELY"))) == [
            (Code.CONFLICT, "workflow.steps[0].foreach.continue_on_failure")
        ]

    def test_a_foreach_needs_values(self) -> None:
        assert found(flow({"foreach": {"id": "f", "steps": [step("a")]}})) == [
            (Code.MISSING_PARAM, "workflow.steps[0].foreach")
        ]
        assert found(flow(foreach("f", [step("a")], {}))) == [(Code.EMPTY, self.PATH)]

    def test_a_while_does_not(self) -> None:
        assert found(flow(while_("w", [step("a")]))) == []

    @pytest.mark.parametrize(
        "param", [{"expression": "m", "type": "MAP"}, {"value": {"a": "b"}, "type": "STRING_MAP"}]
    )
    def test_a_literal_map(self, param: Raw) -> None:
        for kind in ("foreach", "while"):
            body: Raw = {"id": "f", "params": {"loop_params": param}, "steps": [step("a")]}
            body |= {"condition": "x"} if kind == "while" else {}
            assert found(flow({kind: body})) == [
                (Code.BAD_PARAM, f"workflow.steps[0].{kind}.params.loop_params")
            ]

    def test_arrays_for_foreach_and_single_values_for_while(self) -> None:
        assert found(flow(foreach("f", [step("a")], {"i": text("x")}))) == [
            (Code.BAD_PARAM, f"{self.PATH}.value.i")
        ]
        array = {"value": {"i": {"value": [1], "type": "LONG_ARRAY"}}, "type": "MAP"}
        value = flow(while_("w", [step("a")], params={"loop_params": array}))
        assert found(value) == [(Code.BAD_PARAM, "workflow.steps[0].while.params.loop_params.value.i")]
        single = {"value": {"i": {"value": 1, "type": "LONG"}}, "type": "MAP"}
        assert found(flow(while_("w", [step("a")], params={"loop_params": single}))) == []

    def test_no_name_twice_along_a_path(self) -> None:
        value = flow(foreach("f", [while_("w", [foreach("g", [step("a")])])]))
        path = "workflow.steps[0].foreach.steps[0].while.steps[0].foreach.params.loop_params.value.i"
        assert found(value) == [(Code.DUPLICATE_LOOP_PARAM, path)]
        assert found(flow(foreach("f", [step("a")]), foreach("g", [step("b")]))) == []


class TestNumbers:
    def test_workflow(self) -> None:
        for number in (1, 999):
            assert found(flow(instance_step_concurrency=number)) == []
        for number in (0, 1_000, -5):
            assert found(flow(instance_step_concurrency=number)) == [
                (Code.OUT_OF_RANGE, "workflow.instance_step_concurrency")
            ]

    def test_properties(self) -> None:
        for number in (1, 1_000):
            assert found(flow(properties={"step_concurrency": number, "run_strategy": number})) == []
        assert found(flow(properties={"step_concurrency": 0, "run_strategy": 1_001})) == [
            (Code.OUT_OF_RANGE, "properties.step_concurrency"),
            (Code.OUT_OF_RANGE, "properties.run_strategy.workflow_concurrency"),
        ]

    def test_only_parallel_runs_several(self) -> None:
        strategy = {"rule": "SEQUENTIAL", "workflow_concurrency": 2}
        assert found(flow(properties={"run_strategy": strategy})) == [
            (Code.CONFLICT, "properties.run_strategy.workflow_concurrency")
        ]
        assert found(flow(properties={"run_strategy": {**strategy, "workflow_concurrency": 1}})) == []

    def test_tags_of_properties(self) -> None:
        assert found(flow(properties={"tags": ["x"]})) == [(Code.CONFLICT, "properties.tags")]

    def test_loops(self) -> None:
        for number, ok in ((1, True), (500, True), (0, False), (501, False)):
            assert bool(found(flow(foreach("f", [step("a")], concurrency=number)))) is not ok
        for number, ok in ((1, True), (1_000_000, True), (0, False), (1_000_001, False)):
            assert bool(found(flow(while_("w", [step("a")], max_iterations=number)))) is not ok

    @pytest.mark.parametrize(
        "timeout", [0, 1, "0", "90", "1 day", "2h 3min", "${x}", "$x", 120 * 86_400, "120 days"]
    )
    def test_timeouts(self, timeout: Any) -> None:
        assert found(flow(step("a", timeout=timeout), timeout=timeout)) == []

    @pytest.mark.parametrize(
        ("timeout", "code"),
        [
            ("soon", Code.BAD_DURATION),
            ("", Code.BAD_DURATION),
            (-1, Code.OUT_OF_RANGE),
            (120 * 86_400 + 1, Code.OUT_OF_RANGE),
            ("121 days", Code.OUT_OF_RANGE),
        ],
    )
    def test_bad_timeouts(self, timeout: Any, code: str) -> None:
        assert found(flow(step("a", timeout=timeout), timeout=timeout)) == [
            (code, "workflow.timeout"),
            (code, f"{STEP}.timeout"),
        ]


class TestRetries:
    def problems(self, **policy: Any) -> list[tuple[str, str]]:
        prefix = f"{STEP}.retry_policy."
        return [
            (code, path.removeprefix(prefix)) for code, path in found(flow(step("a", retry_policy=policy)))
        ]

    @pytest.mark.parametrize("number", [0, 99, "0", " 99 ", "${n}"])
    def test_limits(self, number: Any) -> None:
        assert (
            self.problems(error_retry_limit=number, platform_retry_limit=number, timeout_retry_limit=number)
            == []
        )

    @pytest.mark.parametrize(
        ("number", "code"),
        [
            (-1, Code.OUT_OF_RANGE),
            (100, Code.OUT_OF_RANGE),
            ("100", Code.OUT_OF_RANGE),
            ("9" * 5_000, Code.OUT_OF_RANGE),
            ("-1", Code.WRONG_TYPE),
            ("1.5", Code.WRONG_TYPE),
            ("٣", Code.WRONG_TYPE),
            ("", Code.WRONG_TYPE),
        ],
    )
    def test_bad_limits(self, number: Any, code: str) -> None:
        assert self.problems(timeout_retry_limit=number) == [(code, "timeout_retry_limit")]

    @pytest.mark.parametrize(
        ("kind", "field", "good", "bad"),
        [
            (
                "FIXED_BACKOFF",
                "error_retry_backoff_in_secs",
                [1, 86_400, "1", "5 min", "${n}"],
                [0, 86_401, "2 days"],
            ),
            ("EXPONENTIAL_BACKOFF", "platform_retry_limit_in_secs", [1, "1h"], [0, "0"]),
            ("EXPONENTIAL_BACKOFF", "timeout_retry_exponent", [0, 2**31 - 1, "2"], [-1, 2**31]),
        ],
    )
    def test_backoff(self, kind: str, field: str, good: list[Any], bad: list[Any]) -> None:
        for number in good:
            assert self.problems(backoff={"type": kind, field: number}) == []
        for number in bad:
            assert self.problems(backoff={"type": kind, field: number}) == [
                (Code.OUT_OF_RANGE, f"backoff.{field}")
            ]

    def test_a_wait_that_is_no_duration(self) -> None:
        backoff = {"type": "FIXED_BACKOFF", "error_retry_backoff_in_secs": "a while"}
        assert self.problems(backoff=backoff) == [(Code.BAD_DURATION, "backoff.error_retry_backoff_in_secs")]

    def test_only_on_steps(self) -> None:
        assert [code for code, _ in found(flow(foreach("f", [step("a")], retry_policy={})))] == [
            Code.UNKNOWN_FIELD
        ]


class TestExpressions:
    BAD = "1 +"

    @pytest.mark.parametrize(
        ("value", "path"),
        [
            (flow(step("a", retry_policy={"retry_if": BAD})), f"{STEP}.retry_policy.retry_if"),
            (flow(params={"p": {"expression": BAD, "type": "LONG"}}), "workflow.params.p.expression"),
            (
                flow(params={"m": {"value": {"p": {"expression": BAD, "type": "LONG"}}, "type": "MAP"}}),
                "workflow.params.m.value.p.expression",
            ),
            (
                flow(step("a", params={"p": {"expression": BAD, "type": "LONG"}})),
                f"{STEP}.params.p.expression",
            ),
            (
                flow(
                    {"step": {"id": "a", "type": "NoOp", "transition": {"successors": {"b": BAD}}}}, step("b")
                ),
                f"{STEP}.transition.successors.b",
            ),
            (
                flow({"while": {"id": "w", "condition": BAD, "steps": [step("a")]}}),
                "workflow.steps[0].while.condition",
            ),
            (
                flow(signal_triggers=[{"definitions": {"s": {}}, "condition": BAD}]),
                "workflow.signal_triggers[0].condition",
            ),
            (
                flow(signal_triggers=[{"definitions": {"s": {}}, "dedup_expr": BAD}]),
                "workflow.signal_triggers[0].dedup_expr",
            ),
            (
                flow(
                    signal_triggers=[
                        {"definitions": {"s": {}}, "params": {"p": {"expression": BAD, "type": "LONG"}}}
                    ]
                ),
                "workflow.signal_triggers[0].params.p.expression",
            ),
            (
                flow(
                    step(
                        "a",
                        signal_outputs=[{"name": "s", "params": {"p": {"expression": BAD, "type": "LONG"}}}],
                    )
                ),
                f"{STEP}.signal_outputs[0].params.p.expression",
            ),
            (
                flow(
                    step(
                        "a",
                        signal_dependencies=[
                            {
                                "name": "s",
                                "match_params": {
                                    "p": {"param": {"expression": BAD, "type": "LONG"}, "operator": "="}
                                },
                            }
                        ],
                    )
                ),
                f"{STEP}.signal_dependencies[0].match_params.p.param.expression",
            ),
        ],
    )
    def test_everywhere(self, value: Raw, path: str) -> None:
        assert found(value) == [(Code.BAD_EXPRESSION, path)]

    def test_the_message_says_where_in_the_expression(self) -> None:
        made = parse(to_json(flow(params={"p": {"expression": "1 +\n 2 ) 3", "type": "LONG"}})))
        [problem] = validate(made)
        assert "at line 2, column 4 of the expression" in problem.message

    def test_texts_that_differ_in_numbers_are_each_reported(self) -> None:
        params = {f"p{n}": {"expression": f"{n} + ) {n}", "type": "LONG"} for n in range(1, 4)}
        assert [code for code, _ in found(flow(params=params))] == [Code.BAD_EXPRESSION] * 3

    @pytest.mark.parametrize("number", ["08", "99999999999999999999", "0x", "1e", "12x"])
    def test_a_bad_number_is_not_taken_for_a_good_one(self, number: str) -> None:
        params = {
            "good": {"expression": "x + 12", "type": "LONG"},
            "bad": {"expression": f"x + {number}", "type": "LONG"},
        }
        assert found(flow(params=params)) == [(Code.BAD_EXPRESSION, "workflow.params.bad.expression")]

    def test_long_ones(self) -> None:
        long = " + ".join(["1"] * 100)
        params = {name: {"expression": long, "type": "LONG"} for name in "ab"}
        assert found(flow(params=params)) == []
