"""Celery on Redis, which keeps its results as well: chains, chords and groups, and a worker as it comes."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

from benchmarks.harness.protocol import Answer, serve
from celery import chain, chord, group
from celery.result import AsyncResult
from tasks import join, noted, nothing

HERE = Path(__file__).parent


def signatures(length: int) -> chain:
    return chain(nothing.s(0), *(nothing.s() for _ in range(length - 1)))


def chains(length: int) -> Answer:
    begun = perf_counter()
    signatures(length).apply_async().get()
    return {"seconds": perf_counter() - begun}


def fan_out(width: int) -> Answer:
    begun = perf_counter()
    chord([nothing.s(number) for number in range(width)], join.s()).apply_async().get()
    return {"seconds": perf_counter() - begun}


def runs(count: int) -> Answer:
    begun = perf_counter()
    submitted: dict[AsyncResult, float] = {}
    late: list[float] = []
    for _ in range(count):
        at = perf_counter()
        submitted[signatures(5).apply_async()] = at
    for result, at in submitted.items():
        result.get()
        late.append(perf_counter() - at)
    return {"seconds": perf_counter() - begun, "late": late}


def loop(count: int) -> Answer:
    begun = perf_counter()
    group(nothing.s(number) for number in range(count)).apply_async().get()
    return {"seconds": perf_counter() - begun}


def starts(times: int) -> Answer:
    late = []
    for _ in range(times):
        result = noted.delay()
        answered = perf_counter()
        late.append(max(0.0, result.get() - answered))
    return {"late": late}


if __name__ == "__main__":
    command = [sys.executable, "-m", "celery", "-A", "tasks", "worker", "--loglevel=ERROR"]
    worker = subprocess.Popen(command, stdout=sys.stderr, cwd=HERE)
    try:
        starts(1)
        work = {"W1": chains, "W2": fan_out, "W3": runs, "W4": loop, "W6": starts}
        serve(work, version=version("celery"))
    finally:
        worker.terminate()
        worker.wait()
