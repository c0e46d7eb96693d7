"""How MariaDB spells things."""

from collections.abc import Sequence
from typing import Final

from stretto.store.sql.lengths import TAG_LENGTH
from stretto.store.sql.statement import INT, Field, Kind, names_of

CLOCK: Final = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000"
LONGEST: Final = TAG_LENGTH + 1  # a text that is longer than any key is cut, and must not become one by that


class MariadbDialect:
    """See `sql.statement.Dialect`. `:name...` stands for all values of a list; a list of tuples is bound as
    JSON.
    """

    name = "mariadb"
    shared = "LOCK IN SHARE MODE"
    exclusive = "FOR UPDATE"
    free = "FOR UPDATE SKIP LOCKED"
    clock = f"({CLOCK} + :ahead)"

    def __init__(self, collation: str) -> None:
        self._types = {
            kind: "BIGINT" if kind is INT else f"VARCHAR({LONGEST}) CHARACTER SET utf8mb4 COLLATE {collation}"
            for kind in Kind
        }

    def among(self, column: str, name: str, kind: Kind) -> str:  # noqa: ARG002 - the driver knows the kind
        return f"{column} IN (:{name}...)"

    def listed(self, name: str, fields: Sequence[Field]) -> str:
        columns = ", ".join(
            f"{field.name} {self._types[field.kind]} PATH '$[{place}]'" for place, field in enumerate(fields)
        )
        return f"JSON_TABLE(:{name}, '$[*]' COLUMNS ({columns}))"

    def beyond(self, columns: Sequence[str], names: Sequence[str], sign: str) -> str:
        """Spelled out: MariaDB uses no index for `(a, b) > (1, 2)`."""
        cases = []
        for place, (column, name) in enumerate(zip(columns, names, strict=True)):
            same = [f"{columns[at]} = :{names[at]}" for at in range(place)]
            last = sign if place == len(columns) - 1 else sign[0]
            cases.append(" AND ".join([*same, f"{column} {last} :{name}"]))
        if len(cases) == 1:
            return cases[0]
        return f"{columns[0]} {sign[0]}= :{names[0]} AND ({' OR '.join(cases)})"

    def missing(self, table: str, fields: Sequence[Field]) -> str:
        """A row that is there is locked, and the id that is said to be the last tells that it was."""
        key = fields[0].name
        return (
            f"INSERT INTO {table} ({names_of(fields)}) VALUES ({names_of(fields, ':')}) "
            f"ON DUPLICATE KEY UPDATE {key} = IF(LAST_INSERT_ID(1), {table}.{key}, {table}.{key})"
        )
