"""FIRST_ONLY: while a run is unfinished, new ones are dropped."""

import pytest
from tests.unit.strategies.table import Given, Row, Then, batch, outcome, strategy

from stretto.model.errors import WrongState
from stretto.model.properties import RunStrategyRule
from stretto.strategies import Accepted, Refused, admit

FIRST_ONLY = strategy(RunStrategyRule.FIRST_ONLY)

TABLE: dict[str, Row] = {
    "the first starts at once": (Given(requests="start"), Then("10=CREATED", admitted="10")),
    "dropped while one runs": (Given(running=1, requests="start"), Then("10=STOPPED")),
    "dropped while one is queued": (Given("4", requests="start"), Then("10=STOPPED", admitted="4")),
    "the first of a batch stays": (
        Given(requests="start start start"),
        Then("10=CREATED 11=STOPPED 12=STOPPED", admitted="10"),
    ),
    "dequeue": (Given("4"), Then(admitted="4")),
    "dequeue nothing while one runs": (Given("4", running=1), Then()),
    "failures do not matter": (Given(failed=2, requests="start"), Then("10=CREATED", admitted="10")),
    "a restart is dropped too, and yet supersedes": (
        Given(running=1, failed=1, requests="restart:3!"),
        Then("3.2=STOPPED", "3=FAILED_2"),
    ),
    "one kept as failed is no first": (
        Given(requests="broken start"),
        Then("10=FAILED 11=CREATED", admitted="11"),
    ),
    "two unfinished: refused": (Given("4", running=1, requests="start start"), Then("refused refused")),
    "two unfinished: the queue goes on": (Given("4 5"), Then(admitted="4")),
}


@pytest.mark.parametrize(("given", "then"), TABLE.values(), ids=TABLE)
def test_first_only(given: Given, then: Then) -> None:
    assert outcome(FIRST_ONLY, given) == then


def test_the_note_says_why() -> None:
    [answer] = admit(FIRST_ONLY, [], 1, 0, batch("start")).answers
    assert isinstance(answer, Accepted)
    assert answer.note == "The run strategy FIRST_ONLY dropped it, because another run has not ended."


def test_the_refusal_says_why() -> None:
    [answer] = admit(FIRST_ONLY, [], 2, 0, batch("start")).answers
    assert isinstance(answer, Refused)
    error = answer.error()
    assert isinstance(error, WrongState)
    assert error.message == (
        "finding more than 1 non-terminal runs beside instance 10 run 1: FIRST_ONLY allows one"
    )
