"""What is wrong with a text a user gave us, and where."""

import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec

# A place inside nested JSON: None is the root, otherwise (the place around it, key or index).
# A linked pair costs one tuple per level; the readable path is built only for a problem.
Place = tuple[Any, str | int] | None


class Code:
    """Stable names of problems. A client may rely on them; messages are free text."""

    SYNTAX: Final = "syntax"
    TOO_LARGE: Final = "too-large"
    TOO_DEEP: Final = "too-deep"
    TOO_MANY_ALIASES: Final = "too-many-aliases"
    DUPLICATE_KEY: Final = "duplicate-key"
    WRONG_TYPE: Final = "wrong-type"
    MISSING_FIELD: Final = "missing-field"
    UNKNOWN_FIELD: Final = "unknown-field"
    UNKNOWN_VALUE: Final = "unknown-value"
    OUT_OF_RANGE: Final = "out-of-range"
    CONFLICT: Final = "conflict"
    BAD_NAME: Final = "bad-name"
    RESERVED_NAME: Final = "reserved-name"
    TOO_LONG: Final = "too-long"
    EMPTY: Final = "empty"
    DUPLICATE_ID: Final = "duplicate-id"
    DUPLICATE_TAG: Final = "duplicate-tag"
    DUPLICATE_LOOP_PARAM: Final = "duplicate-loop-param"
    UNKNOWN_STEP: Final = "unknown-step"
    PREDECESSOR_MISMATCH: Final = "predecessor-mismatch"
    CYCLE: Final = "cycle"
    TOO_MANY_STEPS: Final = "too-many-steps"
    TOO_MANY: Final = "too-many"
    BAD_CRON: Final = "bad-cron"
    BAD_TIMEZONE: Final = "bad-timezone"
    TOO_FREQUENT: Final = "too-frequent"
    BAD_EXPRESSION: Final = "bad-expression"
    BAD_DURATION: Final = "bad-duration"
    BAD_SIGNAL: Final = "bad-signal"
    BAD_PARAM: Final = "bad-param"
    BAD_TRANSITION: Final = "bad-transition"
    MISSING_PARAM: Final = "missing-param"
    MISSING_OWNER: Final = "missing-owner"
    UNKNOWN_JOB: Final = "unknown-job"
    UNREADABLE: Final = "unreadable"
    # Of warnings: what is allowed, and almost surely not meant.
    NOT_A_FIELD: Final = "not-a-field"
    UNKNOWN_PARAM: Final = "unknown-param"
    UNUSED_PARAM: Final = "unused-param"
    UNUSED_LIMIT: Final = "unused-limit"
    YAML_WORD: Final = "yaml-word"
    CONSTANT_CONDITION: Final = "constant-condition"
    NEVER_REACHED: Final = "never-reached"
    NEVER_FIRES: Final = "never-fires"
    DEPRECATED: Final = "deprecated"


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One error in a definition: a stable code, a path such as `workflow.steps[3].foreach.steps[0].id`,
    a sentence, the way out if we know one, and the place in the text if there is a text.
    """

    code: str
    path: str
    message: str
    hint: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        where = f"{self.line}:{self.column}: " if self.line is not None else ""
        path = f"{self.path}: " if self.path else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{where}{path}{self.message}{hint} [{self.code}]"


LONGEST_KEY: Final = 200  # characters of a key that a path shows
LONGEST_MESSAGE: Final = 2_000


def shortened(text: str, most: int) -> str:
    """A text, or its beginning: what is wrong with a text of megabytes is told in a sentence."""
    return text if len(text) <= most else f"{text[:most]}…"


def keys_of(place: Place) -> list[str | int]:
    """The keys and indexes from the root to a place."""
    keys: list[str | int] = []
    while place is not None:
        place, key = place
        keys.append(key)
    keys.reverse()
    return keys


def _plain(key: str) -> bool:
    return key.replace("-", "_").isidentifier() and key.isascii()


def render(keys: Iterable[str | int]) -> str:
    """`workflow.steps[3].transition.successors["job.1"]`: keys that are no plain names are quoted."""
    path = ""
    for key in keys:
        if isinstance(key, int):
            path += f"[{key}]"
        elif len(key) <= LONGEST_KEY and _plain(key):
            path += f".{key}" if path else key
        else:
            path += "[" + msgspec.json.encode(shortened(key, LONGEST_KEY)).decode() + "]"
    return path


_STEP = re.compile(r'\["(?:[^"\\]|\\.)*"\]|\[\d+\]|[^.\[\]]+')


def keys_in(path: str) -> list[str | int]:
    """The keys and indexes of a rendered path."""
    keys: list[str | int] = []
    for part in _STEP.findall(path):
        if part.startswith("["):
            keys.append(msgspec.json.decode(part[1:-1]))
        else:
            keys.append(part)
    return keys


def problem_at(place: Place, code: str, message: str, hint: str | None = None) -> Problem:
    """A problem at a place of the JSON value at hand."""
    path = render(keys_of(place))
    return Problem(code=code, path=path, message=shortened(message, LONGEST_MESSAGE), hint=hint)
