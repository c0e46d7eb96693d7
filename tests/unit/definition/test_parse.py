"""Texts to definitions: forms, several definitions in one text, echoes, order and limits of problems."""

import json

import pytest
from tests.unit.definition.samples import flow, found, spots, step, with_limits

from stretto.definition import check, load, parse, parse_all
from stretto.definition.parse import Options
from stretto.definition.reading.read import Format
from stretto.model.errors import InvalidDefinition
from stretto.model.problem import Code

TWO = "workflow: {id: a}\n---\nworkflow: {id: b}\n"


def test_one_definition() -> None:
    assert parse(json.dumps(flow(step("a")))).workflow.steps[0].id == "a"
    assert load(b'{"workflow": {"id": "a"}}')[0].workflow.id == "a"


def test_several_documents() -> None:
    assert [each.workflow.id for each in parse_all(TWO)] == ["a", "b"]
    with pytest.raises(InvalidDefinition, match="expected one definition, found 2"):
        parse(TWO)


def test_parse_does_not_check_the_rules_and_load_does() -> None:
    text = json.dumps(flow(step("a", "nowhere")))
    assert parse(text).workflow.id == "wf"
    with pytest.raises(InvalidDefinition) as caught:
        load(text)
    assert [problem.code for problem in caught.value.problems] == [Code.UNKNOWN_STEP]


def test_documents_without_content_are_passed_over() -> None:
    assert [each.workflow.id for each in parse_all("---\n---\nworkflow: {id: a}\n---\n# end\n")] == ["a"]


@pytest.mark.parametrize("text", ["", "   \n", "# only a comment\n", "---\n", "---\n---\n", "null", "~"])
def test_a_text_without_definition(text: str) -> None:
    assert spots(text) == [(Code.EMPTY, 1, 1)]


@pytest.mark.parametrize(("text", "word"), [("[]", "a list"), ('"x"', "text"), ("5", "a whole number")])
def test_a_definition_is_an_object(text: str, word: str) -> None:
    [problem] = check(text).problems
    assert problem.code == Code.WRONG_TYPE
    assert word in problem.message


@pytest.mark.parametrize(("text", "line", "column"), [("\n\n  5\n", 3, 3), ("  [1]", 1, 3), ('\n "x"', 2, 2)])
def test_what_is_no_object_is_shown_where_it_is(text: str, line: int, column: int) -> None:
    def spot(text: str, form: Format | None = None) -> tuple[int | None, int | None]:
        [problem] = check(text, Options(form=form)).problems
        assert problem.code == Code.WRONG_TYPE
        return problem.line, problem.column

    assert spot(text) == spot(text, Format.JSON) == spot(text, Format.YAML) == (line, column)
    assert spot(f"workflow: {{id: a}}\n---\n{text}") == (line + 2, column)


def test_problems_of_several_documents_say_which() -> None:
    assert found("workflow: {id: a}\n---\nworkflow: {id: '$'}\n---\n5\n") == [
        (Code.BAD_NAME, "[1].workflow.id"),
        (Code.WRONG_TYPE, "[2]"),
    ]


def test_an_id_is_used_once_over_all_documents() -> None:
    text = "workflow: {id: a}\n---\nworkflow: {id: a}\n"
    assert spots(text) == [(Code.DUPLICATE_ID, 3, 16)]
    assert found(text) == [(Code.DUPLICATE_ID, "[1].workflow.id")]


def test_a_form_can_be_demanded() -> None:
    assert found("workflow: {id: a}", Options(form=Format.JSON)) == [(Code.SYNTAX, "")]
    assert found('{"workflow": {"id": "a"}}', Options(form=Format.YAML)) == []


def test_what_opens_like_json_may_be_yaml() -> None:
    assert parse("{workflow: {id: a}}").workflow.id == "a"
    assert parse("{'workflow': {'id': 'a'}}").workflow.id == "a"


def test_what_is_neither_is_bad_json() -> None:
    [problem] = check('{"workflow": {"id": "a"}').problems
    assert problem.message.startswith("this is not JSON")


def test_a_limit_is_said_also_where_the_form_was_guessed() -> None:
    assert found("{a: &a [1, 1], b: [*a, *a]}", with_limits(alias_nodes=3)) == [(Code.TOO_MANY_ALIASES, "")]


def test_problems_come_in_the_order_of_the_text() -> None:
    value = flow(step("1"), step("b", "c"), name="x" * 300)
    assert [problem.code for problem in check(json.dumps(value, indent=1)).problems] == [
        Code.TOO_LONG,
        Code.BAD_NAME,
        Code.UNKNOWN_STEP,
    ]


class TestEchoes:
    """A place that could not be read is reported once, not again by every rule."""

    def test_a_missing_id_is_not_empty_too(self) -> None:
        assert found({"workflow": {"steps": [{"step": {"type": "NoOp"}}]}}) == [
            (Code.MISSING_FIELD, "workflow.id"),
            (Code.MISSING_FIELD, "workflow.steps[0].step.id"),
        ]

    def test_an_unknown_kind_of_step(self) -> None:
        value = flow({"forEech": {"id": "b"}}, step("a", "b"))
        assert found(value) == [(Code.UNKNOWN_VALUE, "workflow.steps[0].forEech")]

    def test_an_unknown_trigger(self) -> None:
        assert found(flow(time_triggers=[{"type": "HOURLY"}, {}])) == [
            (Code.UNKNOWN_VALUE, "workflow.time_triggers[0].type"),
            (Code.MISSING_FIELD, "workflow.time_triggers[1].type"),
        ]

    def test_a_step_type_of_the_wrong_kind_does_not_hide_the_rest_of_the_step(self) -> None:
        assert found(flow({"step": {"id": "1", "type": 5}})) == [
            (Code.BAD_NAME, "workflow.steps[0].step.id"),
            (Code.WRONG_TYPE, "workflow.steps[0].step.type"),
        ]

    def test_a_missing_workflow(self) -> None:
        assert found({"properties": {"owner": "me"}}) == [(Code.MISSING_FIELD, "workflow")]

    def test_a_name_that_begins_like_a_broken_one_is_still_checked(self) -> None:
        value = flow(
            params={"a": 5, "a-": {"type": "STRING", "value": "x"}, "a$": {"type": "LONG", "value": 1}}
        )
        assert found(value) == [
            (Code.WRONG_TYPE, "workflow.params.a"),
            (Code.BAD_NAME, 'workflow.params["a$"]'),
        ]


class TestManyProblems:
    def test_in_the_shape(self) -> None:
        value = {"workflow": {"id": "a", **{f"f{n}": n for n in range(20)}}}
        problems = check(json.dumps(value), with_limits(problems=5)).problems
        assert [each.code for each in problems] == [*[Code.UNKNOWN_FIELD] * 5, Code.TOO_MANY]

    def test_exactly_as_many_as_allowed(self) -> None:
        value = {"workflow": {"id": "a", **{f"f{n}": n for n in range(5)}}}
        assert len(check(json.dumps(value), with_limits(problems=5)).problems) == 5

    def test_in_the_rules(self) -> None:
        value = flow(*(step(f"s{n}", f"t{n}") for n in range(20)))
        problems = check(json.dumps(value), with_limits(problems=5)).problems
        assert [each.code for each in problems] == [*[Code.UNKNOWN_STEP] * 5, Code.TOO_MANY]

    def test_in_another_form(self) -> None:
        jobs = "".join(f"  - job: {{id: j{n}, type: what{n}}}\n" for n in range(20))
        problems = check(f"workflow:\n  id: a\n  jobs:\n{jobs}", with_limits(problems=5)).problems
        assert [each.code for each in problems] == [*[Code.UNKNOWN_JOB] * 5, Code.TOO_MANY]

    def test_in_the_text(self) -> None:
        keys = ",".join('"a": 1' for _ in range(20))
        assert len(check(f"{{{keys}}}", with_limits(problems=5)).problems) == 5
