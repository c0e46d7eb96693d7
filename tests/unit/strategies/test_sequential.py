"""SEQUENTIAL: one at a time and in order, however the one before it ended."""

import pytest
from tests.unit.strategies.table import Given, Row, Then, outcome, strategy

from stretto.model.properties import RunStrategyRule

TABLE: dict[str, Row] = {
    "the first starts at once": (Given(requests="start"), Then("10=CREATED", admitted="10")),
    "behind a running one": (Given(running=1, requests="start"), Then("10=CREATED")),
    "behind a queued one": (Given("4", requests="start"), Then("10=CREATED", admitted="4")),
    "all of a batch wait": (Given(requests="start start"), Then("10=CREATED 11=CREATED", admitted="10")),
    "dequeue the oldest": (Given("4 5"), Then(admitted="4")),
    "dequeue nothing while one runs": (Given("4 5", running=1), Then()),
    "more run than may, after a change": (Given("4", running=5), Then()),
    "failures do not matter": (Given("4", failed=3), Then(admitted="4")),
    "an older instance goes first": (Given("4", requests="restart:3"), Then("3.2=CREATED", admitted="3.2")),
    "a restart is a new beginning": (
        Given(failed=1, requests="restart:3!"),
        Then("3.2=CREATED", "3=FAILED_2", "3.2"),
    ),
    "one kept as failed": (
        Given(requests="broken start"),
        Then("10=FAILED 11=CREATED", admitted="11"),
    ),
    "nothing to do": (Given(), Then()),
}


@pytest.mark.parametrize(("given", "then"), TABLE.values(), ids=TABLE)
def test_sequential(given: Given, then: Then) -> None:
    assert outcome(strategy(RunStrategyRule.SEQUENTIAL), given) == then


def test_the_concurrency_of_another_rule_is_not_used() -> None:
    assert outcome(strategy(RunStrategyRule.SEQUENTIAL, 7), Given("4 5")) == Then(admitted="4")
