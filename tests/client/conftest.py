"""One server for a file of tests, and each test with both drivers."""

from collections.abc import Iterator

import pytest
from tests.api.serving import Served, served
from tests.client.drivers import Any_, Driven

from stretto.client import AsyncClient, Client


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served() as made:
        yield made


@pytest.fixture(params=["sync", "aio"])
def client(server: Served, request: pytest.FixtureRequest) -> Iterator[Any_]:
    """Of the two, with the same calls; the asynchronous one is waited for."""
    if request.param == "sync":
        with Client(server.url, user="ann") as made:
            yield made
    else:
        with Driven(lambda: AsyncClient(server.url, user="ann")) as driven:
            yield driven
