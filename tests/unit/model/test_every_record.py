"""Rules that hold for every record of the model, driven by its annotations."""

from typing import Any

import msgspec
import pytest
from tests.unit.model.samples import (
    KINDS,
    Field,
    fields_of,
    full_record,
    kinds_of,
    records,
    sample_record,
    wrong_kinds_of,
)

from stretto.model import wire
from stretto.model.problem import Code
from stretto.model.wire.codec import Shape

RECORDS = [each for each in records() if not each.__name__.endswith("Fields")]
CONCRETE = [each for each in RECORDS if each.__name__ != "Page"]  # generic: see test_wire
FIELDS = [field for record in CONCRETE for field in fields_of(record)]
CLOSED = [each for each in CONCRETE if getattr(each, "wire", Shape()).rest is None and fields_of(each)]


def problems_of(tp: Any, value: Any) -> list[tuple[str, str]]:
    _, problems = wire.decode(tp, value)
    return [(problem.code, problem.path) for problem in problems]


def test_the_whole_model_is_looked_at() -> None:
    assert len(CONCRETE) > 100
    assert sum(len(wrong_kinds_of(field)) for field in FIELDS) > 2_000


@pytest.mark.parametrize("record", CONCRETE, ids=lambda each: each.__name__)
def test_smallest_and_fullest_value_round_trip(record: type[msgspec.Struct]) -> None:
    for value in (sample_record(record), full_record(record)):
        first, problems = wire.decode(record, value)
        assert problems == []
        written = wire.encode(first)
        again, problems = wire.decode(record, written)
        assert problems == []
        assert again == first
        assert wire.encode(again) == written


@pytest.mark.parametrize("record", CONCRETE, ids=lambda each: each.__name__)
def test_no_field_of_the_fullest_value_is_lost(record: type[msgspec.Struct]) -> None:
    value = full_record(record)
    written = wire.encode(wire.decode(record, value)[0])
    assert value.keys() <= written.keys() | {"depth"}


@pytest.mark.parametrize("field", FIELDS, ids=str)
def test_a_wrong_type_is_one_problem_at_its_place(field: Field) -> None:
    for kind, wrong in wrong_kinds_of(field).items():
        value = {**sample_record(field.owner), field.key: wrong}
        assert problems_of(field.owner, value) == [(Code.WRONG_TYPE, field.key)], kind


@pytest.mark.parametrize("record", CONCRETE, ids=lambda each: each.__name__)
def test_a_record_that_is_no_object_is_one_problem(record: type[msgspec.Struct]) -> None:
    for kind in KINDS.keys() - kinds_of(record):
        assert problems_of(record, KINDS[kind]) == [(Code.WRONG_TYPE, "")], kind


@pytest.mark.parametrize("record", CLOSED, ids=lambda each: each.__name__)
def test_an_unknown_field_is_refused_with_the_closest_known_one(record: type[msgspec.Struct]) -> None:
    known = fields_of(record)[0].key
    _, problems = wire.decode(record, {**sample_record(record), f"{known}z": 1})
    assert [(each.code, each.path) for each in problems] == [(Code.UNKNOWN_FIELD, f"{known}z")]
    assert problems[0].hint == f"did you mean `{known}`?"


@pytest.mark.parametrize("record", CONCRETE, ids=lambda each: each.__name__)
def test_all_missing_fields_are_found_at_once(record: type[msgspec.Struct]) -> None:
    required = [field for field in fields_of(record) if field.required]
    _, problems = wire.decode(record, {})
    assert [(each.code, each.path) for each in problems] == [
        (Code.MISSING_FIELD, field.key) for field in required
    ]
    assert [each.message for each in problems] == [
        f"the field `{field.key}` is missing" for field in required
    ]


@pytest.mark.parametrize("field", [each for each in FIELDS if not each.required], ids=str)
def test_null_is_the_same_as_absent(field: Field) -> None:
    value = sample_record(field.owner)
    record, problems = wire.decode(field.owner, {**value, field.key: None})
    assert problems == []
    assert record == wire.decode(field.owner, value)[0]
