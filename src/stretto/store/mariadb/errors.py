"""What MariaDB's errors, and those of its driver, mean."""

import ssl
from typing import Final

from asyncmy.errors import MySQLError

from stretto.model.errors import Conflict, PreconditionFailed, StrettoError, Unavailable
from stretto.ports.failures import OutcomeUnknown, Poison
from stretto.store.sql.database import Taken
from stretto.store.sql.hints import BY_ITSELF, RUNS, at_opening

DRIVER: Final = (MySQLError, OSError)
"""Everything that the driver raises once a statement is on its way; a time-out is an OSError."""

DUPLICATE: Final = 1062
UNDONE: Final = frozenset({1020, 1205, 1213})  # changed since it was read, a lock was not let go, deadlock
STALE: Final = frozenset({1412, 1615})  # the tables were changed meanwhile
UNSENT: Final = frozenset({0, 2006})  # the driver found the connection closed before it wrote anything
LOST: Final = UNSENT | {1053, 1927, 2013, 4031}  # and: shut down, killed, no answer, idle for too long
BAD_VALUES: Final = frozenset(
    {
        1048,
        1074,
        1105,
        1118,
        1153,
        1264,
        1265,
        1292,
        1301,
        1366,
        1367,
        1406,
        1690,
        3140,
        3903,
        4025,
        4037,
        4038,
    }
)
MISTAKES: Final = frozenset({1044, 1045, 1049, 1130, 1142, 1143, 1146, 1227, 1251, 1665, 1698, 2059, 3159})
"""What whoever wrote the address, or made the database, puts right."""

BACK: Final = f"{BY_ITSELF} once it answers again"
RIGHTS: Final = "GRANT SELECT, INSERT, UPDATE, DELETE ON `NAME`.* TO the user; for `stretto db upgrade` ALL"
DISK: Final = f"make room on the disk of the server; {BY_ITSELF} then"
READ_ONLY: Final = (
    "it is a replica, or was made read-only: name the primary, or set read_only = OFF on the server"
)
CONNECTIONS: Final = (
    "raise max_connections on the server, or the user's limit, or lower `connections` in the address"
)
SLOW: Final = (
    "a statement took too long: raise `statement_within` in the address, or look at the load of the server"
)
HINTS: Final = {
    1021: DISK,
    1030: "look into the error log of the server, and at its disk",
    1040: CONNECTIONS,
    1041: "give the server more memory",
    1044: f"look at the name of the database in the address, or {RIGHTS}",
    1045: "look at the user and the password in the address; a server may want ssl=true there, too",
    1049: "make it (CREATE DATABASE `NAME`), or name another in the address",
    1114: DISK,
    1129: "the server took offence at too many broken connections from here: FLUSH HOSTS on the server",
    1130: "the server lets nobody in from this machine: look at the hosts of its users",
    1142: RIGHTS,
    1143: RIGHTS,
    1146: "bring it up to date: stretto db upgrade",
    1203: CONNECTIONS,
    1205: "somebody holds rows for a long time: look into information_schema.innodb_trx",
    1213: "too many writers wait for each other: look into SHOW ENGINE INNODB STATUS",
    1226: CONNECTIONS,
    1227: RIGHTS,
    1290: READ_ONLY,
    1461: "raise max_prepared_stmt_count on the server",
    1665: "set binlog_format to ROW or MIXED on the server",
    1698: "look at the user and the password in the address",
    1792: READ_ONLY,
    1836: READ_ONLY,
    1969: SLOW,
    3024: SLOW,
    3159: "add ssl=true to the address: the server wants connections to be encrypted",
}


def is_repeated(error: BaseException) -> bool:
    """Whether the transaction was undone for no fault of its own, and need only be tried again."""
    return code_of(error) in UNDONE | STALE | LOST


def is_undone(error: BaseException) -> bool:
    """Whether a failed COMMIT left nothing behind: it was not sent, or the server undid everything for the
    sake of others. Of all other failures nobody knows.
    """
    return code_of(error) in UNDONE | UNSENT


def is_lost(error: BaseException) -> bool:
    """Whether the connection is of no use any more: that is so, too, if the driver does not understand it."""
    code = code_of(error)
    return code is None or code in LOST


def translated(error: Exception, place: str) -> Exception:
    """The error that a caller understands. Nothing was written."""
    code = code_of(error)
    if isinstance(error, Taken) or code == DUPLICATE:
        return Conflict(f"a row is there already: {_text(error)}")
    if code in BAD_VALUES:
        return Poison(f"the database {place} refuses a value: {_text(error)}")
    return Unavailable(f"the database {place} can not be used: {_text(error)}", hint=_hint(error))


def unknown(error: Exception, place: str) -> OutcomeUnknown:
    """What a failed COMMIT means."""
    return OutcomeUnknown(
        f"the database {place} was lost while it stored a transaction: {_text(error)}", hint=_hint(error)
    )


def refused(error: Exception, place: str) -> StrettoError:
    """Why a database can not be opened."""
    kind = PreconditionFailed if code_of(error) in MISTAKES else Unavailable
    return kind(f"the database {place} can not be opened: {_text(error)}", hint=at_opening(_hint(error)))


def code_of(error: BaseException) -> int | None:
    """The server's number of an error, or the driver's."""
    code = error.args[0] if isinstance(error, MySQLError) and error.args else None
    return code if isinstance(code, int) else None


def _text(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    words = error.args if code_of(error) is None else error.args[1:]
    return " ".join(" ".join(map(str, words)).split()) or type(error).__name__


def _hint(error: BaseException) -> str | None:
    code = code_of(error)
    if isinstance(error.__cause__, ssl.SSLError):
        return "look at ssl and ssl_ca in the address, and at the certificate of the server"
    if code is None or code in {2003, *LOST}:
        return f"{RUNS}; {BACK}"
    return HINTS.get(code)
