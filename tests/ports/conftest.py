"""Servers that the tests of stores share."""

from tests.ports.mariadb_server import mariadb_url, own_mariadb
from tests.ports.postgresql_one_way import answers, kept_schema, one_way
from tests.ports.postgresql_server import own_postgresql, postgresql_url

__all__ = [
    "answers",
    "kept_schema",
    "mariadb_url",
    "one_way",
    "own_mariadb",
    "own_postgresql",
    "postgresql_url",
]
