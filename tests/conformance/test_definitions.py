"""Every definition of the corpus: read, checked, printed, read again; bad ones refused."""

import json
from typing import Any

import jsonschema_rs
import pytest
from tests.conformance.definition_files import (
    DEFINITIONS,
    FIRST,
    FIXTURES,
    INVALID,
    INVALID_AS_FIRST,
    MAESTRO,
    REQUESTS,
    ROOT,
    STEP_FILES,
    STEPS,
    STORED,
    VALID,
    Problems,
    text_of,
    value_of,
)

from stretto.definition import Limits, check, parse, to_json, to_yaml
from stretto.definition.parse import Options
from stretto.definition.schema import definition_schema
from stretto.model.problem import Code

pytestmark = pytest.mark.conformance

CREATE = f"{FIXTURES}/api/sample-workflow-create-request.json"
VALIDATOR = jsonschema_rs.Draft202012Validator(definition_schema())


def found(text: str, options: Options) -> Problems:
    return [(problem.code, problem.path) for problem in check(text, options).problems]


def test_the_tables_are_about_files_that_exist() -> None:
    assert len(VALID) > 70
    names = {path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*")}
    assert INVALID.keys() | INVALID_AS_FIRST.keys() <= names
    # What the index calls invalid is refused here, or is about something else.
    rows = [line.split("|") for line in text_of("INDEX.md").splitlines() if line.startswith("| sample-")]
    invalid = {row[1].strip() for row in rows if row[3].strip().startswith("invalid")}
    assert invalid - {name.rpartition("/")[2] for name in (*INVALID, *INVALID_AS_FIRST)} == {
        "sample-wf-invalid-alerting.json",  # refused only by an extension of Netflix's own
        "sample-breakpoint-create-invalid-request.json",  # a breakpoint
        "sample-typed-step-invalid.json",  # see below
        "sample-invalid-git-info.json",  # see below
    }


@pytest.mark.parametrize("name", VALID)
def test_valid_ones_have_no_problem(name: str) -> None:
    assert found(text_of(name), MAESTRO) == []


@pytest.mark.parametrize("name", [name for name in VALID if name.startswith((REQUESTS, "maestro-server"))])
def test_requests_can_be_first_versions_unless_they_lack_an_owner(name: str) -> None:
    assert found(text_of(name), FIRST) == INVALID_AS_FIRST.get(name, [])


@pytest.mark.parametrize("name", INVALID_AS_FIRST)
def test_without_owner(name: str) -> None:
    [problem] = check(text_of(name), FIRST).problems
    assert (problem.code, problem.path) == INVALID_AS_FIRST[name][0]
    assert "workflow properties and also owner must be set" in problem.message


@pytest.mark.parametrize("name", INVALID)
def test_invalid_ones_are_refused(name: str) -> None:
    options, problems = INVALID[name]
    assert found(text_of(name), options) == problems


def test_the_cycle_is_named_as_maestro_names_it() -> None:
    [problem] = check(text_of(f"{REQUESTS}/sample-dag-with-cycle-wf.json")).problems
    assert "Invalid workflow definition [sample-dag-test-1-wf], where DAG contains cycle" in problem.message
    assert "job.2 -> job.3 -> job.4 -> job.2" in problem.message


def test_a_size_limit_of_the_index() -> None:
    """639 bytes when serialised: a limit of 500 bytes is violated, 1 KB is not."""
    text = json.dumps(value_of(CREATE), separators=(",", ":"))
    for limit, problems in ((500, [(Code.TOO_LARGE, "")]), (1024, [])):
        assert found(text, Options(limits=Limits(text_bytes=limit))) == problems


def test_tags_and_reserved_keys_of_the_index() -> None:
    value = value_of(CREATE)
    value["properties"]["tags"] = [{"name": "x"}]
    value["workflow_id"] = "x"
    assert sorted(found(json.dumps(value), MAESTRO)) == [
        (Code.CONFLICT, "properties.tags"),
        (Code.RESERVED_NAME, "workflow_id"),
    ]


@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("show", [to_json, to_yaml])
def test_round_trip(name: str, show: Any) -> None:
    made = parse(text_of(name), MAESTRO)
    printed = show(made)
    again = parse(printed)
    assert again == made
    assert show(again) == printed


@pytest.mark.parametrize("name", DEFINITIONS)
def test_fits_the_schema(name: str) -> None:
    VALIDATOR.validate(value_of(name))
    VALIDATOR.validate(json.loads(to_json(parse(text_of(name), MAESTRO))))


@pytest.mark.parametrize("name", STEP_FILES)
def test_single_steps(name: str) -> None:
    text = json.dumps({"workflow": {"id": "a", "steps": [value_of(name)]}})
    made = parse(text)
    assert parse(to_yaml(made)) == parse(to_json(made)) == made


def test_concurrency_of_a_foreach() -> None:
    value = value_of(f"{STEPS}/sample-foreach-step.json")
    for concurrency, problems in (
        (5, []),
        (5000, [(Code.OUT_OF_RANGE, "workflow.steps[0].foreach.concurrency")]),
        (None, []),
    ):
        value["foreach"]["concurrency"] = concurrency
        text = json.dumps({"workflow": {"id": "a", "steps": [value]}})
        assert [each for each in found(text, MAESTRO) if each[0] == Code.OUT_OF_RANGE] == problems


def shape(value: Any) -> Problems:
    """What is wrong before any rule is asked."""
    return found(json.dumps(value), Options(rules=False))


def test_a_signal_without_name() -> None:
    steps = [value_of(f"{STEPS}/sample-typed-step-invalid.json")]
    assert shape({"workflow": {"id": "a", "steps": steps}}) == [
        (Code.MISSING_FIELD, "workflow.steps[0].step.signal_dependencies[0].name")
    ]


def test_an_unknown_field_in_git_info() -> None:
    git_info = value_of(f"{STORED}/sample-invalid-git-info.json")
    assert shape({"workflow": {"id": "a"}, "git_info": git_info}) == [
        (Code.UNKNOWN_FIELD, "git_info.timestamp1")
    ]


def test_bare_ones_need_templates() -> None:
    name = "maestro-dsl/src/test/resources/fixtures/sample-dsl-wf-1.yaml"
    assert {code for code, _ in found(text_of(name), Options())} == {Code.UNKNOWN_JOB}
