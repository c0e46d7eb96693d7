"""A worker, a task, and its answer: the shortest way to one, with a Redis that is there."""

import subprocess
import sys
from pathlib import Path

from tasks import nothing

if __name__ == "__main__":
    command = [sys.executable, "-m", "celery", "-A", "tasks", "worker", "--pool=solo", "--loglevel=ERROR"]
    worker = subprocess.Popen(command, cwd=Path(__file__).parent)
    try:
        print(nothing.delay(1).get())
    finally:
        worker.kill()
        worker.wait()
