"""For pytest: the fixtures `stretto`, a `Harness` for one test, and `stretto_crashes`.

They are there wherever Stretto is installed; what they need is imported when a test asks for them.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from stretto.testing.harness import Harness


@pytest.fixture
def stretto() -> "Iterator[Harness]":
    """Workflows in virtual time, with everything that ships, and without threads or servers."""
    from stretto.testing.harness import Harness  # noqa: PLC0415 - most tests of a program do not need it

    with Harness() as harness:
        yield harness


@pytest.fixture
def stretto_crashes() -> "Callable[[Callable[[Harness], None]], int]":
    """Plays a test once in peace, and then with a crash before and after each of its commits."""
    from stretto.testing.harness import crash_everywhere  # noqa: PLC0415 - see above

    return crash_everywhere
