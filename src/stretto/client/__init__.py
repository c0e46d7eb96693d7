"""Python client of the HTTP API: one conversation, and two drivers of it.

    with Client("http://127.0.0.1:8080", user="ann") as client:
        run = client.start("etl", params={"table": "sales"})
        print(client.wait(run).status)

    conversation   every call: what is sent, how the answer is read, when it is sent again. No I/O
    steps          what a conversation asks of its driver, and what it is answered
    sync, aio      the drivers: `Client`, and `AsyncClient` with the same calls

Promise: what the server refuses is raised as the error that it is there (`stretto.model.errors`); a call is
repeated only if that can not do its work twice.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Name -> the module that has it. The settings are read by every command, and need none of them.
_HOMES = {
    "AsyncClient": "stretto.client.aio",
    "Changed": "stretto.client.stream",
    "Client": "stretto.client.sync",
    "Happening": "stretto.client.stream",
    "Resync": "stretto.client.stream",
    "Retries": "stretto.client.retries",
    "RunName": "stretto.client.names",
}

if TYPE_CHECKING:
    from stretto.client.aio import AsyncClient
    from stretto.client.names import RunName
    from stretto.client.retries import Retries
    from stretto.client.stream import Changed, Happening, Resync
    from stretto.client.sync import Client

__all__ = ["AsyncClient", "Changed", "Client", "Happening", "Resync", "Retries", "RunName"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
