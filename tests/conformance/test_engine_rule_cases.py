"""Behaviour cases about retries, timeouts and the status of runs, one test for each."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.conformance import test_engine_loop_rule_cases, test_engine_request_rule_cases
from tests.conformance.behaviour import Then
from tests.conformance.rule_cases import CASES, NEEDS_MACHINE, OTHER_RUNTIMES, Rules, fixture, like

from stretto.definition.graph import Graph
from stretto.engine.aggregate import aggregated_status, aggregated_views, statuses_at_end
from stretto.engine.outcome import outcome_of
from stretto.engine.overview import runtime_overview
from stretto.engine.retry import (
    DEFAULT_RETRIES,
    Failure,
    Retries,
    backoff_of,
    delay_seconds,
    read_retries,
    retries_of,
    retry_message,
)
from stretto.engine.rollup import Leaf, Rollup, rollup_of_children
from stretto.engine.timeouts import BadTimeout, timeout_millis
from stretto.model.aggregated import StepAggregatedView
from stretto.model.artifact import WhileArtifact
from stretto.model.errors import Internal, NotFound, StrettoError
from stretto.model.retry import ExponentialBackoff, FixedBackoff, RetryPolicy
from stretto.model.run_config import RunPolicy
from stretto.model.status import InstanceStatus, RunStatus, StepStatus
from stretto.model.step import Step, TypedStep
from stretto.model.wire import decode, encode
from stretto.sel import compile_template

pytestmark = pytest.mark.conformance
RULES = Rules()


@pytest.mark.parametrize("case_id", RULES.checks)
def test_case(case_id: str) -> None:
    RULES.run(case_id)


def test_every_case_is_tested_or_listed() -> None:
    modules = (test_engine_loop_rule_cases, test_engine_request_rule_cases)
    tested = [*RULES.checks, *(case_id for module in modules for case_id in module.RULES.checks)]
    others = [case_id for case_id in CASES if case_id.startswith(OTHER_RUNTIMES)]
    assert sorted([*tested, *NEEDS_MACHINE, *others]) == sorted(CASES)
