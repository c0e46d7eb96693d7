"""What functions did is forgotten between tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.flow_engine import flows
from tests.ports.postgresql_server import own_postgresql, postgresql_url

__all__ = ["own_postgresql", "postgresql_url"]


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    flows.CALLS.clear()
    flows.GATES.clear()
    flows.BLOCKS.clear()
    yield
    for block in flows.BLOCKS.values():
        block.set()


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/runs.db"
