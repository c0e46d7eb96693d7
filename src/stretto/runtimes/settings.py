"""What the runtimes of a node may use. Times are in milliseconds, sizes in bytes."""

import os
from enum import StrEnum
from typing import Final

import msgspec

MB: Final = 1024 * 1024
SECOND: Final = 1_000


class Isolation(StrEnum):
    """Where a function runs, if neither it nor its step says so."""

    PROCESS = "process"
    THREAD = "thread"


class RuntimeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How commands and functions are run, and what is kept of what they print."""

    grace: int = 10 * SECOND  # for work to end, once it is told to; then it is ended by force
    commands: int = max(16, 4 * (os.cpu_count() or 1))  # Shell steps at once
    workers: int = os.cpu_count() or 1  # processes for functions
    worker_memory: int | None = None  # of a worker and the processes that it starts
    worker_calls: int | None = 10_000  # after which a worker makes room for a new one
    worker_lifetime: int | None = 3_600 * SECOND
    import_within: int = 60 * SECOND  # for the module of a function
    isolation: Isolation = Isolation.PROCESS  # of Python steps in a served engine and in `stretto run`
    modules: tuple[str, ...] | None = None  # that an `entrypoint` may name, with what is inside; None: any
    logs: str | None = None  # the folder of the logs; None: beside the database
    log_size: int = 16 * MB  # of one launch
