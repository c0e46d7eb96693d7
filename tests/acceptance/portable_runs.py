"""Workflows whose runs and iterations go on beside each other; they run from this file and from YAML."""

from pathlib import Path

from stretto import foreach, step, wait, workflow


@step(retries=0)
def double(ledger: str, n: int) -> int:
    """Fails for odd numbers, until somebody has put a file `mended` beside the ledger."""
    with Path(ledger).open("a") as file:
        file.write(f"{n}\n")
    if n % 2 and not Path(ledger).with_name("mended").exists():
        message = f"{n} is odd"
        raise ValueError(message)
    return 2 * n


@workflow
def held() -> str:
    return wait(id="ask", returns=str)


@workflow
def mapped_children(numbers: list[int] = [1, 2, 3]) -> None:  # noqa: B006 - never changed
    with foreach(numbers):
        held()


@workflow(run_strategy="strict_sequential")
def strict() -> None:
    wait(id="ask")


@workflow(run_strategy="first_only")
def first_only() -> None:
    wait(id="ask")


@workflow(run_strategy=2)
def two_at_once() -> None:
    wait(id="ask")


@workflow
def all_of_them(ledger: str) -> list[int]:
    return double.map(ledger, [1, 2, 3, 4], concurrency=1, continue_on_failure=True)


@workflow
def in_a_block(ledger: str) -> None:
    with foreach([2, 3, 4, 5], concurrency=1, continue_on_failure=True) as n:
        double(ledger, n)


@workflow
def until_one_fails(ledger: str) -> list[int]:
    return double.map(ledger, [2, 1, 4], concurrency=1)
