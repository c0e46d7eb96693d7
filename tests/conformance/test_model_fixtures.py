"""Every JSON fixture that is a record of the model: read, written, read again; nothing is lost."""

from pathlib import Path
from typing import Any

import pytest
from tests.conformance.corpus import corpus
from tests.conformance.echo import losses
from tests.conformance.model_fixtures import NOT_RECORDS, REFUSED, record_of

from stretto.model import wire

pytestmark = pytest.mark.conformance

ROOT: Path = corpus("maestro-data")
NAMES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.json"))
VALID = [name for name in NAMES if name not in REFUSED and name not in NOT_RECORDS]


def read(name: str) -> Any:
    return wire.loads((ROOT / name).read_bytes())


def test_every_json_file_is_in_a_table() -> None:
    assert [name for name in NAMES if record_of(name) is None and name not in NOT_RECORDS] == []
    assert REFUSED.keys() | NOT_RECORDS.keys() <= set(NAMES)
    assert len(NAMES) > 200


@pytest.mark.parametrize("name", VALID)
def test_round_trip(name: str) -> None:
    """parse(print(parse(x))) == parse(x), and print is idempotent."""
    tp = record_of(name)
    record, problems = wire.decode(tp, read(name))
    assert problems == []
    text = wire.to_json(wire.encode(record, tp))
    again, problems = wire.from_json(tp, text)
    assert problems == []
    assert again == record
    assert wire.to_json(wire.encode(again, tp)) == text


@pytest.mark.parametrize("name", VALID)
def test_nothing_is_lost(name: str) -> None:
    given = read(name)
    record, _ = wire.decode(record_of(name), given)
    assert list(losses(given, wire.encode(record, record_of(name)))) == []


@pytest.mark.parametrize(("name", "expected"), REFUSED.items())
def test_refused_with_the_right_problem(name: str, expected: list[tuple[str, str]]) -> None:
    _, problems = wire.decode(record_of(name), read(name))
    assert [(problem.code, problem.path) for problem in problems] == expected
