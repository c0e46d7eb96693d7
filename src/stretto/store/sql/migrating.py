"""Bringing a schema up to date. Importing this costs half a second: do it only when it is needed."""

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, inspect, text

from stretto.store.sql.version import FLOOR, TABLE, Standing, has_floor, standing_of


def migrate(connection: Connection) -> None:
    """Run every migration that has not run on this database yet. The caller commits, and holds off others."""
    config = Config()
    config.set_main_option("script_location", "stretto.store.sql:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def look(connection: Connection) -> tuple[Standing, str | None]:
    """How a database stands to the code, and the number of its last migration."""
    tables = set(inspect(connection).get_table_names())
    found: str | None = None
    if TABLE in tables:
        found = connection.execute(text(f"SELECT version_num FROM {TABLE}")).scalar()
    floor = connection.execute(text(FLOOR)).scalar() if has_floor(tables, found) else None
    return standing_of(tables, found, floor), found
