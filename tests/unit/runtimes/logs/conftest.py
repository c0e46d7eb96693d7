"""What a test leaves open is closed."""

from collections.abc import Iterator

import pytest
from tests.unit.runtimes.logs.stand import MADE


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    while MADE:
        MADE.pop().close()
