"""The actors, as a worker process imports them."""

import os
from time import perf_counter  # the same clock for all processes of a machine

import dramatiq
from dramatiq.brokers.redis import RedisBroker

BROKER = RedisBroker(url=os.environ["BENCH_DATABASE"])
dramatiq.set_broker(BROKER)
BEGUN = "bench-begun"


@dramatiq.actor
def nothing(number: int) -> None:
    pass


@dramatiq.actor
def noted() -> None:
    BROKER.client.rpush(BEGUN, perf_counter())
