"""Dramatiq on Redis: messages to workers that its own command starts. There is no join, and no state."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

from actors import BEGUN, BROKER, noted, nothing
from benchmarks.harness.protocol import Answer, serve

HERE = Path(__file__).parent


def messages(count: int) -> Answer:
    begun = perf_counter()
    for number in range(count):
        nothing.send(number)
    BROKER.join(nothing.queue_name, interval=5)
    return {"seconds": perf_counter() - begun}


def starts(times: int) -> Answer:
    late = []
    for _ in range(times):
        noted.send()
        answered = perf_counter()
        while (found := BROKER.client.blpop(BEGUN, timeout=1)) is None:
            pass  # the connection would give up after some seconds
        late.append(max(0.0, float(found[1]) - answered))
    return {"late": late}


if __name__ == "__main__":
    command = [str(Path(sys.executable).with_name("dramatiq")), "actors", "--path", str(HERE)]
    workers = subprocess.Popen(command, stdout=sys.stderr)
    try:
        starts(1)
        serve({"W2": messages, "W4": messages, "W6": starts}, version=version("dramatiq"))
    finally:
        workers.terminate()
        workers.wait()
