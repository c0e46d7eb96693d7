"""One server for a file of tests: each test has workflows of its own."""

from collections.abc import Iterator

import pytest
from tests.api.serving import Served, served
from tests.ports.mariadb_server import own_mariadb
from tests.ports.postgresql_server import own_postgresql

__all__ = ["own_mariadb", "own_postgresql"]


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served() as made:
        yield made
