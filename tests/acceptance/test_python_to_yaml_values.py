"""Missing values and large numbers of Python workflows are the same in runs of their YAML."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.acceptance import portable_values as flows
from tests.acceptance.printed import end_in_process, end_on_the_server, printed_on_a_server, why_on_the_server
from tests.acceptance.serving import Serving

from stretto import Flow

MISSING: list[tuple[Flow[..., Any], Any]] = [
    (flows.ignored_items, [2, 4, None, 8]),
    (flows.handled_items, [2, 4, None, 8]),
    (flows.flags, [True, None]),
    (flows.halves, [0.5, None]),
    (flows.names, ["2", None]),
    (flows.records, [{"n": 2}, None]),
    (flows.lists, [[2, 1], None]),
    (flows.all_missing, [None, None]),
    (flows.nothing_to_map, []),
    (flows.over_a_parameter, [2, None, 10]),
    (flows.one_missing, None),
    (flows.in_an_object, {"a": None, "b": [None, "8"], "c": None, "d": [None], "e": None}),
    (flows.handed_on, ["[2, None]", "None"]),
    (flows.not_taken, [None, 4]),
    (flows.not_evaluated, [2, None]),
    (flows.late, [1, None]),
    (flows.one_child_missing, None),
    (flows.children, [2, None]),
    (flows.children_handed_on, ["None", "[2, None]", [None, {"n": 2}], {"a": None}]),
    (flows.chosen, ["some", "none"]),
    (flows.switched, "other"),
    (flows.in_a_text, "n: None, 8"),
    (flows.returned_errors, ["2", "ValueError: three"]),
    (flows.by_default, -1),
    (flows.unanswered, [None, None]),
]
BIG, LOW = 4_000_000_000, -(2**65)
NUMBERS: list[tuple[Flow[..., Any], dict[str, Any], Any]] = [
    (flows.arithmetic, {}, [BIG**3, BIG * LOW, LOW - BIG, LOW // 3, LOW % 7, -LOW, -LOW, BIG + LOW]),
    (flows.arithmetic, {"a": -(2**63), "b": -1}, [-(2**189), 2**63, 2**63 - 1, -1, 6, 1, 1, -(2**63) - 1]),
    (flows.arithmetic, {"a": 2**90, "b": 7}, [2**270, 7 * 2**90, 7 - 2**90, 2, 0, -7, 7, 2**90 + 7]),
    (flows.compared, {}, [False, False, True, True, True]),
    (flows.branched, {}, "exact"),
    (flows.branched, {"n": 2**40}, "wrapped"),  # which is beyond the bounds of the condition
    (flows.switched_large, {}, "exact"),
    (flows.looped, {}, 3**64),
    (flows.mapped, {}, [2**63, 2**65, -(2**71)]),
    (flows.mapped, {"ns": [10**40, -1]}, [2 * 10**40, -2]),
    (flows.through_a_child, {}, 2**104 + 1),
    (flows.in_a_record, {}, {"n": 2**70 + 1, "all": [2**70, 2**140]}),
]
FAILURES: list[tuple[Flow[..., Any], str, str]] = [
    (flows.computed, "kept", "a value is missing"),
    (flows.not_expected, "kept", "a value that it reads is missing"),
    (flows.too_large, "kept_2", "needs more than 4,000 digits"),
    (flows.too_large_in_a_condition, "kept", "needs more than 4,000 digits"),
    (flows.too_large_in_a_loop, "loop", "needs more than 4,000 digits"),
    (flows.divided_by_zero, "kept_2", "divided by zero"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with printed_on_a_server(flows, tmp_path_factory.mktemp("values")) as made:
        yield made


@pytest.mark.parametrize(("flow", "value"), MISSING, ids=[each.id for each, _ in MISSING])
def test_missing_values_are_none(server: Serving, flow: Flow[..., Any], value: Any) -> None:
    pushed = end_on_the_server(server, flow)
    assert pushed == end_in_process(flow)
    assert pushed[:2] == ("SUCCEEDED", value)


@pytest.mark.parametrize(
    ("flow", "params", "value"), NUMBERS, ids=[f"{flow.id} {[*params]}" for flow, params, _ in NUMBERS]
)
def test_numbers_are_exact(server: Serving, flow: Flow[..., Any], params: dict[str, Any], value: Any) -> None:
    pushed = end_on_the_server(server, flow, params)
    assert pushed == end_in_process(flow, params)
    assert pushed[:2] == ("SUCCEEDED", value)


@pytest.mark.parametrize(("flow", "step", "reason"), FAILURES, ids=[each.id for each, *_ in FAILURES])
def test_what_can_not_be_computed_is_an_error(
    server: Serving, flow: Flow[..., Any], step: str, reason: str
) -> None:
    pushed = end_on_the_server(server, flow)
    assert pushed == end_in_process(flow)
    assert (pushed.status, pushed.steps[step]) == ("FAILED", "FATALLY_FAILED")
    assert reason in why_on_the_server(server, flow)
