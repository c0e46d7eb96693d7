"""The tasks, as a worker imports them."""

import os
from time import perf_counter  # the same clock for all processes of a machine

from celery import Celery

APP = Celery("bench", broker=os.environ["BENCH_DATABASE"], backend=os.environ["BENCH_DATABASE"])


@APP.task
def nothing(number: int) -> int:
    return number


@APP.task
def join(numbers: list[int]) -> int:
    return len(numbers)


@APP.task
def noted() -> float:
    return perf_counter()
