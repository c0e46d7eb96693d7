"""Where a value came from, and what is wrong with it there."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import msgspec

from stretto.definition.reading.located import Spot
from stretto.model.errors import InvalidRequest
from stretto.model.problem import Code, Problem


class Source(StrEnum):
    """Who may set a value; each wins over those before it."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    FLAG = "flag"


class Origin(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a value stands: a file with its line, the name of a variable, or a flag."""

    source: Source
    name: str = ""
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        if self.source is Source.DEFAULT:
            return "default"
        return self.name if self.line is None else f"{self.name}:{self.line}"

    def at(self, spot: Spot | None) -> "Origin":
        """A place in the same file."""
        if spot is None:
            return self
        return msgspec.structs.replace(self, line=spot.line, column=spot.column)


BY_DEFAULT: Final = Origin(Source.DEFAULT)


class ConfigCode(Code):
    """What can be wrong with settings and with nothing else."""

    MISSING_VARIABLE: Final = "missing-variable"
    BAD_VARIABLE: Final = "bad-variable"
    BAD_SIZE: Final = "bad-size"
    BAD_URL: Final = "bad-url"


class SettingProblem(msgspec.Struct, frozen=True):
    """One error, with the file, the variable or the flag in which it was made."""

    origin: Origin
    problem: Problem

    def __str__(self) -> str:
        between = "" if self.problem.line is not None else " "
        return f"{self.origin.name}:{between}{self.problem}"


class BadValue(Exception):
    """A value that a setting can not have. Whoever knows the place makes a problem of it."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


def problem_of(origin: Origin, path: str, bad: BadValue) -> SettingProblem:
    """A bad value at its place."""
    problem = Problem(
        code=bad.code,
        path=path,
        message=bad.message,
        hint=bad.hint,
        line=origin.line,
        column=origin.column,
    )
    return SettingProblem(origin, problem)


class InvalidConfig(InvalidRequest):
    """Settings that can not be used, with every problem found in them."""

    id = "invalid-config"

    def __init__(self, problems: Sequence[SettingProblem]) -> None:
        count = len(problems)
        more = f" (and {count - 1} more)" if count > 1 else ""
        message = f"the settings have {count} problem{'' if count == 1 else 's'}: {problems[0]}{more}"
        super().__init__(message, details=[str(each) for each in problems])
        self.problems = tuple(problems)
