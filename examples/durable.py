"""A workflow that survives its process: kill it with `kill -9`, run it again, and it goes on where it was."""

import time

from stretto import Engine, step, workflow


@step
def add(number: int) -> int:
    print("adding to", number, flush=True)
    time.sleep(0.5)
    return number + 1


@workflow
def sums() -> int:
    return add(add(add(add(1))))


if __name__ == "__main__":
    with Engine("sqlite:///runs.db").sync() as engine:
        print(engine.run(sums, request_id="sums"))
