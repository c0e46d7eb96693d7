"""A program whose command stops everything that looks after it.

python -m tests.flow_engine.attacked FILE TIMEOUT
"""

import asyncio
import sys
from pathlib import Path

from tests.flow_engine.guard_attacks import GRANDPARENT, script

from stretto import Engine

ATTACK = f"kill -STOP $$STRETTO_ENGINE {GRANDPARENT} $$PPID"


async def main(file: str, seconds: int) -> None:
    async with Engine("memory", config={"runtimes.grace": "0.5s"}, stop_within=5) as engine:
        run = await engine.submit(script(ATTACK, Path(file), timeout=seconds))
        sys.stdout.write(f"{(await run.wait()).status}\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
