"""Many processes on a SQLite file that write all at once."""

import asyncio
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Barrier
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from stretto.ports.messages import Letter, Log
from stretto.store.sqlite import open_sqlite

SPAWN = get_context("spawn")


class Written(NamedTuple):
    """What one of many writers got through."""

    ids: list[int]
    longest: float  # that it waited for one write, in seconds


async def _write(path: Path, name: str, seconds: float) -> Written:
    store = await open_sqlite(path)
    ids: list[int] = []
    longest = 0.0
    end = monotonic() + seconds
    while (begin := monotonic()) < end:
        ids.append(await store.send(Letter(ref=f"{name}-{len(ids)}", to_group=1, body=Log(at=1))))
        longest = max(longest, monotonic() - begin)
    await store.close()
    return Written(ids, longest)


def write(path: Path, name: str, seconds: float, gate: Barrier, answers: Connection) -> None:
    gate.wait()
    answers.send(asyncio.run(_write(path, name, seconds)))


def crowd(path: Path, writers: int, seconds: float) -> list[Written]:
    """Many processes that write all at once."""
    gate = SPAWN.Barrier(writers, timeout=100)
    pipes = [SPAWN.Pipe(duplex=False) for _ in range(writers)]
    processes: list[BaseProcess] = [
        SPAWN.Process(target=write, args=(path, f"writer-{number}", seconds, gate, telling))
        for number, (_answers, telling) in enumerate(pipes)
    ]
    for process in processes:
        process.start()
    for _answers, telling in pipes:
        telling.close()
    found: list[Written] = [answers.recv() for answers, _telling in pipes]
    for process in processes:
        process.join()
    assert {process.exitcode for process in processes} == {0}
    return found
