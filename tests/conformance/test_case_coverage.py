"""Every contract case of the engine's areas is a test, and each of these tests puts our code to work."""

import sys
from collections.abc import Callable
from types import FrameType, FunctionType, ModuleType
from typing import Any

import pytest
from tests.conformance import (
    test_action_cases,
    test_engine_cases,
    test_engine_loop_rule_cases,
    test_engine_request_rule_cases,
    test_engine_rule_cases,
    test_engine_step_cases,
    test_engine_template_rule_cases,
    test_permit_cases,
    test_run_strategy_cases,
)
from tests.conformance.behaviour import cases_of
from tests.conformance.rule_cases import AREAS, OTHER_RUNTIMES

pytestmark = pytest.mark.conformance

CONTRACT = [
    case_id
    for case_id in cases_of(*AREAS, "instance-action", "run-strategy")
    if not case_id.startswith(OTHER_RUNTIMES)
]
# A case that can not be a test is listed here with the reason.
ARGUED: dict[str, str] = {}
MODULES: tuple[ModuleType, ...] = (
    test_action_cases,
    test_engine_cases,
    test_engine_loop_rule_cases,
    test_engine_request_rule_cases,
    test_engine_rule_cases,
    test_engine_step_cases,
    test_engine_template_rule_cases,
    test_permit_cases,
    test_run_strategy_cases,
)
Test = Callable[[str], None]
# Where decisions are made; records and codecs decide nothing, unless reading them is what a case is about.
LAYERS = ("engine", "strategies", "actions", "definition", "params")
READ = "runstrategy-parse"


def runs_of(module: ModuleType) -> list[tuple[str, Test]]:
    """Which case each test of a module is run with."""
    found: list[tuple[str, Test]] = []
    for name, test in vars(module).items():
        is_test = isinstance(test, FunctionType) and name.startswith("test_")
        for mark in getattr(test, "pytestmark", ()) if is_test else ():
            if mark.name == "parametrize" and mark.args[0] == "case_id":
                found += [(case_id, test) for case_id in mark.args[1]]
    return found


def all_tests() -> dict[str, list[Test]]:
    found: dict[str, list[Test]] = {}
    for module in MODULES:
        for case_id, test in runs_of(module):
            found.setdefault(case_id, []).append(test)
    return found


COVERED = all_tests()


def test_every_contract_case_is_a_test_or_argued_away() -> None:
    missing = [case_id for case_id in CONTRACT if case_id not in COVERED and case_id not in ARGUED]
    assert not missing, f"neither covered nor argued: {missing}"
    assert len(CONTRACT) > 150


def test_nothing_is_argued_that_is_tested_or_not_there() -> None:
    assert not [case_id for case_id in ARGUED if case_id in COVERED or case_id not in CONTRACT]
    assert all(len(reason) > 20 for reason in ARGUED.values())


class Watch:
    """Which parts of our code ran."""

    def __init__(self) -> None:
        self.layers: set[str] = set()

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            _, found, path = frame.f_code.co_filename.partition("/src/stretto/")
            if found:
                self.layers.add(path.split("/")[0])


@pytest.mark.parametrize("case_id", [case_id for case_id in CONTRACT if case_id in COVERED])
def test_each_puts_our_code_to_work(case_id: str) -> None:
    for test in COVERED[case_id]:
        watch = Watch()
        before = sys.getprofile()
        sys.setprofile(watch)
        try:
            test(case_id)
        finally:
            sys.setprofile(before)
        wanted = {*LAYERS, "model"} if case_id.startswith(READ) else set(LAYERS)
        assert watch.layers & wanted, f"{test.__module__} decides nothing for {case_id}"


class Noted(dict[str, Any]):
    """Expectations that know which of them were read."""

    def __init__(self, then: dict[str, Any]) -> None:
        super().__init__(then)
        self.read: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.read.add(key)
        return super().get(key, default)

    def items(self) -> Any:
        self.read |= self.keys()
        return super().items()

    def values(self) -> Any:
        self.read |= self.keys()
        return super().values()


@pytest.mark.parametrize("case_id", [case_id for case_id, _ in runs_of(test_run_strategy_cases)])
def test_nothing_that_a_strategy_case_expects_is_left_out(
    case_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others take each expectation, or fail; these read them from the case itself."""
    case = test_run_strategy_cases.CASES[case_id]
    then = Noted(case["then"])
    monkeypatch.setitem(case, "then", then)
    for test in COVERED[case_id]:
        test(case_id)
    assert then.read >= set(then) - {"note"}  # a note is prose
