"""The tasks, as the consumer imports them."""

import os
from time import perf_counter  # the same clock for all processes of a machine

from huey import RedisHuey

HUEY = RedisHuey("bench", url=os.environ["BENCH_DATABASE"], results=False)
BEGUN = "bench-begun"
DONE = "bench-done"


@HUEY.task()
def nothing(number: int, last: bool = False) -> None:
    if last:
        HUEY.storage.conn.rpush(DONE, number)


@HUEY.task()
def noted() -> None:
    HUEY.storage.conn.rpush(BEGUN, perf_counter())
