"""MariaDB: any number of processes on any number of machines.

    store = await open_mariadb("mariadb://stretto:secret@db.example/stretto")

The driver is asyncmy. Statements are prepared on the server, and many rows go into one of them. The tables
are made, and brought up to date, by `stretto db upgrade`; a store that is opened on anything else is refused.
"""

from stretto.store.mariadb.opening import open_mariadb

__all__ = ["open_mariadb"]
