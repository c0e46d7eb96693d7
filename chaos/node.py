"""A node process: python -m chaos.node FOLDER URL LEASES [COMMANDS].

It prints a line when it runs. It ends on SIGTERM, and with whoever started it: nobody writes to its input,
which is closed then.
"""

import asyncio
import signal
import sys
from pathlib import Path

from chaos.clock import shed
from chaos.deadly import arm
from chaos.effects import runtimes
from chaos.ledger import Ledger
from chaos.settings import config_of
from chaos.witness import Witness
from stretto.app import running


async def serve(folder: Path, url: str, leases: str, commands: str | None = None) -> None:
    """Until somebody asks for the end."""
    end = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, end.set)
    loop.add_reader(sys.stdin, lambda: _end_without(loop, end))
    shed()
    arm(folder)
    ledger = Ledger(folder / "ledger.db")
    async with running(
        config_of(leases, commands), url, (Witness(folder),), lambda *_: runtimes(ledger)
    ) as app:
        print("running", flush=True)
        await app.watch(end.wait())


def _end_without(loop: asyncio.AbstractEventLoop, end: asyncio.Event) -> None:
    """Whoever started this process is gone."""
    loop.remove_reader(sys.stdin)
    end.set()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), *sys.argv[2:]))
