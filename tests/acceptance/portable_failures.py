"""Workflows whose steps fail or take too long, which run from this file and from their YAML.

Their steps write what they do into a ledger, a file that is named by a parameter of the run.
"""

import asyncio
from pathlib import Path
from typing import Any

from stretto import either, foreach, on_failure, sleep, step, subworkflow, wait, when, workflow


def note(ledger: str, text: str) -> None:
    with Path(ledger).open("a") as file:
        file.write(f"{text}\n")


async def _takes(seconds: float = 3_600) -> None:
    await asyncio.sleep(seconds)


@step
def cancel(ledger: str, seat: int) -> None:
    note(ledger, f"cancel {seat}")


@step(compensate=cancel)
def book(ledger: str, seat: int) -> None:
    note(ledger, f"book {seat}")


@step(timeout="1 second", retries=0)
async def slow(ledger: str, seconds: float = 3_600) -> str:
    note(ledger, "slow")
    await _takes(seconds)
    return "in time"


@step(timeout="1 second", timeout_retries=1)
async def slow_twice(ledger: str) -> None:
    note(ledger, "slow")
    await _takes()


@step(timeout="1 second", failure_mode="IGNORE_FAILURE")
async def slow_and_ignored(ledger: str) -> str:
    note(ledger, "slow")
    await _takes()
    return "in time"


@step(timeout="3 seconds", failure_mode="FAIL_IMMEDIATELY")
async def slow_and_strict(ledger: str) -> None:
    note(ledger, "slow")
    await _takes()


@step
async def endless(ledger: str) -> None:
    note(ledger, "endless")
    await _takes()


@step
def tell(ledger: str, text: str) -> str:
    note(ledger, text)
    return text


# ------------------------------------------------------------------------------------------------- handlers
@workflow
def handled(ledger: str) -> str:
    found = slow(ledger)
    with on_failure(found):
        other = tell(ledger, "late")
    return either(found, other)


@workflow
def handled_map(ledger: str) -> None:
    found = slow.map(ledger, [3_600.0, 3_600.0], concurrency=1)
    with on_failure(found):
        tell(ledger, "one is late")


@workflow
def handled_after_retries(ledger: str) -> None:
    found = slow_twice(ledger)
    with on_failure(found):
        tell(ledger, "late twice")


@workflow
def escalated(ledger: str) -> str:
    first = wait(id="manager", returns=str, timeout="1 second")
    with on_failure(first):
        second = wait(id="director", returns=str, timeout="1 second")
        with on_failure(second):
            nobody = tell(ledger, "nobody")
    return either(first, second, nobody)


@workflow
def handled_and_not_undone(ledger: str) -> str:
    booked = book(ledger, 1)
    found = slow.after(booked)(ledger)
    with on_failure(found):
        other = tell(ledger, "late")
    return either(found, other)


@workflow
def not_evaluated_and_handled(ledger: str, n: int = 0) -> str:
    found = slow(ledger, 1 / n)
    with on_failure(found):
        other = tell(ledger, "no number")
    return either(found, other)


# -------------------------------------------------------------------------------------------- failure modes
@workflow
def ignored(ledger: str) -> str:
    found = slow_and_ignored(ledger)
    return tell.after(found)(ledger, "done")


@workflow
def fails_immediately(ledger: str) -> None:
    endless(ledger)
    slow_and_strict(ledger)


@workflow
def fails_after_running(ledger: str) -> None:
    slow(ledger)
    nap = sleep(3)
    tell.after(nap)(ledger, "the others end")


# -------------------------------------------------------------------------------------------- compensation
@workflow
def undone(ledger: str) -> str:
    booked = book(ledger, 1)
    more = book.after(booked)(ledger, 2)
    return slow.after(more)(ledger)


@workflow
def undone_map(ledger: str) -> str:
    booked = book.map(ledger, [1, 2, 3], concurrency=1)
    return slow.after(booked)(ledger)


@workflow
def booking(ledger: str, seat: int) -> None:
    with foreach([0, 1], concurrency=1) as n:
        book(ledger, seat + n)


@workflow
def undone_child(ledger: str) -> str:
    done = subworkflow(booking)(ledger, 10)
    return slow.after(done)(ledger)


@workflow
def undone_children_in_a_loop(ledger: str) -> str:
    with foreach([10, 20], concurrency=1) as seat:
        done = subworkflow(booking)(ledger, seat)
    return slow.after(done)(ledger)


@workflow
def late_booking(ledger: str) -> str:
    booked = book(ledger, 1)
    return slow.after(booked)(ledger)


@workflow
def undone_beside_a_late_child(ledger: str) -> None:
    booked = book(ledger, 5)
    subworkflow(late_booking)(ledger).after(booked)  # type: ignore[attr-defined]


@workflow
def undone_without_an_answer(ledger: str) -> None:
    booked = book(ledger, 1)
    answer = wait(id="ask", timeout="1 second")
    order = tell.after(answer)(ledger, "answered")
    book.after(booked, order)(ledger, 2)


@workflow
def undone_without_parameters(ledger: str, n: int = 0) -> str:
    booked = book(ledger, 1)
    return slow.after(booked)(ledger, 1 / n)


@workflow
def undone_behind_a_condition(ledger: str, n: int = 0) -> None:
    booked = book(ledger, 1)
    word = tell.after(booked)(ledger, "told")
    with when((1 / n > 0) & (word == "told")):
        tell(ledger, "never")


# ------------------------------------------------------------------------------------- timeouts of the run
@workflow(timeout="5 seconds")
def run_too_long(ledger: str) -> None:
    found = endless(ledger)
    with on_failure(found):
        tell(ledger, "never: the run is over")


@workflow(timeout="10 seconds", undo_on_stop=True)
def run_too_long_and_undone(ledger: str) -> Any:
    booked = book(ledger, 1)
    return endless.after(booked)(ledger)
