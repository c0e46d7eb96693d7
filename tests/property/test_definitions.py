"""Generated definitions: valid, printed and read again, and both ways of reading a text agree."""

import json
import re
import string
from typing import Any

import jsonschema_rs
import pytest
import yaml
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from tests.property.definitions import JSON, TEXTS, Raw, definitions, raw_definitions

from stretto.definition import check, parse, to_json, to_yaml, validate
from stretto.definition.limits import Limits
from stretto.definition.reading.json_text import LocatedJson, read_json
from stretto.definition.reading.yaml_text import YamlProblem, YamlReader
from stretto.definition.schema import definition_schema
from stretto.model.problem import keys_in, render
from stretto.model.wire import to_json as json_bytes
from stretto.model.workflow import Definition

VALIDATOR = jsonschema_rs.Draft202012Validator(definition_schema())
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
quick = settings(max_examples=25, deadline=None, suppress_health_check=SLOW)
long = settings(max_examples=1_000, deadline=None, suppress_health_check=SLOW)


def assert_valid(raw: Raw) -> None:
    text = json_bytes(raw)
    assert check(text).problems == ()
    assert VALIDATOR.is_valid(json.loads(text))


def assert_round_trip(made: Definition) -> None:
    assert validate(made) == []
    for show in (to_json, to_yaml):
        text = show(made)
        again = parse(text)
        assert again == made
        assert show(again) == text
    assert to_json(parse(to_yaml(made))) == to_json(made)
    assert VALIDATOR.is_valid(json.loads(to_json(made)))


@quick
@given(raw_definitions())
def test_generated_definitions_are_valid_and_fit_the_schema(raw: Raw) -> None:
    assert_valid(raw)


@quick
@given(definitions())
def test_round_trips(made: Definition) -> None:
    assert_round_trip(made)


@pytest.mark.prove
@long
@given(raw_definitions())
def test_many_generated_definitions_are_valid(raw: Raw) -> None:
    assert_valid(raw)


@pytest.mark.prove
@long
@given(definitions())
def test_many_round_trips(made: Definition) -> None:
    assert_round_trip(made)


@settings(max_examples=200, deadline=None)
@given(JSON, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_both_json_readers_agree(value: Any, indent: Any, ascii_only: bool) -> None:
    text = json.dumps(value, default=float, indent=indent, ensure_ascii=ascii_only)
    assert LocatedJson(text).read() == read_json(text)


def read_yaml(text: str, *, located: bool) -> Any:
    reader = YamlReader(text, Limits(), located=located)
    try:
        documents = reader.read()
    except YamlProblem as stop:
        return stop.problem
    return [problem.code for problem in reader.problems] or documents


MARKS = [*"abx12:-[]{},&*!<>|?#'\"%~.\n ", "<<", ": ", "- ", "&a ", "*a", "\n  ", "!!str ", "---\n"]
YAML = st.lists(st.sampled_from(MARKS), max_size=40).map("".join)


@settings(max_examples=400, deadline=None)
@given(YAML)
@example("a: &a {x: 1}\nb:\n  <<: [*a, {y: 2}]\n  x: 3\n")
@example("? [a]\n: b")
@example("&a a: *a")
def test_both_yaml_readers_agree_on_any_text(text: str) -> None:
    assert read_yaml(text, located=False) == read_yaml(text, located=True)


@settings(max_examples=200, deadline=None)
@given(JSON, st.booleans())
def test_yaml_that_others_write_is_read_as_json_would_be(value: Any, flow: bool) -> None:
    """PyYAML writes for 1.1; quotes keep its texts texts."""
    plain = json.loads(json.dumps(value, default=float))
    assume(not re.search(r"\\u(0085|2028|2029)", json.dumps(plain)))  # it folds these away itself
    text = yaml.safe_dump(
        plain, default_flow_style=flow, allow_unicode=True, default_style='"' if flow else None
    )
    [got] = YamlReader(text, Limits(), located=False).read() or [None]
    assert json.loads(json.dumps(got, default=float)) == plain


BYTES = st.one_of(
    st.binary(max_size=60),
    st.text(string.printable, max_size=60).map(str.encode),
    st.text('{}[]",:\\u01eE+-.tfn \n', max_size=60).map(str.encode),
)


@settings(max_examples=400, deadline=None)
@given(BYTES)
def test_no_bytes_raise(data: bytes) -> None:
    checked = check(data)
    assert checked.problems or checked.definitions
    assert all(problem.line is not None for problem in checked.problems)


@settings(max_examples=30, deadline=None, suppress_health_check=SLOW)
@given(raw_definitions(), st.data())
def test_no_change_of_a_definition_raises(raw: Raw, data: st.DataObject) -> None:
    """Any value put in the place of another gives problems at most; without any, the schema agrees."""
    text = json.loads(json_bytes(raw))
    node: Any = text
    while node and isinstance(node, dict | list):
        key = data.draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
        if data.draw(st.integers(0, 3)) == 0 or not isinstance(node[key], dict | list) or not node[key]:
            node[key] = data.draw(
                st.one_of(JSON.map(lambda value: json.loads(json.dumps(value, default=float))))
            )
            break
        node = node[key]
    problems = check(json.dumps(text)).problems
    assert all(each.line and each.column for each in problems)
    if not problems:
        assert VALIDATOR.is_valid(text)


@given(st.lists(st.one_of(TEXTS, st.integers(0, 99))))
def test_paths_can_be_read_again(keys: list[str | int]) -> None:
    assert keys_in(render(keys)) == keys
