"""SERIAL_LATEST_ONLY: one at a time; the running one is left alone, and only the newest waits behind it."""

import pytest
from tests.unit.strategies.table import Given, Row, Then, batch, outcome, run, strategy

from stretto.model.properties import RunStrategyRule
from stretto.strategies import Replaced, admit

SERIAL_LATEST_ONLY = strategy(RunStrategyRule.SERIAL_LATEST_ONLY)

TABLE: dict[str, Row] = {
    "the first starts at once": (Given(requests="start"), Then("10=CREATED", admitted="10")),
    "the running one goes on": (Given(running=1, requests="start"), Then("10=CREATED")),
    "the queued one is replaced": (
        Given("4", running=1, requests="start"),
        Then("10=CREATED", "4=STOPPED"),
    ),
    "all queued ones are": (
        Given("4 5 6", running=1, requests="start"),
        Then("10=CREATED", "4=STOPPED 5=STOPPED 6=STOPPED"),
    ),
    "the last of a batch stays": (
        Given(requests="start start"),
        Then("10=STOPPED 11=CREATED", admitted="11"),
    ),
    "a restart replaces too": (
        Given("4", failed=1, requests="restart:3!"),
        Then("3.2=CREATED", "4=STOPPED 3=FAILED_2", "3.2"),
    ),
    "dequeue": (Given("4", failed=1), Then(admitted="4")),
    "dequeue nothing while one runs": (Given("4", running=1), Then()),
    "several queued after a change: the oldest first": (Given("4 5"), Then(admitted="4")),
    "one kept as failed replaces nobody": (
        Given("4", running=1, requests="broken"),
        Then("10=FAILED"),
    ),
}


@pytest.mark.parametrize(("given", "then"), TABLE.values(), ids=TABLE)
def test_serial_latest_only(given: Given, then: Then) -> None:
    assert outcome(SERIAL_LATEST_ONLY, given) == then


def test_the_note_names_the_newer_one() -> None:
    note = (
        "The run strategy SERIAL_LATEST_ONLY stopped it before it started, "
        "because new instance 10 with run 1 arrived."
    )
    admission = admit(SERIAL_LATEST_ONLY, [run("4")], 1, 0, batch("start"))
    assert admission.replaced == (Replaced(run("4"), note),)
