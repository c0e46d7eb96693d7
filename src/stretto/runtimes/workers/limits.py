"""How many workers a pool has, and what each of them may use."""

import os
from dataclasses import dataclass
from typing import Final

from stretto.model.errors import InvalidRequest

MOST_WORKERS: Final = 1_000
LEAST_MEMORY: Final = 128 * 1024 * 1024  # a worker that has imported nothing needs about half of that
CALLS: Final = 10_000
SECONDS: Final = 3_600.0
START_WITHIN: Final = 60.0
IMPORT_WITHIN: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLimits:
    """Of one pool. Times are in seconds, sizes in bytes; None: no limit."""

    size: int = os.cpu_count() or 1
    memory: int | None = None  # of a worker and the processes that it starts
    calls: int | None = CALLS  # after which a worker makes room for a new one
    seconds: float | None = SECONDS  # for which a worker is used
    import_within: float = IMPORT_WITHIN  # for the module of a function
    start_within: float = START_WITHIN  # for a new process

    def __post_init__(self) -> None:
        if type(self.size) is not int or not 1 <= self.size <= MOST_WORKERS:
            raise InvalidRequest(f"a pool has from 1 to {MOST_WORKERS} workers, not {self.size!r}")
        if self.memory is not None and self.memory < LEAST_MEMORY:
            raise InvalidRequest(
                f"a worker needs {LEAST_MEMORY:,} bytes of memory to begin with: {self.memory:,} are too few"
            )
        for name in ("calls", "seconds", "import_within", "start_within"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InvalidRequest(f"`{name}` of a pool of workers is a number above 0, not {value!r}")
