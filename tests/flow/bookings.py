"""Bookings that can be cancelled: steps and workflows for tests of undoing, and what was done."""

from typing import Any

from stretto.engine.records import Compensation
from stretto.flow import foreach, step, subworkflow, workflow
from stretto.ports.paging import Cut
from stretto.ports.run_snapshot import RunPage, read_run
from stretto.testing.harness import Harness
from stretto.testing.viewing import Run

DONE: list[tuple[str, Any]] = []


@step
def cancel(seat: int, booked: str) -> None:
    DONE.append(("cancel", (seat, booked)))


@step(compensate=cancel)
def book(seat: int) -> str:
    DONE.append(("book", seat))
    return f"seat {seat}"


@step(retries=0)
def charge(n: int) -> int:
    DONE.append(("charge", n))
    if n < 0:
        message = "no money"
        raise ValueError(message)
    return n


@workflow
def mapped(seats: list[int], n: int) -> int:
    booked = book.map(seats)
    return charge.after(booked)(n)


@workflow
def in_order(n: int) -> int:
    with foreach([1, 2, 3], concurrency=1) as seat:
        booked = book(seat)
    return charge.after(booked)(n)


@workflow(id="booking")
def booking(seat: int) -> None:
    with foreach([seat, seat + 1]) as each:
        book(each)


@workflow
def nested(n: int) -> int:
    with foreach([10, 20]) as seat:
        done = subworkflow(booking)(seat)
    return charge.after(done)(n)


@workflow
def family(n: int) -> int:
    done = subworkflow(booking)(10)
    return charge.after(done)(n)


def undone() -> list[Any]:
    return [what for name, what in DONE if name == "cancel"]


def compensation_of(harness: Harness, run: Run) -> tuple[str, Compensation | None]:
    row = harness.ask(read_run(harness.store, run.key))
    assert row is not None
    return run.status, row.record.compensation


def play(harness: Harness, flow: Any, **params: Any) -> Run:
    DONE.clear()
    run = harness.start(flow, params)
    harness.finish(run)
    return run


def runs_of(harness: Harness, workflow_id: str, instance: int) -> list[Any]:
    page = harness.ask(harness.store.runs(RunPage(workflow_id, instance, Cut())))
    return [row.record for row in reversed(page.elements)]
