"""STRICT_SEQUENTIAL: one at a time and in order; a failure holds up the rest until a user deals with it."""

import pytest
from tests.unit.strategies.table import Given, Row, Then, outcome, strategy

from stretto.model.properties import RunStrategyRule

TABLE: dict[str, Row] = {
    "the first starts at once": (Given(requests="start"), Then("10=CREATED", admitted="10")),
    "behind a running one": (Given("4", running=1, requests="start"), Then("10=CREATED")),
    "dequeue the oldest": (Given("4 5"), Then(admitted="4")),
    "a failure blocks the queue": (Given("4 5", failed=1), Then()),
    "a failure blocks new ones": (Given(failed=1, requests="start"), Then("10=CREATED")),
    "a restart of the failed one unblocks": (
        Given("4", failed=1, requests="restart:3!"),
        Then("3.2=CREATED", "3=FAILED_2", "3.2"),
    ),
    "a restart of one of two does not": (
        Given("4", failed=2, requests="restart:3!"),
        Then("3.2=CREATED", "3=FAILED_2"),
    ),
    "a restart of one that ended well does not": (
        Given("4", failed=1, requests="restart:3"),
        Then("3.2=CREATED"),
    ),
    "one kept as failed blocks too": (
        Given("4", requests="broken start"),
        Then("10=FAILED 11=CREATED"),
    ),
}


@pytest.mark.parametrize(("given", "then"), TABLE.values(), ids=TABLE)
def test_strict_sequential(given: Given, then: Then) -> None:
    assert outcome(strategy(RunStrategyRule.STRICT_SEQUENTIAL), given) == then
