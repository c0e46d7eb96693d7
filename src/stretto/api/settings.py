"""How the server listens, and how patient it is. Times are in milliseconds, sizes in bytes."""

from typing import Final

import msgspec

KB: Final = 1024
MB: Final = 1024 * KB
SECOND: Final = 1_000


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where clients find the server, and what it grants them."""

    host: str = "127.0.0.1"
    port: int = 8080  # 0: any that is free
    body: int = 8 * MB  # of a request
    headers_within: int = 10 * SECOND  # for the first line and the headers, from the first byte on
    body_within: int = 30 * SECOND  # for a whole body to come
    read_within: int = 30 * SECOND  # for a client to take what is waiting for it
    idle_within: int = 75 * SECOND  # a connection without a request is closed after so long
    connections: int = 1_000
    compress_from: int = 1 * KB  # smaller answers are sent as they are
    action_within: int = 5 * SECOND  # that a blocking action on a step waits for its outcome
    stop_within: int = 10 * SECOND  # for requests that are under way when the server stops
