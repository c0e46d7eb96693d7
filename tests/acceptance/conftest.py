"""Servers for tests from outside: those of the tests of stores."""

from tests.ports.mariadb_server import own_mariadb
from tests.ports.postgresql_server import own_postgresql

__all__ = ["own_mariadb", "own_postgresql"]
