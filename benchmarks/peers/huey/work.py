"""Huey on Redis: tasks to the consumer that its own command starts, with one worker as it comes, so that the
last task ends last. There is no join, and no state.
"""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

from benchmarks.harness.protocol import Answer, serve
from tasks import BEGUN, DONE, HUEY, noted, nothing

HERE = Path(__file__).parent


def heard(name: str) -> bytes:
    """What a task has left; asked for again and again, because the connection gives up after some seconds."""
    while (found := HUEY.storage.conn.blpop(name, timeout=1)) is None:
        pass
    return found[1]


def messages(count: int) -> Answer:
    begun = perf_counter()
    for number in range(count):
        nothing(number, last=number == count - 1)
    heard(DONE)
    return {"seconds": perf_counter() - begun}


def starts(times: int) -> Answer:
    late = []
    for _ in range(times):
        noted()
        answered = perf_counter()
        late.append(max(0.0, float(heard(BEGUN)) - answered))
    return {"late": late}


if __name__ == "__main__":
    command = [str(Path(sys.executable).with_name("huey_consumer")), "tasks.HUEY", "--quiet"]
    consumer = subprocess.Popen(command, stdout=sys.stderr, cwd=HERE)
    try:
        starts(1)
        serve({"W2": messages, "W4": messages, "W6": starts}, version=version("huey"))
    finally:
        consumer.terminate()
        consumer.wait()
