"""What the exit code of a command means, and how it is told."""

import re
import signal
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

CODES: Final = range(256)
BY_SIGNAL: Final = 128  # a shell adds it to the number of the signal that has ended a command
_NUMBERS: Final = re.compile(r"(?P<low>\d{1,3})(?:-(?P<high>\d{1,3}))?", re.ASCII)

OUTSIDE: Final = "it came from outside: no step was to be ended"
REASONS: Final[Mapping[str, str]] = {
    "SIGKILL": "somebody killed it, or the machine ran out of memory",
    "SIGSEGV": "it crashed: a wrong address in memory",
    "SIGBUS": "it crashed: memory, or a file in memory, that is not there",
    "SIGABRT": "it gave up by itself",
    "SIGXCPU": "it used more processor time than it may",
    "SIGXFSZ": "a file became larger than it may",
    "SIGHUP": OUTSIDE,
    "SIGINT": OUTSIDE,
    "SIGTERM": OUTSIDE,
}


class Verdict(StrEnum):
    SUCCESS = "success"
    USER = "user"  # the step has failed; tried again within the user's budget
    PLATFORM = "platform"  # what runs it has failed; tried again within the platform's budget
    FATAL = "fatal"  # not worth another try


VERDICTS: Final = ", ".join(Verdict)
KEYS: Final = "an exit code (75), a range of them (64-78) or the name of a signal (SIGTERM)"


class Rule(NamedTuple):
    """The meaning of some codes; of several rules for one code the smallest counts."""

    width: int  # of one code: 0, of a signal: 1, of a range: more
    low: int
    high: int
    verdict: Verdict


class ExitCodes(NamedTuple):
    """What a step says about its codes."""

    rules: tuple[Rule, ...] = ()

    def meaning(self, code: int) -> Verdict:
        """Of an exit code; below 0 it is that of a signal which has ended the command."""
        seen = code if code >= 0 else BY_SIGNAL - code
        for rule in self.rules:
            if rule.low <= seen <= rule.high:
                return rule.verdict
        if code < 0:
            return Verdict.PLATFORM
        return Verdict.USER if code else Verdict.SUCCESS


def exit_codes_of(given: Mapping[str, Any]) -> ExitCodes:
    """Raises ValueError with a message for the user."""
    return ExitCodes(tuple(sorted(_rule(key.strip(), value) for key, value in given.items())))


def _rule(key: str, value: Any) -> Rule:
    if value not in {*Verdict}:
        raise ValueError(f"`{key}: {value}` in `exit_codes`: a code means one of {VERDICTS}")
    verdict = Verdict(value)
    if key in signal.Signals.__members__:
        seen = BY_SIGNAL + signal.Signals[key]
        return Rule(1, seen, seen, verdict)
    match = _NUMBERS.fullmatch(key)
    if match is None:
        raise ValueError(f"`{key}` in `exit_codes` is not {KEYS}")
    low = int(match["low"])
    high = low if match["high"] is None else int(match["high"])
    if high < low or high not in CODES:
        raise ValueError(f"`{key}` in `exit_codes`: codes go from 0 to {CODES[-1]}, the lower one first")
    # Even a range of one code is a range: it yields to the code itself, and to a signal.
    return Rule(0 if match["high"] is None else 2 + high - low, low, high, verdict)


def told(code: int) -> str:
    """How a command ended, for people."""
    if code < 0:
        name = name_of(-code) or f"signal {-code}"
        return f"ended by {name} ({REASONS[name]})" if name in REASONS else f"ended by {name}"
    inner = name_of(code - BY_SIGNAL)
    return f"exit code {code}" if inner is None else f"exit code {code} ({BY_SIGNAL} + {inner})"


def name_of(number: int) -> str | None:
    """The name of a signal, if it has one."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return None
