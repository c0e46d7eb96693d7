"""What a Shell step asks for, read from its parameters: the program, its environment, its folder."""

import os
import shutil
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from stretto.model.param import Parameter, ParamType
from stretto.params.values import SCALARS, scalar_text
from stretto.runtimes.exit_codes import ExitCodes, Verdict, exit_codes_of
from stretto.runtimes.variables import PREFIX

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
