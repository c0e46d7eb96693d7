"""What a Shell step asks for, read from its parameters: the program, its environment, its folder."""

import os
import re
import shutil
import signal
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from stretto.model.param import Parameter, ParamType
from stretto.params.values import SCALARS, scalar_text
from stretto.runtimes.variables import PREFIX

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


BASH: Final = "bash"
SHELL: Final = "/bin/sh"  # where there is no bash
ONE_OF: Final = "`command` (a text for the shell, or a list of words) and `script` (lines for the shell)"

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "command": {
            "description": "A text for the shell, or a program with its arguments.",
            "oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}],
        },
        "script": {"type": "string", "description": "Lines for the shell; the first that fails ends it."},
        "shell": {
            "type": "string",
            "description": "The shell: it takes -c. Else bash, or /bin/sh without it.",
        },
        "env": {"type": "object", "description": "Variables beside those of the process."},
        "cwd": {"type": "string", "description": "The folder to work in."},
        "stdin": {"type": "string", "description": "A text for the standard input; else it is empty."},
        "exit_codes": {
            "type": "object",
            "description": "What codes, ranges of codes and signals mean.",
            "propertyNames": {"pattern": r"^\s*(\d{1,3}(-\d{1,3})?|SIG[A-Z0-9]+)\s*$"},
            "additionalProperties": {"enum": [*map(str, Verdict)]},
        },
    },
    "oneOf": [{"required": ["command"]}, {"required": ["script"]}],
}


class Unusable(Exception):
    """Parameters of which no command can be made."""


class Command(NamedTuple):
    """What is to be run."""

    words: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    stdin: str | None = None
    exit_codes: ExitCodes = ExitCodes()


def command_of(params: Mapping[str, Parameter], environ: Mapping[str, str]) -> Command:
    """The command of a step. Raises Unusable."""
    # Settings of this process are not a step's business; the address of the database may hold a password.
    inherited = {name: value for name, value in environ.items() if not name.startswith(PREFIX)}
    env = {**inherited, **_variables(params.get("env"))}
    return Command(
        words=_words(params, env),
        env=env,
        cwd=_folder(_text(params, "cwd")),
        stdin=_text(params, "stdin"),
        exit_codes=_exit_codes(params.get("exit_codes")),
    )


def _folder(name: str | None) -> Path:
    """Where it works: said each time, because a program may change its own."""
    try:
        here = Path.cwd()
    except FileNotFoundError:
        raise Unusable("the folder that this process works in is gone") from None
    if name is not None and not Path(name).is_dir():
        raise Unusable(f"the folder `{name}` is not there; `cwd` is taken from {here}")
    return here if name is None else here / name


def _words(params: Mapping[str, Parameter], env: Mapping[str, str]) -> tuple[str, ...]:
    given = [name for name in ("command", "script") if name in params]
    if len(given) != 1:
        raise Unusable(f"a Shell step needs one of {ONE_OF}; this one has {' and '.join(given) or 'none'}")
    shell = _text(params, "shell") or usual_shell(env.get("PATH", os.defpath))
    if given == ["script"]:
        options = ("-e", "-o", "pipefail") if Path(shell).name == BASH else ("-e",)
        return shell, *options, "-c", _text(params, "script") or ""
    param = params["command"]
    if param.type is not ParamType.STRING_ARRAY:
        return shell, "-c", _text(params, "command") or ""
    words = tuple(each or "" for each in param.evaluated_result)
    if not words:
        raise Unusable("`command` is an empty list: its first word must be a program")
    return words


@lru_cache(64)
def usual_shell(path: str) -> str:
    """bash, if it is in one of these folders."""
    return shutil.which(BASH, path=path) or SHELL


def _exit_codes(param: Parameter | None) -> ExitCodes:
    if param is None:
        return ExitCodes()
    if param.type not in {ParamType.STRING_MAP, ParamType.MAP}:
        raise Unusable(f"`exit_codes` of a Shell step is a map, not a {param.type}")
    try:
        return exit_codes_of(param.evaluated_result)
    except ValueError as error:
        raise Unusable(str(error)) from None


def _text(params: Mapping[str, Parameter], name: str) -> str | None:
    param = params.get(name)
    if param is None:
        return None
    if param.type is not ParamType.STRING:
        raise Unusable(f"`{name}` of a Shell step is a text, not a {param.type}")
    return str(param.evaluated_result)


def _variables(param: Parameter | None) -> dict[str, str]:
    """The values of `env`; numbers and flags as texts."""
    if param is None:
        return {}
    if param.type not in {ParamType.STRING_MAP, ParamType.MAP}:
        raise Unusable(f"`env` of a Shell step is a map of texts, not a {param.type}")
    found: dict[str, str] = {}
    for name, value in param.evaluated_result.items():
        if type(value) not in SCALARS:
            raise Unusable(f"the variable `{name}` in `env` is neither a text nor a number nor a flag")
        if not name or "=" in name:
            raise Unusable(f"`{name}` in `env` can not be the name of a variable")
        found[name] = scalar_text(value)
    return found
