"""What is allowed and almost surely not meant; and, as much, what is not doubted."""

from typing import Any, ClassVar

import msgspec
import pytest
from tests.unit.definition.samples import Raw, flow, foreach, step, text_of, while_

from stretto.definition import Limits, check
from stretto.definition.parse import Options
from stretto.definition.step_types import Described, StepTypes
from stretto.model.problem import Code
from stretto.model.step import STEP_TYPES, TypedStep

WARNINGS = Options(warnings=True)
KNOWN = Options(warnings=True, templates={"spark": "Kubernetes"})


def doubts(value: Raw | str, options: Options = WARNINGS, *, valid: bool = True) -> list[tuple[str, str]]:
    """Code and path of every warning."""
    checked = check(text_of(value), options)
    assert valid is not bool(checked.problems), checked.problems
    return [(each.code, each.path) for each in checked.warnings]


def long(expression: str) -> Raw:
    return {"type": "LONG", "expression": expression}


def text(written: str) -> Raw:
    return {"type": "STRING", "value": written}


def value(number: int = 1) -> Raw:
    return {"type": "LONG", "value": number}


class OldTypes(StepTypes):
    """A type with a parameter that is still read, and one that nobody should write any more."""

    SCHEMA: ClassVar[Any] = {
        "properties": {
            "old": {"type": "integer", "deprecated": True, "description": "write `fresh`"},
            "fresh": {"type": "integer"},
            "any": True,
        }
    }

    def __contains__(self, name: object) -> bool:
        return name in STEP_TYPES or name == "Old"

    def __iter__(self) -> Any:
        return iter((*STEP_TYPES, "Old"))

    def __len__(self) -> int:
        return len(STEP_TYPES) + 1

    def describe(self, step: TypedStep) -> Described:
        return Described(schema=self.SCHEMA) if step.type == "Old" else Described()


OLD = Options(warnings=True, limits=Limits(step_types=OldTypes()))


class TestKeysThatBecomeParameters:
    @pytest.mark.parametrize(
        ("key", "hint"),
        [
            ("retry_policy: {error_retry_limit: 3}", "write `+retry_policy`"),
            ("signal_dependencies: x", "write `+signal_dependencies`"),
            ("compensation: x", "this YAML has no such field"),
            ("depends_on: [b]", "name this job in the `transition`"),
            ("retries: 3", "write `+retry`"),
            ("timeoutt: 1 hour", "did you mean `timeout`?"),
        ],
    )
    def test_a_key_of_a_job(self, key: str, hint: str) -> None:
        text = f"workflow:\n  id: w\n  jobs:\n    - job:\n        id: a\n        type: NoOp\n        {key}\n"
        checked = check(text, WARNINGS)
        (warning,) = checked.warnings
        assert not checked.problems
        assert (warning.code, warning.line, warning.column) == (Code.NOT_A_FIELD, 7, 9)
        assert warning.path == f"workflow.jobs[0].job.{key.split(':', maxsplit=1)[0]}"
        assert warning.hint is not None
        assert warning.hint.startswith(hint)

    @pytest.mark.parametrize(
        "key", ["retries<long>: 3", "'!retries': 1 + 2", "colour: red", "job_params: {retry: 1}"]
    )
    def test_a_key_that_is_meant_as_a_parameter(self, key: str) -> None:
        assert doubts(f"workflow: {{id: w, jobs: [{{job: {{id: a, type: NoOp, {key}}}}}]}}") == []

    def test_a_key_that_something_reads(self) -> None:
        text = "workflow: {id: w, retries: 3, jobs: [{job: {id: a, type: NoOp, text: '${retries}'}}]}"
        assert doubts(text) == []
        assert doubts(text.replace("${retries}", "x")) == [(Code.NOT_A_FIELD, "workflow.retries")]

    def test_what_is_only_metadata(self) -> None:
        raw = flow(step("a")) | {"propertis": {}, "timeout": 5, "owner": "ann", "team": "data"}
        assert doubts(raw) == [(Code.NOT_A_FIELD, key) for key in ("propertis", "timeout", "owner")]
        hints = [each.hint for each in check(text_of(raw), WARNINGS).warnings]
        assert hints == ["did you mean `properties`?", "move it into `workflow`", "move it into `properties`"]


class TestNamesThatNothingDefines:
    def test_a_slip_of_the_finger(self) -> None:
        raw = flow(
            step(
                "a",
                params={"n": long("return hourz;"), "text": {"type": "STRING", "value": "$TARGET_RUN_DATA"}},
            ),
            step("b", params={"deep": {"type": "MAP", "value": {"n": long("hourz")}}}),
            params={"hours": value()},
        )
        at = "workflow.steps[0].step.params"
        found = [
            (Code.UNKNOWN_PARAM, f"{at}.n.expression"),
            (Code.UNKNOWN_PARAM, f"{at}.text.value"),
            (Code.UNKNOWN_PARAM, "workflow.steps[1].step.params.deep.value.n.expression"),
        ]
        assert doubts(raw)[:2] == found[:2]
        assert found[2] in doubts(raw)
        given = Options(warnings=True, given=frozenset({"hourz", "hours"}))
        assert doubts(raw, given) == [found[1]]

    def hints(self, raw: Raw) -> list[str | None]:
        return [each.hint for each in check(text_of(raw), WARNINGS).warnings]

    def test_a_name_that_is_like_no_other(self) -> None:
        raw = flow(step("a", params={"n": long("return day;"), "s": text("on ${day}")}))
        at = "workflow.steps[0].step.params"
        assert doubts(raw) == [
            (Code.UNKNOWN_PARAM, f"{at}.n.expression"),
            (Code.UNKNOWN_PARAM, f"{at}.s.value"),
        ]
        assert self.hints(raw) == [
            "declare `day` as a parameter, or bring it with each start",
            "declare `day` as a parameter; for the text itself write `$$day`",
        ]

    def test_a_variable_of_a_shell(self) -> None:
        command = {"command": text("for f in *; do echo $f; done; echo $$HOME")}
        raw = flow({"step": {"id": "a", "type": "Shell", "params": command}})
        assert doubts(raw) == [(Code.UNKNOWN_PARAM, "workflow.steps[0].step.params.command.value")]
        assert self.hints(raw) == ["for a shell variable write `$$f`"]

    def test_arguments_of_a_function_are_brought_by_each_start(self) -> None:
        raw = flow(step("a", params={"n": long("return day;")}))
        assert doubts({**raw, "requires": {"day": {"type": "LONG"}}}) == []
        assert doubts({**raw, "requires": ["day"]}) != []

    def test_every_place_that_is_evaluated(self) -> None:
        retry = {"error_retry_limit": "${a1}", "retry_if": "a2 > 1"}
        raw = flow(
            step("s", retry_policy=retry, timeout="${a3}", signal_dependencies=[{"name": "go-${a4}"}]),
            step("t", signal_outputs=[{"name": "done-${a5}", "params": {"x": long("a6"), "y": long("x")}}]),
            while_("w", [step("inner")], condition="a7 < 1"),
            params={"p": long("a8"), "deep": {"type": "MAP", "value": {"m": text("$a9")}}, "q": long("p")},
            timeout="${b1}",
            signal_triggers=[
                {
                    "definitions": {"go": {}},
                    "params": {"v": long("b2 + p")},
                    "condition": "v > b3 && go__n == 1",
                    "dedup_expr": "b4",
                }
            ],
        )
        steps, workflow = "workflow.steps", "workflow"
        assert {path for code, path in doubts(raw) if code == Code.UNKNOWN_PARAM} == {
            f"{steps}[0].step.retry_policy.error_retry_limit",
            f"{steps}[0].step.retry_policy.retry_if",
            f"{steps}[0].step.timeout",
            f"{steps}[0].step.signal_dependencies[0].name",
            f"{steps}[1].step.signal_outputs[0].name",
            f"{steps}[1].step.signal_outputs[0].params.x.expression",
            f"{steps}[2].while.condition",
            f"{workflow}.params.p.expression",
            f"{workflow}.params.deep.value.m.value",
            f"{workflow}.timeout",
            f"{workflow}.signal_triggers[0].params.v.expression",
            f"{workflow}.signal_triggers[0].condition",
            f"{workflow}.signal_triggers[0].dedup_expr",
        }

    def test_numbers_read_nothing(self) -> None:
        assert doubts(flow(step("a", retry_policy={"error_retry_limit": 2}, timeout=5), timeout=6)) == []

    def test_a_guess_is_not_made_for_ever(self) -> None:
        names = [f"unlike{number}x" for number in range(120)]
        raw = flow(step("a", params={name: long(f"return {name}q;") for name in names}))
        guessed = [hint for hint in self.hints(raw) if hint and hint.startswith("did you mean")]
        assert (len(doubts(raw)), len(guessed)) == (120, 100)

    def test_a_step_that_does_not_exist(self) -> None:
        raw = flow(
            step("load", "b", params={"rows": value()}),
            step("b", params={"n": long("loaf__rows"), "m": long("load__rows")}),
        )
        assert doubts(raw) == [(Code.UNKNOWN_PARAM, "workflow.steps[1].step.params.n.expression")]
        (warning,) = check(text_of(raw), WARNINGS).warnings
        assert warning.hint == "did you mean `load`?"

    def test_a_signal_may_be_meant(self) -> None:
        waits = [{"name": "arrived", "match_params": {"day": {"param": value(), "operator": "="}}}]
        assert doubts(flow(step("a", signal_dependencies=waits, params={"n": long("arrived__day")}))) == []

    def test_parameters_of_a_signal_trigger(self) -> None:
        """On Maestro's semantics they stay with the initiator: only `params.getFromSignal` reads them."""
        reads = step("a", params={"n": long("arrived__day"), "m": long("return day;")})
        triggers = [{"definitions": {"arrived": {}}, "params": {"day": value(), "days": value()}}]
        unknown = (Code.UNKNOWN_PARAM, "workflow.steps[0].step.params.m.expression")
        assert doubts(flow(reads, signal_triggers=triggers)) == [unknown]
        assert doubts(flow(reads, signal_triggers=triggers, semantics="STRETTO")) == []
        asks = step("a", params={"m": long("params.getFromSignal('day')")})
        assert doubts(flow(asks, signal_triggers=triggers)) == []

    def test_conditions_and_signals(self) -> None:
        edges = {"successors": {"b": "hourz > 1"}}
        match = {"h": {"param": long("hourz"), "operator": "="}}
        raw = flow(
            step("a", transition=edges, signal_outputs=[{"name": "s", "params": {"h": long("hourz")}}]),
            step("b", signal_dependencies=[{"name": "t", "match_params": match}]),
            params={"hours": value()},
        )
        assert doubts(raw) == [
            (Code.UNKNOWN_PARAM, "workflow.steps[0].step.transition.successors.b"),
            (Code.UNKNOWN_PARAM, "workflow.steps[0].step.signal_outputs[0].params.h.expression"),
            (
                Code.UNKNOWN_PARAM,
                "workflow.steps[1].step.signal_dependencies[0].match_params.h.param.expression",
            ),
        ]

    def test_the_payload_of_a_signal(self) -> None:
        """It reads what the parameters of the signal read, these, and other values of the payload."""
        payload = {"a": long("hours + b + p"), "b": long("b"), "plain": {"a": "hourz"}}
        output = {"name": "s", "params": {"p": long("hours")}, "payload": payload}
        raw = flow(step("a", signal_outputs=[output]), params={"hours": value()})
        assert doubts(raw) == [
            (Code.UNKNOWN_PARAM, "workflow.steps[0].step.signal_outputs[0].payload.b.expression")
        ]

    def test_what_loops_and_types_bring(self) -> None:
        inner = step("b", params={"n": long("return i + loop_index + other;")})
        outer = foreach("a", [inner])
        outer["foreach"]["params"]["other"] = value()
        outer["foreach"]["params"]["others"] = value()
        loop = {"x": value(), "xx": value()}
        again = while_("w", [step("d")], params={"loop_params": {"type": "MAP", "value": loop}})
        bare = while_("v", [step("e")], condition="loop_index < 3")
        http = {"http": {"type": "MAP", "value": {"url": {"type": "STRING", "value": "u"}}}}
        asks = {"step": {"id": "h", "type": "Http", "params": http | {"code": long("status_code")}}}
        assert doubts(flow(outer, again, bare, asks)) == []

    def test_what_a_type_describes(self) -> None:
        reads = {"n": long("return fresh_;"), "fresh": value()}
        raw = flow({"step": {"id": "a", "type": "Old", "params": {"n": long("return fresh + any;")}}})
        assert doubts(raw, OLD) == []
        raw = flow({"step": {"id": "a", "type": "Old", "params": reads}})
        assert doubts(raw, OLD) == [(Code.UNKNOWN_PARAM, "workflow.steps[0].step.params.n.expression")]

    def test_templates_bring_what_nobody_sees_here(self) -> None:
        params = {"hours": value(), "n": long("hourz")}
        assert doubts(flow(step("a", sub_type="spark", params=params)), KNOWN) == []
        assert doubts(flow({"template": {"id": "a", "params": params}})) == []

    @pytest.mark.parametrize(
        ("sub_type", "hint"),
        [
            ("spork", "did you mean `spark`?"),
            ("nightly", "publish it before the step runs, or name it with `--template NAME=TYPE`"),
        ],
    )
    def test_job_templates_that_nobody_knows(self, sub_type: str, hint: str) -> None:
        raw = flow(foreach("l", [step("a", sub_type=sub_type)]), step("b", sub_type="SPARK"))
        (warning,) = check(text_of(raw), KNOWN).warnings
        assert (warning.code, warning.path) == (
            Code.UNKNOWN_VALUE,
            "workflow.steps[0].foreach.steps[0].step.sub_type",
        )
        assert warning.message == f"the job template `{sub_type}` is not known here"
        assert warning.hint == hint

    @pytest.mark.parametrize("version", ["v1", "v9"])
    def test_versions_of_job_templates_that_nobody_knows(self, version: str) -> None:
        """Where it is known which versions there are, each step is asked about its own."""
        spark = step("a", sub_type="spark", sub_type_version=version)
        nightly = step("b", sub_type="nightly", sub_type_version="v1")
        loop = foreach("l", [step("c", sub_type="spark", sub_type_version="v1")])
        versions = {("spark", "v1"), ("spark", "default")}
        options = msgspec.structs.replace(KNOWN, versions=versions)
        warnings = check(text_of(flow(spark, nightly, loop, step("d", sub_type="spark"))), options).warnings
        wrong = [] if version == "v1" else [("workflow.steps[0].step.sub_type_version", "spark", "v9")]
        wrong += [("workflow.steps[1].step.sub_type", "nightly", "v1")]
        assert [(each.path, each.message) for each in warnings] == [
            (path, f"the job template `{name}`, version `{number}`, is not known here")
            for path, name, number in wrong
        ]
        unknown = [each.message for each in check(text_of(flow(spark, nightly)), KNOWN).warnings]
        assert unknown == ["the job template `nightly`, version `v1`, is not known here"]

    def test_the_version_that_a_workflow_chooses_for_all_its_steps(self) -> None:
        options = msgspec.structs.replace(KNOWN, versions={("spark", "v1")})

        def said(version: Raw) -> list[str]:
            params = {"job_template_version": {"type": "STRING", **version}}
            raw = flow(step("a", sub_type="spark"), params=params)
            return [each.message for each in check(text_of(raw), options).warnings]

        assert said({"value": "v1"}) == []
        assert said({"value": "v2"}) == ["the job template `spark`, version `v2`, is not known here"]
        assert said({"expression": "return 'v' + 2;"}) == []

    def test_an_expression_that_can_not_be_read_is_an_error(self) -> None:
        assert doubts(flow(step("a", params={"n": long("return (;")})), valid=False) == []


class TestSchedules:
    @pytest.mark.parametrize(
        ("cron", "said"),
        [
            ("0 0 30 2 *", "never fires"),
            ("0 0 31 4,6,9,11 *", "never fires"),
            ("0 0 0 30 2 ? *", "never fires"),
            ("0 0 0 1 1 ? 2020", "never fires after 2026-01-01"),
        ],
    )
    def test_a_cron_that_never_fires(self, cron: str, said: str) -> None:
        raw = flow(step("a"), time_triggers=[{"type": "CRON", "cron": "0 0 29 2 *"}, cron_of(cron)])
        (warning,) = check(text_of(raw), WARNINGS).warnings
        assert (warning.code, warning.path) == (Code.NEVER_FIRES, "workflow.time_triggers[1].cron")
        assert warning.message == f"the cron `{cron}` {said}"

    def test_what_can_not_be_read_is_an_error_alone(self) -> None:
        wrong = [cron_of("0 0 32 2 *"), {**cron_of("0 0 30 2 *"), "timezone": "Nowhere"}]
        assert doubts(flow(step("a"), time_triggers=wrong), valid=False) == []
        assert doubts(flow(step("a"), time_triggers=[{"type": "PREDEFINED", "expression": "@daily"}])) == []


def cron_of(expression: str) -> Raw:
    return {"type": "CRON", "cron": expression}


class TestLimitsThatLimitNothing:
    def test_a_tag_of_the_workflow_with_a_limit(self) -> None:
        raw = flow(step("a"), tags=["plain", {"name": "scarce", "permit": 2}])
        assert doubts(raw) == [(Code.UNUSED_LIMIT, "workflow.tags[1].permit")]

    def test_a_tag_of_a_step_with_a_limit(self) -> None:
        assert doubts(flow(step("a", tags=[{"name": "scarce", "permit": 2}]))) == []


class TestParametersThatNothingReads:
    READS: ClassVar[Raw] = step("a", params={"n": long("used")})
    PARAMS: ClassVar[Raw] = {"used": value(), "idle": value(), "RUN_TS": value()}

    def test_never_read(self) -> None:
        assert doubts(flow(self.READS, params=self.PARAMS)) == [(Code.UNUSED_PARAM, "workflow.params.idle")]
        assert (
            doubts(flow(self.READS, params=self.PARAMS), Options(warnings=True, given=frozenset({"idle"})))
            == []
        )
        assert doubts(flow(self.READS, description="idle: for later", params=self.PARAMS)) == []

    @pytest.mark.parametrize(
        "other",
        [
            step("b", params={"m": long("return params.get('id' + 'le');")}),
            {"subworkflow": {"id": "b", "params": {"subworkflow_id": {"type": "STRING", "value": "c"}}}},
            step("b", sub_type="spark"),
            {"template": {"id": "b"}},
        ],
    )
    def test_somebody_else_may(self, other: Raw) -> None:
        assert doubts(flow(self.READS, other, params=self.PARAMS), KNOWN) == []

    def test_a_child_that_gets_what_the_step_says(self) -> None:
        params = {"subworkflow_id": {"type": "STRING", "value": "c"}}
        child = {"subworkflow": {"id": "b", "explicit_params": True, "params": params}}
        raw = flow(self.READS, child, params=self.PARAMS)
        assert doubts(raw) == [(Code.UNUSED_PARAM, "workflow.params.idle")]

    def test_steps_that_read_nothing_at_all(self) -> None:
        assert doubts(flow(step("a"), params={"one": value(), "two": long("one + 1")})) == []


class TestConditionsThatNeverChange:
    def test_edges(self) -> None:
        raw = flow(
            step("a", transition={"successors": {"b": "false", "c": "2 > 1", "d": "true", "e": "n > 1"}}),
            *map(step, "bcde"),
            params={"n": value()},
        )
        edges = "workflow.steps[0].step.transition.successors"
        assert doubts(raw) == [
            (Code.CONSTANT_CONDITION, f"{edges}.b"),
            (Code.CONSTANT_CONDITION, f"{edges}.c"),
            (Code.NEVER_REACHED, "workflow.steps[1].step.id"),
        ]

    @pytest.mark.parametrize(
        "condition", ["1 / 0 > 1", "new DateTime().getMillis() > 5", "5", "Math.random() > 0.5"]
    )
    def test_what_is_known_only_in_a_run(self, condition: str) -> None:
        assert doubts(flow(step("a", transition={"successors": {"b": condition}}), step("b"))) == []

    def test_what_takes_long_is_not_evaluated(self) -> None:
        """A loop of 75,000 passes in each of 20 conditions; the budget of all of them is one."""
        loops = "for (i = 0; i < 25000; i += 1) { for (j = 0; j < 3; j += 1) { 1; } } return true;"
        targets = [f"b{number}" for number in range(20)]
        edges = {"successors": {**dict.fromkeys(targets, loops), "c": "2 > 1"}}
        raw = flow(step("a", transition=edges), *map(step, [*targets, "c"]))
        path = "workflow.steps[0].step.transition.successors.c"
        assert doubts(raw) == [(Code.CONSTANT_CONDITION, path)]

    def test_behind_an_edge_that_is_never_taken(self) -> None:
        raw = flow(step("a", transition={"successors": {"b": "false"}}), step("b", "c"), step("c"))
        assert [path for code, path in doubts(raw) if code == Code.NEVER_REACHED] == [
            "workflow.steps[1].step.id",
            "workflow.steps[2].step.id",
        ]
        other = flow(step("a", transition={"successors": {"b": "false"}}), step("b"), step("c", "b"))
        assert [code for code, _ in doubts(other)] == [Code.CONSTANT_CONDITION]

    @pytest.mark.parametrize(
        ("more", "found"),
        [
            ({"condition": "true"}, [Code.CONSTANT_CONDITION]),
            ({"condition": "false"}, [Code.CONSTANT_CONDITION]),
            ({"condition": "true", "max_iterations": 3}, []),
            ({"condition": "loop_index < 3"}, []),
        ],
    )
    def test_loops(self, more: Raw, found: list[str]) -> None:
        raw = while_("w", [step("b")])
        raw["while"] |= more
        assert [code for code, _ in doubts(flow(raw))] == found

    def test_beside_an_error(self) -> None:
        """Also that an expression can not be read: it is no constant."""
        edges = {"successors": {"b": "false", "c": "(", "nowhere": "true"}}
        raw = flow(step("a", transition=edges), step("b"), step("c"))
        found = [code for code, _ in doubts(raw, valid=False)]
        assert found == [Code.CONSTANT_CONDITION, Code.NEVER_REACHED]


class TestFormsThatWereReplaced:
    def test_a_member_of_a_map(self) -> None:
        made: Raw = {"type": "MAP", "value": {"image": text("x"), "entrypoint": text("x")}}
        raw = flow({"step": {"id": "a", "type": "Kubernetes", "params": {"kubernetes": made}}})
        path = "workflow.steps[0].step.params.kubernetes.value.entrypoint"
        assert doubts(raw) == [(Code.DEPRECATED, path)]
        del made["value"]["entrypoint"]
        assert doubts(raw) == []
        made.clear()
        made |= {"type": "MAP", "expression": "return params;"}
        assert doubts(raw) == []

    def test_what_a_type_says_of_its_parameters(self) -> None:
        params = {"old": value(), "fresh": value(), "any": value(), "own": value()}
        raw = flow({"step": {"id": "a", "type": "Old", "params": params}})
        assert doubts(raw, OLD) == [(Code.DEPRECATED, "workflow.steps[0].step.params.old")]
        assert check(text_of(raw), OLD).warnings[0].hint == "write `fresh`"

    def test_a_type_that_is_not_known(self) -> None:
        assert (
            doubts(flow({"step": {"id": "a", "type": "Nobody", "params": {"old": value()}}}), valid=False)
            == []
        )


def test_nobody_asks_for_them() -> None:
    raw = flow(step("a", transition={"successors": {"b": "false"}}), step("b"))
    assert check(text_of(raw)).warnings == ()


def test_a_text_that_can_not_be_read_gives_none() -> None:
    raw = flow(step("a", transition={"successors": {"b": "false"}}), step("b", tags=5))
    assert doubts(raw, valid=False) == []
    many = msgspec.structs.replace(WARNINGS, limits=Limits(problems=1))
    assert doubts(flow(step("a", tags=5), step("b", tags=5), step("c", tags=5)), many, valid=False) == []


def test_several_definitions() -> None:
    steps = "[{step: {id: a, type: NoOp, transition: {successors: {b: 1 > 0}}}}, {step: {id: b, type: NoOp}}]"
    one, other = (f"workflow: {{id: {name}, steps: {steps}}}" for name in "vw")
    checked = check(f"{one}\n---\n{other}\n", WARNINGS)
    assert [each.path[:3] for each in checked.warnings] == ["[0]", "[1]"]
    assert [each.line for each in checked.warnings] == [1, 3]


def test_more_than_anybody_reads() -> None:
    edges = {"successors": dict.fromkeys("bcdef", "1 > 0")}
    raw = flow(step("a", transition=edges), *map(step, "bcdef"))
    few = msgspec.structs.replace(WARNINGS, limits=Limits(problems=2))
    assert [each.code for each in check(text_of(raw), few).warnings] == [
        Code.CONSTANT_CONDITION,
        Code.CONSTANT_CONDITION,
        Code.TOO_MANY,
    ]
