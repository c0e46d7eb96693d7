"""LAST_ONLY: the newest run replaces the queued one at once, and the running one once that has stopped."""

import pytest
from tests.unit.strategies.table import Given, Row, Then, batch, outcome, run, runs, strategy

from stretto.model.properties import RunStrategyRule
from stretto.strategies import Accepted, Refused, Replaced, admit

LAST_ONLY = strategy(RunStrategyRule.LAST_ONLY)

TABLE: dict[str, Row] = {
    "the first starts at once": (Given(requests="start"), Then("10=CREATED", admitted="10")),
    "the queued one is replaced": (Given("4", requests="start"), Then("10=CREATED", "4=STOPPED", "10")),
    "the running one is stopped first": (
        Given(running=1, requests="start"),
        Then("10=CREATED", "running=stop"),
    ),
    "both": (Given("4", running=1, requests="start"), Then("10=CREATED", "4=STOPPED running=stop")),
    "the last of a batch stays": (
        Given(requests="start start start"),
        Then("10=STOPPED 11=STOPPED 12=CREATED", admitted="12"),
    ),
    "a batch with one queued and one running": (
        Given("4", running=1, requests="start start"),
        Then("10=STOPPED 11=CREATED", "4=STOPPED running=stop"),
    ),
    "the last is the last that came, not the highest id": (
        Given("9", failed=1, requests="start restart:3!"),
        Then("10=STOPPED 3.2=CREATED", "9=STOPPED 3=FAILED_2", "3.2"),
    ),
    "dequeue": (Given("4"), Then(admitted="4")),
    "dequeue nothing while one runs": (Given("4", running=1), Then()),
    "one kept as failed replaces nobody": (
        Given("4", running=1, requests="broken"),
        Then("10=FAILED"),
    ),
    "two queued: refused": (Given("4 5", requests="start"), Then("refused", admitted="4")),
    "two running: refused": (Given(running=2, requests="start"), Then("refused")),
}


@pytest.mark.parametrize(("given", "then"), TABLE.values(), ids=TABLE)
def test_last_only(given: Given, then: Then) -> None:
    assert outcome(LAST_ONLY, given) == then


def test_the_notes_name_the_newer_one() -> None:
    admission = admit(LAST_ONLY, [run("4")], 1, 0, batch("start start"))
    note = "The run strategy LAST_ONLY stopped it, because new instance {} with run 1 arrived."
    assert admission.replaced == (Replaced(run("4"), note.format(10)),)
    first, _ = admission.answers
    assert isinstance(first, Accepted)
    assert first.note == note.format(11)
    assert admission.stop_running == note.format(11)


@pytest.mark.parametrize(("queue", "running", "kind"), [("4 5", 0, "pending"), ("", 2, "running")])
def test_the_refusal_says_why(queue: str, running: int, kind: str) -> None:
    [answer] = admit(LAST_ONLY, runs(queue), running, 0, batch("start")).answers
    assert isinstance(answer, Refused)
    assert answer.message == (
        f"finding more than 1 {kind} runs beside instance 10 run 1: LAST_ONLY allows one"
    )
