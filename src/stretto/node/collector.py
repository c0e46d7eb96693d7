"""Python's collector of cycles, while nodes run.

A node makes many small records that reference counting frees by itself. With its usual thresholds the
collector looks through them hundreds of times a second and finds nothing, which takes a fifth of all time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

USUAL: Final = ((700, 10, 10), (2_000, 10, 0), (2_000, 10, 10))  # as Python starts, by its version
SELDOM: Final = (10_000, 20, 20)

_users = 0
_before = gc.get_threshold()


@contextmanager
def looking_seldom() -> Iterator[None]:
    """Until the last one leaves. Who has chosen thresholds of his own keeps them."""
    global _users, _before  # noqa: PLW0603 - the collector belongs to the whole process
    if _users == 0:
        _before = gc.get_threshold()
        if _before in USUAL:
            gc.set_threshold(*SELDOM)
    _users += 1
    try:
        yield
    finally:
        _users -= 1
        if _users == 0 and gc.get_threshold() == SELDOM:
            gc.set_threshold(*_before)
