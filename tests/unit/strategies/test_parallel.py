"""PARALLEL: up to `workflow_concurrency` at once, admitted in order."""

import pytest
from tests.unit.strategies.table import Given, Row, Then, outcome, strategy

from stretto.model.properties import RunStrategyRule

TABLE: dict[str, Row] = {  # three slots
    "as many as there are slots": (
        Given(requests="start start start start"),
        Then("10=CREATED 11=CREATED 12=CREATED 13=CREATED", admitted="10 11 12"),
    ),
    "what is left of the slots": (Given("4 5", running=2), Then(admitted="4")),
    "no slot left": (Given("4 5", running=3, requests="start"), Then("10=CREATED")),
    "more run than may, after a change": (Given("4", running=5), Then()),
    "fewer queued than slots": (Given("4"), Then(admitted="4")),
    "failures do not matter": (Given("4", failed=9), Then(admitted="4")),
    "an older instance goes first": (
        Given("4 5", running=2, requests="restart:3!", failed=1),
        Then("3.2=CREATED", "3=FAILED_2", "3.2"),
    ),
}


@pytest.mark.parametrize(("given", "then"), TABLE.values(), ids=TABLE)
def test_parallel(given: Given, then: Then) -> None:
    assert outcome(strategy(RunStrategyRule.PARALLEL, 3), given) == then


def test_twenty_by_default() -> None:
    queue = " ".join(str(instance) for instance in range(100, 130))
    then = outcome(strategy(RunStrategyRule.PARALLEL), Given(queue))
    assert then.admitted.split() == queue.split()[:20]
