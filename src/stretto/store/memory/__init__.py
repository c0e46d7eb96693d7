"""The memory store: the whole contract, nothing on disk.

    database = Database(clock)            one of these is one database
    store = MemoryStore(database)         any number of handles to it
    hints = MemoryHints()                 notices between nodes of one process

It ships for tests, simulations and programs that need no second life. A transaction holds the one lock from
its beginning to its end and awaits nothing; whatever raises in the middle of one undoes all of it. Rows are
never changed in place: they are replaced.
"""

from stretto.store.memory.database import Database
from stretto.store.memory.hints import MemoryHints
from stretto.store.memory.store import MemoryStore

__all__ = ["Database", "MemoryHints", "MemoryStore"]
