"""Workflows among Maestro's samples: their parameters can be read, merged and evaluated, rules included."""

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.corpus import corpus

from stretto.model.param import ParamDefinition, Params
from stretto.model.wire import decode
from stretto.params import (
    Alone,
    Evaluated,
    Moment,
    RunFacts,
    Scope,
    StepFacts,
    evaluate,
    for_dry_run,
    problems_of,
    workflow_params,
)

pytestmark = pytest.mark.conformance

ROOT = corpus("maestro-data")
NOW = 1_600_000_000_000


def workflows() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(ROOT.rglob("*.json")):
        written = json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
        workflow = written.get("workflow") if isinstance(written, dict) else None
        if isinstance(workflow, dict) and "steps" in workflow:
            yield str(path.relative_to(ROOT)), workflow


WORKFLOWS = dict(workflows())
NESTED_FOREACH = str(Path("maestro-server/src/test/resources/samples/sample-nested-foreach-wf.json"))


def read(written: dict[str, Any] | None) -> Params:
    params, problems = decode(dict[str, ParamDefinition], written or {})
    assert not problems
    return params


def steps_in(steps: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for wrapped in steps:
        for step in wrapped.values():
            yield step
            yield from steps_in(step.get("steps", []))


def run_of(workflow: dict[str, Any]) -> Evaluated:
    """The run's own parameters, as the dry run of a publication evaluates them."""
    signals = {name for trigger in workflow.get("signal_triggers") or () for name in trigger["definitions"]}
    facts = RunFacts(
        workflow_id=workflow["id"],
        owner="demo",
        initiator="VALIDATION",
        run_policy="START_FRESH_NEW_RUN",
        trigger_signals=frozenset(signals),
    )
    merged = workflow_params(for_dry_run(read(workflow.get("params"))))
    found = evaluate(merged, Scope(context=Alone(facts), moment=Moment(NOW)))
    assert isinstance(found, Evaluated)
    return found


def test_there_are_samples() -> None:
    assert len(WORKFLOWS) > 70
    assert NESTED_FOREACH in WORKFLOWS


@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_parameters_of_a_sample_make_sense(name: str) -> None:
    workflow = WORKFLOWS[name]
    assert problems_of(read(workflow.get("params"))) == []
    for step in steps_in(workflow["steps"]):
        assert problems_of(read(step.get("params"))) == []
    for param in run_of(workflow).values():
        assert param.evaluated_result is not None


def test_the_rule_that_a_sample_breaks_is_noted_and_does_not_stop_it() -> None:
    """Its loop parameter j has two entries and asks for more than two; Maestro never looks."""
    workflow = WORKFLOWS[NESTED_FOREACH]
    run = run_of(workflow)
    step = workflow["steps"][0]["foreach"]
    facts = StepFacts(step_id=step["id"], type="foreach")
    scope = Scope(context=Alone(RunFacts(workflow_id="wf")), moment=Moment(NOW), workflow=run, step=facts)
    found = evaluate(read(step["params"]), scope)
    assert isinstance(found, Evaluated)
    assert "[j]" in found["loop_params"].meta["warn"]
