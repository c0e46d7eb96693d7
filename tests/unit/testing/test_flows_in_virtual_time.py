"""Flows in the harness: their functions are called for real, or faked, and time is virtual."""

import asyncio
from dataclasses import dataclass
from typing import Annotated

import pytest

from stretto.flow import on_failure, step, workflow
from stretto.runtimes.python.context import StepContext
from stretto.runtimes.python.roles import Service, service
from stretto.testing.harness import Harness, crash_everywhere


@dataclass
class Order:
    id: int
    total: float


@step
def orders(day: str) -> list[Order]:
    return [Order(1, 2.5), Order(2, 4.0)] if day else []


@step(retries=2, retry_delay=60)
async def price(order: Order) -> float:
    await asyncio.sleep(3_600)
    return order.total * 2


@step
def total(prices: list[float]) -> float:
    return sum(prices)


@step
def nothing() -> str:
    return "nothing"


@workflow
def billing(day: str) -> float:
    prices = price.map(orders(day))
    return total(prices)


def test_functions_are_called_and_take_virtual_time(stretto: Harness) -> None:
    run = stretto.start(billing, day="monday")
    assert run.status == "IN_PROGRESS"
    assert list(run.steps) == ["orders", "price_map"]
    stretto.advance(minutes=59)
    assert run.status == "IN_PROGRESS"
    stretto.advance(minutes=2)
    assert run.status == "SUCCEEDED"
    assert run.result == 13.0
    assert run.step("total").started == pytest.approx(3_600, abs=1)
    assert [call.params for call in stretto.calls(price)] == [
        {"order": Order(1, 2.5)},
        {"order": Order(2, 4.0)},
    ]


def test_a_function_is_faked(stretto: Harness) -> None:
    stretto.fake(orders, returns=[Order(7, 1.0)])
    stretto.fake(price, does=lambda order: order.id)
    stretto.fake(total, does=lambda **given: sum(given["prices"]))
    run = stretto.start(billing, {"day": ""})
    assert (run.status, run.result) == ("SUCCEEDED", 7.0)
    assert [call.step_id for call in stretto.calls(orders)] == ["orders"]


def test_a_fake_fails_at_first(stretto: Harness) -> None:
    stretto.fake(price, fails=2, returns=1.0)
    run = stretto.start(billing, day="x")
    stretto.advance(hours=1)
    assert run.result == 2.0
    assert [call.attempt for call in stretto.calls(price)].count(3) == 2


def test_what_failed_has_no_result_and_says_why(stretto: Harness) -> None:
    stretto.fake(orders, raises=LookupError("no such day"))
    run = stretto.start(billing, day="x")
    assert run.status == "FAILED"
    with pytest.raises(AssertionError, match=r"orders: .*no such day"):
        _ = run.result
    stretto.fake(orders, fails=1)
    again = stretto.start(billing, day="x")
    assert "attempt 1 was told to fail" in str(again.step("orders").reason)


def test_a_held_step_returns_what_the_test_says(stretto: Harness) -> None:
    stretto.holds("orders", "total")
    stretto.fake(price, returns=1.5)
    run = stretto.start(billing, day="x")
    run.step("orders").finish(result=[Order(1, 1.0)])
    run.step("total").finish(result=9)
    assert run.result == 9.0
    assert run.step("orders").ended == pytest.approx(run.step("orders").started, abs=0.1)


@workflow
def forgiving() -> float:
    found = total([1.0])
    with on_failure(found):
        nothing()
    return found


def test_a_step_that_did_not_succeed_has_no_result(stretto: Harness) -> None:
    assert stretto.start(forgiving).result == 1.0
    stretto.fake(total, raises=ValueError("no"))
    run = stretto.start(forgiving)
    assert (run.status, run.result) == ("SUCCEEDED", None)
    assert run.step("nothing").params["result"] == "nothing"


late: list[str] = []


def too_late(ctx: StepContext) -> None:
    late.append(ctx.step_id)


@step(timeout=60, on_timeout=too_late)
async def slow() -> None:
    await asyncio.sleep(100)


@step(timeout=60)
async def deaf() -> None:
    for _ in range(3):
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            continue


@workflow
def slowly() -> None:
    slow()


@workflow
def deafly() -> None:
    deaf()


@pytest.mark.parametrize("flow", [slowly, deafly])
def test_a_timeout_is_found(flow: object, stretto: Harness) -> None:
    late.clear()
    run = stretto.start(flow)  # type: ignore[arg-type]
    stretto.advance(seconds=59)
    assert run.status == "IN_PROGRESS"
    stretto.advance(seconds=30)
    assert (run.status, list(run.steps.values())) == ("FAILED", ["TIMED_OUT"])
    assert late == (["slow"] if flow is slowly else [])


class Mail:
    def __init__(self) -> None:
        self.sent: list[str] = []


@step
async def send(mail: Service[Mail], ctx: StepContext) -> int:
    ctx.progress(0.5, "half")
    mail.sent.append(ctx.step_id)
    return len(mail.sent)


@workflow
def mailing() -> int:
    return send()  # type: ignore[call-arg]


@workflow
def outer() -> int:
    return mailing()


def test_services_progress_and_subflows() -> None:
    mail = Mail()
    with Harness(services=[mail]) as harness:
        run = harness.start(outer)
        assert run.result == 1
        assert run.step("mailing").child.step("send").attempts[0].record.artifacts["progress"] is not None
    assert mail.sent == ["send"]


def test_a_fake_needs_no_services(stretto: Harness) -> None:
    stretto.fake(send, returns=7)
    assert stretto.start(outer).result == 7
    stretto.fake(send, does=lambda: 8)
    assert stretto.start(outer).result == 8
    stretto.fake(send, does=lambda **given: len(given))  # the context
    assert stretto.start(outer).result == 1
    stretto.fake(send, raises=ValueError("no mail"))
    assert "no mail" in str(stretto.start(mailing).step("send").reason)


def test_a_fake_gets_the_services_that_there_are() -> None:
    with Harness(services=[Mail()]) as harness:
        harness.fake(send, does=lambda mail, ctx: mail.sent.append(ctx.step_id) or 3)
        assert harness.start(mailing).result == 3
        harness.fake(send, does=lambda mail=None: 0 if mail is None else len(mail.sent))
        assert harness.start(mailing).result == 1


def test_a_fake_that_needs_a_service_itself_says_that_it_is_missing(stretto: Harness) -> None:
    stretto.fake(send, does=lambda mail: len(mail.sent))
    run = stretto.start(mailing)
    assert "`mail` of" in str(run.step("send").reason)
    assert "there is no service of type `Mail`" in str(run.step("send").reason)
    stretto.fake(send, does=lambda mail=None: 0 if mail is None else 1)
    assert stretto.start(mailing).result == 0


def test_others_still_need_their_services(stretto: Harness) -> None:
    stretto.fake(nothing, returns="")
    assert "there is no service of type `Mail`" in str(stretto.start(mailing).step("send").reason)


def notify(mail: Service[Mail], result: str) -> None:
    mail.sent.append(result)


@step(on_success=[notify, lambda: None], isolation="process")
def notified(word: str, mail: Annotated[Mail, service("post")]) -> str:
    return word + str(len(mail.sent))


@workflow
def notifying(words: list[str]) -> list[str]:
    return notified.map(words)


def test_handlers_and_functions_of_processes_are_faked_without_services(stretto: Harness) -> None:
    found: list[str] = []
    stretto.fake(notified, does=lambda word: word * 2)
    stretto.fake(notify, does=lambda result: found.extend([result]))
    run = stretto.start(notifying, words=["a", "b"])
    assert run.result == ["aa", "bb"]
    assert found == ["aa", "bb"]
    assert [call.params["result"] for call in stretto.calls(notify)] == ["aa", "bb"]
    assert [call.params for call in stretto.calls(notified)] == [{"word": "a"}, {"word": "b"}]
    timeline = run.iterations("notified_map")[0].step("notified").timeline
    assert not [line for line in timeline if "failed" in str(line)]


def test_a_handler_that_is_not_faked_is_called(stretto: Harness) -> None:
    stretto.fake(notified, returns="c")
    run = stretto.start(notifying, words=["a"])
    assert run.result == ["c"]  # whatever a handler does
    timeline = run.iterations("notified_map")[0].step("notified").timeline
    assert [line for line in timeline if "there is no service of type `Mail`" in str(line)]


def test_a_flow_is_published_once_and_started_by_its_id(stretto: Harness) -> None:
    stretto.start(billing, day="x")
    assert stretto.start("billing", day="y").key.instance_id == 2


def test_inside_of_an_event_loop_it_works_as_well() -> None:
    async def main() -> float:
        with Harness() as harness:
            run = harness.start(billing, day="x")
            harness.advance(hours=2)
            return run.result  # type: ignore[no-any-return]

    assert asyncio.run(main()) == 13.0


def test_a_crash_at_any_commit_changes_nothing(stretto_crashes: object) -> None:
    def play(harness: Harness) -> None:
        harness.fake(price, returns=2.0)
        run = harness.start(billing, day="x")
        harness.advance(minutes=1)
        assert run.result == 4.0

    assert stretto_crashes is crash_everywhere
    assert crash_everywhere(play) > 10


@step(isolation="process")
def far(n: int) -> int:
    return n + 1


@workflow
def far_away(n: int) -> int:
    return far(n)


def test_what_has_a_process_of_its_own_runs_here_as_well(stretto: Harness) -> None:
    assert stretto.start(far_away, n=1).result == 2
