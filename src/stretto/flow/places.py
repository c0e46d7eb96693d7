"""Where in the user's program something was written."""

import inspect
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

OURS: Final = "stretto.flow"
PASSED_OVER: Final = frozenset({"contextlib", "functools"})


class Place(NamedTuple):
    """A line of a file; written as `flows.py:12`, as editors and terminals know it."""

    file: str
    line: int

    def __str__(self) -> str:
        path = Path(self.file)
        with suppress(ValueError):
            path = path.relative_to(Path.cwd())
        return f"{path}:{self.line}"


def here() -> Place:
    """The line of the user's program that is being carried out."""
    frame = inspect.currentframe()
    while frame is not None and is_ours(str(frame.f_globals.get("__name__", ""))):
        frame = frame.f_back
    if frame is None:
        return Place("<unknown>", 0)
    return Place(frame.f_code.co_filename, frame.f_lineno)


def is_ours(module: str) -> bool:
    """Whether a module stands between the user's program and what it asks for."""
    return module == OURS or module.startswith(f"{OURS}.") or module in PASSED_OVER


def end_of(function: Any) -> Place:
    """The last line of a function: that of its `return`, more often than not."""
    code = function.__code__
    return Place(code.co_filename, max(line for *_, line in code.co_lines() if line is not None))


def place_of(function: Any) -> Place:
    """The line on which a function begins."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return Place(code.co_filename, code.co_firstlineno) if code is not None else here()
