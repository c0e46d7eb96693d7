"""Servers that the tests of stores share."""

from tests.ports.mariadb_server import mariadb_url, own_mariadb
from tests.ports.postgresql_server import own_postgresql, postgresql_url

__all__ = ["mariadb_url", "own_mariadb", "own_postgresql", "postgresql_url"]
