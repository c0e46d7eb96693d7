"""Settings that stand behind the `?` of a server's address."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from stretto.model.errors import InvalidRequest
from stretto.store.settings import DatabaseSettings, Synchronous

SETTINGS: Final = (
    "synchronous",
    "connections",
    "connect_within",
    "statement_within",
    "lock_within",
    "idle_in_transaction",
    "connection_idle",
    "connection_lifetime",
)


def split_settings(
    pairs: Iterable[tuple[str, str]], settings: DatabaseSettings
) -> tuple[DatabaseSettings, dict[str, str]]:
    """The settings with what an address says itself, which counts more; and what else it says."""
    changes: dict[str, Any] = {}
    others: dict[str, str] = {}
    for name, text in pairs:
        if name not in SETTINGS:
            others[name] = text
        elif name == "synchronous" and text in set(Synchronous):
            changes[name] = Synchronous(text)
        elif name != "synchronous" and text.isdecimal() and int(text) > 0:
            changes[name] = int(text)
        else:
            wanted = "durable or relaxed" if name == "synchronous" else "a number above 0"
            raise InvalidRequest(
                f"in the address of the database, {name} is {text[:20]!r}", hint=f"write {wanted}"
            )
    return msgspec.structs.replace(settings, **changes), others
