"""Time-outs of Python workflows are failures for handlers, modes and undos in runs of their YAML, too."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.acceptance import portable_failures as flows
from tests.acceptance.printed import End, ends_in_process, ends_on_the_server, printed_on_a_server

from stretto import Flow


class Case(NamedTuple):
    flow: Flow[..., Any]
    status: str
    value: Any
    ledger: list[str]  # what the steps have done


HANDLED = [
    Case(flows.handled, "SUCCEEDED", "late", ["slow", "late"]),
    Case(flows.handled_map, "SUCCEEDED", None, ["slow", "one is late"]),
    Case(flows.handled_after_retries, "SUCCEEDED", None, ["slow", "slow", "late twice"]),
    Case(flows.escalated, "SUCCEEDED", "nobody", ["nobody"]),
    Case(flows.handled_and_not_undone, "SUCCEEDED", "late", ["book 1", "slow", "late"]),
    Case(flows.not_evaluated_and_handled, "SUCCEEDED", "no number", ["no number"]),
]
MODES = [
    Case(flows.ignored, "SUCCEEDED", "done", ["slow", "done"]),
    Case(flows.fails_immediately, "FAILED", None, ["endless", "slow"]),
    Case(flows.fails_after_running, "FAILED", None, ["slow", "the others end"]),
]
UNDONE = [
    Case(flows.undone, "FAILED", None, ["book 1", "book 2", "slow", "cancel 2", "cancel 1"]),
    Case(
        flows.undone_map,
        "FAILED",
        None,
        ["book 1", "book 2", "book 3", "slow", "cancel 3", "cancel 2", "cancel 1"],
    ),
    Case(flows.undone_child, "FAILED", None, ["book 10", "book 11", "slow", "cancel 11", "cancel 10"]),
    Case(
        flows.undone_children_in_a_loop,
        "FAILED",
        None,
        [
            "book 10",
            "book 11",
            "book 20",
            "book 21",
            "slow",
            "cancel 21",
            "cancel 20",
            "cancel 11",
            "cancel 10",
        ],
    ),
    Case(flows.late_booking, "FAILED", None, ["book 1", "slow", "cancel 1"]),
    Case(
        flows.undone_beside_a_late_child,
        "FAILED",
        None,
        ["book 5", "book 1", "slow", "cancel 1", "cancel 5"],
    ),
    Case(flows.undone_without_an_answer, "FAILED", None, ["book 1", "cancel 1"]),
    Case(flows.undone_without_parameters, "FAILED", None, ["book 1", "cancel 1"]),
    Case(flows.undone_behind_a_condition, "FAILED", None, ["book 1", "told", "cancel 1"]),
]
OF_THE_RUN = [
    Case(flows.run_too_long, "TIMED_OUT", None, ["endless"]),
    Case(flows.run_too_long_and_undone, "TIMED_OUT", None, ["book 1", "endless", "cancel 1"]),
]
CASES = [*HANDLED, *MODES, *UNDONE, *OF_THE_RUN]


class Played(NamedTuple):
    """How all of them ended, and in which folder their ledgers are."""

    ends: Mapping[str, End]
    folder: Path

    def ledger(self, flow: Flow[..., Any]) -> list[str]:
        return (self.folder / flow.id).read_text().splitlines()


def params_in(folder: Path) -> dict[Flow[..., Any], dict[str, Any]]:
    folder.mkdir()
    return {each.flow: {"ledger": str(folder / each.flow.id)} for each in CASES}


@pytest.fixture(scope="module")
def pushed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    folder = tmp_path_factory.mktemp("failures")
    with printed_on_a_server(flows, folder) as server:
        yield Played(ends_on_the_server(server, params_in(folder / "ledgers")), folder / "ledgers")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("in_process") / "ledgers"
    return Played(ends_in_process(params_in(folder)), folder)


@pytest.mark.parametrize("case", CASES, ids=[each.flow.id for each in CASES])
def test_the_printed_workflow_ends_as_the_python_one_does(pushed: Played, played: Played, case: Case) -> None:
    end = pushed.ends[case.flow.id]
    assert end == played.ends[case.flow.id]
    assert end[:2] == (case.status, case.value)
    for each in (pushed, played):
        assert each.ledger(case.flow) == case.ledger
