"""What tests can not cover on this machine, because a server is missing: `python -m tests.ports.absent`.

With CI set nothing is: there, tests without a server fail.
"""

import os
from collections.abc import Callable

from tests.ports import mariadb_server, postgresql_server
from tests.ports.postgresql_server import Missing

MARIADB = ("src/stretto/store/mariadb/*",)
POSTGRESQL = (
    "src/stretto/store/postgresql/*",
    "src/stretto/store/sql/pool.py",
    "src/stretto/store/address_settings.py",
)


def _is_there(named: str | None, find: Callable[[], object]) -> bool:
    try:
        return bool(named or find())
    except Missing:
        return False


def absent() -> list[str]:
    """The files, as patterns."""
    if os.environ.get("CI"):
        return []
    found: list[str] = []
    if not _is_there(mariadb_server.NAMED, lambda: mariadb_server.program("mariadbd", "mysqld")):
        found += MARIADB
    if not _is_there(postgresql_server.NAMED, postgresql_server.binaries):
        found += POSTGRESQL
    return found


if __name__ == "__main__":
    print(",".join(absent()))  # noqa: T201 - for make
