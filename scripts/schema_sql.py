"""The schema of databases as text: what the first migration runs, and what a new SQLite file is made of.

Once a release has been made with them, the scripts of the first migration are not made again: a change of the
tables then is a migration of its own.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from stretto.store.sql.schema.script import DIALECTS, script

FIRST_LINE: Final = "-- Made by scripts/generate.py from stretto.store.sql.schema; change the tables there.\n"


def _text(database: str, *, stamped: bool) -> str:
    return FIRST_LINE + script(database, stamped=stamped)


SQL_FILES: Final[Mapping[str, Callable[[], str]]] = {
    "src/stretto/store/sqlite/schema.sql": partial(_text, "sqlite", stamped=True),
    **{
        f"src/stretto/store/sql/migrations/scripts/0001.{database}.sql": partial(
            _text, database, stamped=False
        )
        for database in DIALECTS
    },
}
