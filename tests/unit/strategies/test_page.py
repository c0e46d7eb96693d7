"""The tables of `docs/reference/run-strategies.md` say what the code does."""

import json
from pathlib import Path

import pytest
from tests.unit.strategies.table import Given, Then, outcome, paused_runs, run, runs, strategy

from stretto.model import wire
from stretto.model.errors import PreconditionFailed
from stretto.model.properties import RunStrategy, RunStrategyRule
from stretto.model.response import Hold
from stretto.strategies import check_change, explain

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "run-strategies.md").read_text(encoding="utf-8")
SLOTS = {RunStrategyRule.PARALLEL: 3}


def rows(title: str) -> list[list[str]]:
    """The cells below the head of the table in a section."""
    section = PAGE.split(f"# {title}\n", 1)[1].split("\n#", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip().strip("`") for cell in line.split("|")[1:-1]] for line in lines[2:]]


def test_the_overview_has_every_rule_with_its_default() -> None:
    overview = [(RunStrategyRule(row[0]), int(row[1])) for row in rows("Run strategies")]
    assert overview == [(rule, RunStrategy(rule=rule).workflow_concurrency) for rule in RunStrategyRule]


@pytest.mark.parametrize(("written", "rule", "concurrency"), rows("How it is written"))
def test_the_forms(written: str, rule: str, concurrency: str) -> None:
    read, problems = wire.decode(RunStrategy, json.loads(written))
    assert problems == []
    assert (read.rule, read.workflow_concurrency) == (rule, int(concurrency))


@pytest.mark.parametrize("rule", RunStrategyRule)
def test_the_examples_of_each_rule(rule: RunStrategyRule) -> None:
    examples = rows(rule)
    assert len(examples) >= 3
    for queue, running, failed, requests, *then in examples:
        given = Given(queue, int(running), int(failed), requests)
        assert outcome(strategy(rule, SLOTS.get(rule)), given) == Then(*then), given


@pytest.mark.parametrize("row", rows("Changing the strategy"))
def test_changes(row: list[str]) -> None:
    old, new = (strategy(RunStrategyRule(name)) for name in row[:2])
    queued, running, failed = map(int, row[2:5])
    answer = "done"
    try:
        check_change(old, new, queued, running, failed)
    except PreconditionFailed as error:
        answer = error.message
    assert answer == row[5]


def test_every_reason_to_wait_is_there() -> None:
    assert [row[5] for row in rows("Why does it wait?")] == list(Hold)


@pytest.mark.parametrize("row", rows("Why does it wait?"))
def test_reasons_to_wait(row: list[str]) -> None:
    rule, concurrency, queue, running, failed, hold, answer = row
    chosen = strategy(RunStrategyRule(rule), int(concurrency))
    waiting = explain(chosen, run("9"), runs(queue), runs(running), runs(failed), paused_runs(queue))
    assert (waiting.hold, waiting.sentence) == (hold, answer)
