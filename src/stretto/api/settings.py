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
    cluster_name: str = "stretto"  # that events carry
    body: int = 8 * MB  # of a request, as it comes and unpacked
    bodies: int = 64 * MB  # of all requests that are under way
    answers: int = 64 * MB  # that clients have not read yet, all together
    headers: int = 64 * KB  # of a request with its first line; also of the trailers behind its body
    header_fields: int = 100  # of a request
    pipelined: int = 16  # requests of one connection that wait for the answer to an earlier one
    headers_within: int = 10 * SECOND  # for the first line and the headers, from the first byte on
    body_within: int = 30 * SECOND  # for a whole body to come
    read_within: int = 30 * SECOND  # for a client to take what is waiting for it
    idle_within: int = 75 * SECOND  # a connection without a request is closed after so long
    connections: int = 1_000
    compress_from: int = 1 * KB  # smaller answers are sent as they are
    action_within: int = 5 * SECOND  # that a blocking action on a step waits for its outcome
    stop_within: int = 10 * SECOND  # for requests that are under way when the server stops
