"""What holds for every rule."""

import pytest
from tests.unit.strategies.table import Given, Then, outcome, strategy

from stretto.model.properties import RunStrategyRule
from stretto.strategies import MOST_ADMITTED, queue_needed, would_admit
from stretto.strategies.rules import RULES

EACH = pytest.mark.parametrize("rule", RunStrategyRule)


def test_every_word_has_its_rule() -> None:
    assert list(RULES) == list(RunStrategyRule)
    assert all(RULES[name].name is name for name in RunStrategyRule)


@EACH
def test_a_lone_run_starts_at_once(rule: RunStrategyRule) -> None:
    assert outcome(strategy(rule), Given(requests="start")) == Then("10=CREATED", admitted="10")


@EACH
def test_concurrency_0_pauses(rule: RunStrategyRule) -> None:
    assert outcome(strategy(rule, 0), Given("4")) == Then()
    assert outcome(strategy(rule, 0), Given(requests="start")) == Then("10=CREATED")
    assert not would_admit(strategy(rule, 0), 1, 0, 0)


@EACH
def test_a_look_without_lock_agrees_with_the_transaction(rule: RunStrategyRule) -> None:
    for queue in ("", "4", "4 5"):
        for running in range(3):
            for failed in range(2):
                admitted = outcome(strategy(rule, 1), Given(queue, running, failed)).admitted
                looked = would_admit(strategy(rule, 1), len(queue.split()), running, failed)
                assert looked == bool(admitted)


@EACH
def test_only_rules_that_end_queued_runs_read_the_whole_queue(rule: RunStrategyRule) -> None:
    replaces = rule in {RunStrategyRule.LAST_ONLY, RunStrategyRule.SERIAL_LATEST_ONLY}
    assert queue_needed(strategy(rule)) == (None if replaces else MOST_ADMITTED + 1)
