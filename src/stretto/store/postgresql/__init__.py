"""PostgreSQL: any number of processes on any number of machines.

    store = await open_postgresql("postgresql://stretto:secret@db.example/stretto")

The driver is asyncpg, and many rows go to the server as arrays. The tables are made, and brought up to date,
by `stretto db upgrade`; a store that is opened on anything else is refused.
"""

from stretto.store.postgresql.hints import PostgresHints
from stretto.store.postgresql.opening import open_postgresql

__all__ = ["PostgresHints", "open_postgresql"]
