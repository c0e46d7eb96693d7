"""The database servers that some conformance tests need, one of each for a process."""

from tests.ports.mariadb_server import own_mariadb
from tests.ports.postgresql_server import own_postgresql

__all__ = ["own_mariadb", "own_postgresql"]
