"""A program whose steps, with all that they start, hold a lock while they run: two at once are found out.

python -m tests.flow_engine.locked DATABASE FOLDER RUNS
"""

import asyncio
import fcntl
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from stretto import Engine, StepContext, step, workflow
from stretto.definition import parse_all

SHELL = """
workflow:
  id: shelled
  jobs:
    - job:
        id: each
        type: Shell
        script: |
          name=`printf %s "$$STRETTO_RUN" | tr / -`
          exec 9>>"{folder}/shell-$$name.lock"
          flock -n 9 || echo "twice $$name" >> "{folder}/ledger"
          (sleep 0.3) &
          setsid sleep 0.4 &
          sleep 0.2 | sleep 0.3
          echo "end $$name" >> "{folder}/ledger"
"""


def note(folder: str, text: str) -> None:
    with Path(folder, "ledger").open("a") as file:
        file.write(f"{text}\n")


@step(isolation="process")
def hold(folder: str, number: int, ctx: StepContext) -> int:
    """The lock is inherited: it is held as long as anything of the step lives."""
    name = f"{'-'.join(map(str, ctx.run))}-{ctx.step_id}"
    lock = os.open(Path(folder, f"{name}.lock"), os.O_CREAT | os.O_RDWR)
    os.set_inheritable(lock, True)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        note(folder, f"twice {name}")
    dice = random.Random(number)  # noqa: S311 - not for secrets
    away = dice.random() < 0.5
    child = subprocess.Popen(["/bin/sleep", "0.3"], close_fds=False, start_new_session=away)
    time.sleep(dice.uniform(0.05, 0.4))
    child.wait()
    os.close(lock)
    note(folder, f"end {name}")
    return number


@workflow
def locked(folder: str) -> None:
    hold.map(folder=folder, number=list(range(8)))


async def main(url: str, folder: str, runs: int) -> None:
    (definition,) = parse_all(SHELL.replace("{folder}", folder))
    async with Engine(url, workers=3) as engine:
        made: list[Any] = []
        for number in range(runs):
            made.append(await engine.submit(locked, folder=folder, request_id=f"p{number}"))
            made.append(await engine.submit(definition, request_id=f"s{number}"))
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        for run in made:
            await run.result()
        sys.stdout.write("ended\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
