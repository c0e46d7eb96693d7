"""What PostgreSQL's errors, and those of its driver, mean."""

from typing import Final

import asyncpg

from stretto.model.errors import Conflict, InvalidRequest, PreconditionFailed, StrettoError, Unavailable
from stretto.ports.failures import OutcomeUnknown, Poison
from stretto.store.sql.database import Taken
from stretto.store.sql.hints import BY_ITSELF, RUNS, at_opening

DRIVER: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
"""Everything that the driver raises; a time-out is an OSError."""

REPEATED: Final = frozenset({"40001", "40P01", "55P03"})  # serialisation, deadlock, a lock was not let go
UNIQUE: Final = "23505"
BAD_VALUES: Final = ("22", "23", "54")  # data, constraints, limits of the server

BACK: Final = f"{BY_ITSELF} once it answers again"
HINTS: Final = {
    "08": f"{RUNS}; {BACK}",
    "25006": "it is a standby, or was made read-only: name the primary in the address",
    "25P03": "this process stood still in the middle of a transaction; it is repeated",
    "28000": "look at the user in the address, and at pg_hba.conf on the server",
    "28P01": "look at the user and the password in the address",
    "3D000": "make it (createdb NAME), or name another in the address",
    "3F000": "make the schema that search_path names, or name another",
    "42501": "give the user SELECT, INSERT, UPDATE and DELETE on all tables, and USAGE on all sequences",
    "42704": "look behind the `?` of the address: the server does not know this setting",
    "42P01": "bring it up to date: stretto db upgrade",
    "53100": f"make room on the disk of the server; {BY_ITSELF} then",
    "53200": "give the server more memory",
    "53300": "raise max_connections on the server, or lower `connections` in the address",
    "55P03": "somebody holds rows for a long time: look into pg_stat_activity",
    "57014": "it took too long: raise `statement_within` in the address, or look at the load of the server",
    "57P01": f"the server was stopped, or an administrator ended the connection; {BACK}",
    "57P02": f"the server crashed; {BACK}",
    "57P03": f"the server is starting or stopping; {BACK}",
}
# That whoever wrote the address, or made the database, puts right.
MISTAKES: Final = ("22", "28", "3D", "3F", "42")


def is_repeated(error: BaseException) -> bool:
    """Whether the transaction was undone for no fault of its own, and need only be tried again."""
    return _code(error) in REPEATED


def translated(error: Exception, place: str) -> StrettoError:
    """The error that a caller understands. Nothing was written."""
    code = _code(error)
    if isinstance(error, Taken) or code == UNIQUE:
        return Conflict(f"a row is there already: {error}")
    if code.startswith(BAD_VALUES) or isinstance(error, asyncpg.DataError):
        return Poison(f"the database {place} refuses a value: {_text(error)}")
    return Unavailable(f"the database {place} can not be used: {_text(error)}", hint=_hint(error))


def unknown(error: Exception, place: str) -> Exception:
    """What a failed COMMIT means, or a statement that is a transaction by itself. Only if the server says
    that it was refused is that so: a server that is shut down may have stored it, and have had no time to
    say so. Some values the driver refuses, and sends nothing.
    """
    if getattr(error, "severity_en", None) == "ERROR" or isinstance(error, asyncpg.DataError):
        return error
    return OutcomeUnknown(
        f"the database {place} was lost while it stored a transaction: {_text(error)}", hint=_hint(error)
    )


def refused(error: Exception, place: str) -> StrettoError:
    """Why a database can not be opened."""
    if isinstance(error, asyncpg.ClientConfigurationError | ValueError):
        return InvalidRequest(f"the address of the database can not be used: {error}")
    kind = PreconditionFailed if _code(error).startswith(MISTAKES) else Unavailable
    return kind(f"the database {place} can not be opened: {_text(error)}", hint=at_opening(_hint(error)))


def _code(error: BaseException) -> str:
    code: str = getattr(error, "sqlstate", None) or ""
    return code


def _text(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    return " ".join(str(error).split()) or type(error).__name__


def _hint(error: BaseException) -> str | None:
    code = _code(error)
    if isinstance(error, asyncpg.TargetServerAttributeNotMatched):
        return HINTS["25006"]
    if isinstance(error, OSError):
        return f"{RUNS}; {BACK}"
    return HINTS.get(code) or HINTS.get(code[:2])
