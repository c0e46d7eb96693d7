"""The schema of databases as text: what migrations run, and what a new SQLite file is made of.

Once a release has been made with them, the scripts of a migration are not made again: a change of the tables
then is a migration of its own.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from scripts.schema.script import DIALECTS, script

FIRST_LINE: Final = "-- Made by scripts/generate.py from scripts.schema; change the tables there.\n"


# Those that only make tables and indexes.
MAKING_TABLES: Final = ("0001", "0002", "0003", "0004", "0005", "0006")


def _text(database: str, since: str | None = None, *, stamped: bool) -> str:
    return FIRST_LINE + script(database, since, stamped=stamped)


SQL_FILES: Final[Mapping[str, Callable[[], str]]] = {
    "src/stretto/store/sqlite/schema.sql": partial(_text, "sqlite", stamped=True),
    **{
        f"src/stretto/store/sql/migrations/{number}.{database}.sql": partial(
            _text, database, number, stamped=False
        )
        for number in MAKING_TABLES
        for database in DIALECTS
    },
}
