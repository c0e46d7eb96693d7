"""Where commands find a server, and how patient they are with it."""

from typing import Final

import msgspec

SECOND: Final = 1_000


class ClientSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Of the commands that talk to a server. Times are in milliseconds."""

    server: str = "http://127.0.0.1:8080"
    answer_within: int = 30 * SECOND
