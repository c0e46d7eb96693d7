"""Missing values that are objects, or come from other workflows, are None like all others."""

from dataclasses import dataclass
from typing import Any

import pytest

from stretto.definition import parse
from stretto.flow import Flow, collect, either, foreach, otherwise, step, text, when, workflow
from stretto.flow.engine import Engine
from stretto.testing.harness import Harness


@dataclass
class Point:
    n: int


def checked(n: int) -> int:
    if n == 3:
        message = "three"
        raise ValueError(message)
    return n


@step(retries=0, failure_mode="IGNORE_FAILURE")
def number(n: int) -> int:
    return checked(n)


@step(retries=0, failure_mode="IGNORE_FAILURE")
def word(n: int) -> str:
    return str(checked(n))


@step(retries=0, failure_mode="IGNORE_FAILURE")
def numbers(n: int) -> list[int]:
    return [checked(n)]


@step(retries=0, failure_mode="IGNORE_FAILURE")
def record(n: int) -> dict[str, int]:
    return {"n": checked(n)}


@step(retries=0, failure_mode="IGNORE_FAILURE")
def records(n: int) -> list[dict[str, int]]:
    return [{"n": checked(n)}]


@step(retries=0, failure_mode="IGNORE_FAILURE")
def point(n: int) -> Point:
    return Point(checked(n))


@step
def shown(value: Any) -> str:
    return repr(value)


@step
def record_shown(value: dict[str, int] | None) -> str:
    return repr(value)


@step
def number_shown(value: int | None) -> str:
    return repr(value)


@step
def said(value: str) -> str:
    return value


# ----------------------------------------------------------------------------------------------- objects
@workflow
def in_an_object() -> Any:
    return {"record": record(3), "number": number(3), "words": [word(3), word(1)], "point": point(3)}


@workflow
def lists_in_an_object() -> Any:
    return {"numbers": numbers(3), "records": records(3), "there": records(1)}


@workflow
def in_a_list() -> Any:
    return [record(1), record(3)]


@workflow
def alone_in_a_list() -> Any:
    return [[record(3)], [records(3)], [number(3)]]


@workflow
def handed_on() -> list[str]:
    return [shown(record(3)), record_shown(record(3)), shown([point(3), point(1)]), shown({"a": [record(3)]})]


@workflow
def compared() -> str:
    found = record(3)
    with when(found == None):  # noqa: E711 - it is traced
        none = said("none")
    with otherwise():
        other = said("some")
    return either(none, other)


@workflow
def in_a_loop() -> list[str]:
    with foreach([1, 3]) as n:
        found = shown({"record": record(n), "n": n})
    return collect(found)


@workflow
def in_a_text() -> str:
    return said(text("record: ", record(3), ", ", number(1)))


# -------------------------------------------------------------------------------------- other workflows
@workflow
def one_number(n: int) -> int:
    return number(n)


@workflow
def one_word(n: int) -> str:
    return word(n)


@workflow
def one_record(n: int) -> dict[str, int]:
    return record(n)


@workflow
def one_list(n: int) -> list[int]:
    return numbers(n)


@workflow
def below(n: int) -> int:
    return one_number(n)


@workflow
def returned() -> int:
    return one_number(3)


@workflow
def returned_from_below() -> int:
    return below(3)


@workflow
def children() -> list[Any]:
    return [one_number.map([1, 3]), one_word.map([1, 3]), one_record.map([1, 3]), one_list.map([1, 3])]


@workflow
def children_below() -> list[int]:
    return below.map([1, 3])


@workflow
def children_in_a_block() -> list[int]:
    with foreach([1, 3]) as n:
        found = one_number(n)
    return collect(found)


@workflow
def children_handed_on() -> list[str]:
    return [
        number_shown(one_number(3)),
        record_shown(one_record(3)),
        shown(one_number.map([1, 3])),
        said(text("child: ", one_number(3))),
    ]


@workflow
def children_in_an_object() -> Any:
    return {"number": one_number(3), "record": one_record(3)}


RESULTS: list[tuple[Flow[..., Any], Any]] = [
    (in_an_object, {"record": None, "number": None, "words": [None, "1"], "point": None}),
    (lists_in_an_object, {"numbers": None, "records": None, "there": [{"n": 1}]}),
    (in_a_list, [{"n": 1}, None]),
    (alone_in_a_list, [[None], [None], [None]]),
    (handed_on, ["None", "None", "[None, {'n': 1}]", "{'a': [None]}"]),
    (compared, "none"),
    (in_a_loop, ["{'record': {'n': 1}, 'n': 1}", "{'record': None, 'n': 3}"]),
    (in_a_text, "record: None, 1"),
    (returned, None),
    (returned_from_below, None),
    (children, [[1, None], ["1", None], [{"n": 1}, None], [[1], None]]),
    (children_below, [1, None]),
    (children_in_a_block, [1, None]),
    (children_handed_on, ["None", "None", "[1, None]", "child: None"]),
    (children_in_an_object, {"number": None, "record": None}),
]


@pytest.mark.parametrize(("flow", "value"), RESULTS, ids=[each[0].id for each in RESULTS])
def test_what_is_missing_is_none(flow: Flow[..., Any], value: Any) -> None:
    assert parse(flow.to_yaml()) == flow.definition
    with Harness() as harness:
        run = harness.start(flow)
        assert harness.finish(run) == "SUCCEEDED", [run.step(each).reason for each in run.steps]
        assert run.result == value


@pytest.mark.parametrize("flow", [in_an_object, children, returned_from_below], ids=lambda each: each.id)
def test_a_database_keeps_what_is_missing(flow: Flow[..., Any], tmp_path: Any) -> None:
    with Engine(f"sqlite:///{tmp_path}/runs.db").sync() as engine:
        assert engine.run(flow) == dict(RESULTS)[flow]


@workflow
def looked_into() -> str:
    return shown(record(3)["n"])


@workflow
def needed() -> list[int]:
    return number.map(one_list(3))


@pytest.mark.parametrize(("flow", "where"), [(looked_into, "shown"), (needed, "number_map")])
def test_what_needs_the_value_fails_and_says_so(flow: Flow[..., Any], where: str) -> None:
    with Harness() as harness:
        run = harness.start(flow)
        assert harness.finish(run) == "FAILED"
        assert "null" in str(run.step(where).reason).lower()
