"""A program whose one run fails, and undoes what a loop in a child of it has done.

python -m tests.flow_engine.saga DATABASE LEDGER
"""

import asyncio
import sys
from pathlib import Path

from stretto import Engine, step, workflow
from stretto.flow import foreach, subworkflow

SEATS = 30


def note(ledger: str, text: str) -> None:
    with Path(ledger).open("a") as file:
        file.write(f"{text}\n")


@step
def cancel(ledger: str, seat: int) -> None:
    note(ledger, f"cancel {seat}")


@step(compensate=cancel)
def book(ledger: str, seat: int) -> None:
    note(ledger, f"book {seat}")


@step(retries=0)
def pay() -> None:
    message = "no money"
    raise ValueError(message)


@workflow
def booking(ledger: str) -> None:
    with foreach(list(range(SEATS)), concurrency=2) as seat:
        book(ledger, seat)


@workflow
def saga(ledger: str) -> None:
    done = subworkflow(booking)(ledger)
    pay.after(done)()


async def main(url: str, ledger: str) -> None:
    async with Engine(url) as engine:
        run = await engine.submit(saga, ledger=ledger, request_id="the one")
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        state = await run.wait()
        sys.stdout.write(f"ended {state.status} {state.compensation}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
