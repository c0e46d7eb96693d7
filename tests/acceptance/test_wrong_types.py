"""A wrong type in every field of the model is refused at that field. The JSON Schema says what is wrong."""

import json
from typing import Any

import jsonschema_rs
import pytest
from tests.acceptance.wrong_types import WRONG, Site, sites

from stretto.definition import check
from stretto.definition.parse import Options
from stretto.definition.schema import definition_schema
from stretto.model.problem import render
from stretto.model.workflow import Definition

SITES = list(sites())
VALIDATOR = jsonschema_rs.Draft202012Validator(definition_schema())
SHAPE = Options(rules=False)


def refused_at(site: Site, value: Any) -> list[str]:
    """Paths of the problems at, in or around the field; each has a place in the text."""
    problems = check(json.dumps(site.document(value)), SHAPE).problems
    assert all(problem.line and problem.column and problem.message for problem in problems)
    return [problem.path for problem in problems]


def test_there_are_many_fields() -> None:
    assert len(SITES) > 100
    assert len({site.record for site in SITES}) > 25
    assert SITES[0].record is Definition


@pytest.mark.parametrize("site", SITES, ids=lambda site: f"{site.record.__name__}.{site.field}")
def test_wrong_types(site: Site) -> None:
    refused = 0
    for value in WRONG:
        fits = VALIDATOR.is_valid(site.document(value))
        paths = refused_at(site, value)
        assert bool(paths) is not fits, (value, paths)
        if paths:
            refused += 1
            path = render(site.keys)
            assert any(each.startswith(path) for each in paths), (value, paths)
    assert refused >= 4


@pytest.mark.parametrize("site", SITES, ids=lambda site: f"{site.record.__name__}.{site.field}")
def test_null_is_refused_only_where_a_value_is_needed(site: Site) -> None:
    fits = VALIDATOR.is_valid(site.document(None))
    assert bool(refused_at(site, None)) is not fits


PARAM_FIELDS = ["type", "value", "expression", "validator", "tags", "mode", "internal_mode"]


@pytest.mark.parametrize("field", PARAM_FIELDS)
def test_wrong_types_in_parameters(field: str) -> None:
    kinds = (
        "STRING",
        "LONG",
        "DOUBLE",
        "BOOLEAN",
        "STRING_MAP",
        "STRING_ARRAY",
        "LONG_ARRAY",
        "DOUBLE_ARRAY",
    )
    refused = 0
    for kind in (*kinds, "BOOLEAN_ARRAY", "MAP"):
        for wrong in WRONG:
            param = {"type": kind, "internal_mode": "OPTIONAL", field: wrong}
            value = {"workflow": {"id": "a", "params": {"p": param}}}
            problems = check(json.dumps(value), SHAPE).problems
            refused += bool(problems)
            if problems:
                assert all(each.path.startswith("workflow.params.p") for each in problems)
            elif field != "value":  # a DOUBLE may be text; that it is no number only a reader can know
                assert VALIDATOR.is_valid(value), (param, problems)
    assert refused > 20
