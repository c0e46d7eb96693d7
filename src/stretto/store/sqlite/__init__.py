"""SQLite: one file, any number of processes on one machine.

    store = await open_sqlite("stretto.db")

One thread of the process writes, with explicit transactions; across processes writers queue on a file lock,
so that nobody is ever told that the database is locked. Readers have connections of their own and wait for
nobody. The file is made and brought up to date when it is opened.
"""

from stretto.store.sqlite.opening import open_sqlite

__all__ = ["open_sqlite"]
