"""What each source says: a file, the environment, the flags. Nothing is converted yet."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, Final, NamedTuple

from stretto.config.catalogue import PREFIX, SECTIONS, SETTINGS, VARIABLES, Setting
from stretto.config.contexts import VARIABLE as CONTEXT_VARIABLE
from stretto.config.file import VARIABLE as CONFIG_VARIABLE
from stretto.config.file import Read
from stretto.config.interpolation import filled_in, has_variables
from stretto.config.kinds import printable, shortened, shown
from stretto.config.problems import BadValue, Origin, SettingProblem, Source, problem_of
from stretto.config.toml_text import Keys
from stretto.config.unknown import dotted, leaves, no_such_setting
from stretto.model.problem import Code
from stretto.model.suggest import did_you_mean
from stretto.runtimes.variables import TOLD

MOST_UNKNOWN: Final = 100  # that are reported; a guess for each takes time
SET: Final = "--set"
_NAME: Final = re.compile(r"[a-z_.]+")

# Kubernetes tells each container of the services around it: one called `stretto` must not stop us.
_SERVICE: Final = re.compile(
    PREFIX + r"(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)"
)
_SERVICE_PORT: Final = re.compile(r"(?:tcp|udp|sctp)://.*")


class Given(NamedTuple):
    """A value for a setting. `spelled`: it is a text that spells the value, whatever its type."""

    setting: Setting
    origin: Origin
    value: object
    spelled: bool

    def converted(self) -> Any:
        """What the setting becomes. Raises BadValue."""
        if not self.spelled:
            return self.setting.kind.read(self.value)
        if not self.value:
            raise BadValue(Code.EMPTY, "it has no value", "give one, or leave it out")
        return self.setting.kind.parse(str(self.value))


Found = Given | SettingProblem


# ------------------------------------------------------------------------------------------------ the file
def given_by_file(read: Read, environ: Mapping[str, str]) -> Iterator[Found]:
    """The values of a file, with its variables filled in."""
    unknown: list[Iterable[Keys]] = []
    for section, table in read.values.items():
        if section not in SECTIONS:
            unknown.append(leaves((section,), table))
        elif isinstance(table, Mapping):
            for key, value in table.items():
                setting = SETTINGS.get(f"{section}.{key}")
                if setting is None:
                    unknown.append(leaves((section, key), value))
                else:
                    yield _in_file(setting, read.at((section, key)), value, environ)
        elif table is not None:  # in YAML, a section with nothing in it
            message = f"{shown(table)} stands where settings should be: this is a section"
            yield problem_of(read.at((section,)), section, BadValue(Code.WRONG_TYPE, message))
    yield from _unknown(read, chain.from_iterable(unknown))


def _in_file(setting: Setting, origin: Origin, value: object, environ: Mapping[str, str]) -> Found:
    if not isinstance(value, str) or not has_variables(value):
        return Given(setting, origin, value, spelled=False)
    try:
        return Given(setting, origin, filled_in(value, environ), spelled=True)
    except BadValue as bad:
        return problem_of(origin, setting.name, bad)


def _unknown(read: Read, unknown: Iterator[Keys]) -> Iterator[SettingProblem]:
    for keys in islice(unknown, MOST_UNKNOWN):
        yield problem_of(read.at(keys), dotted(keys), no_such_setting(".".join(keys)))
    if next(unknown, None) is not None:
        bad = BadValue(Code.TOO_MANY, f"there are more than {MOST_UNKNOWN} unknown settings in it")
        yield problem_of(read.origin, "", bad)


# ----------------------------------------------------------------------------------------- the environment
def given_by_environment(environ: Mapping[str, str]) -> Iterator[Found]:
    """The values of all variables that are ours."""
    for name in sorted(environ):
        if (
            not name.startswith(PREFIX)
            or name in {CONFIG_VARIABLE, CONTEXT_VARIABLE}
            or _is_service(name, environ[name])
        ):
            continue
        if name in TOLD:  # we are called by a step
            continue
        setting = VARIABLES.get(name)
        origin = Origin(Source.ENVIRONMENT, printable(shortened(name)))
        if setting is None:
            bad = BadValue(Code.UNKNOWN_FIELD, "there is no such setting", _meant(name))
            yield problem_of(origin, "", bad)
        else:
            yield Given(setting, origin, environ[name], spelled=True)


def _meant(name: str) -> str:
    """The prefix is left out of the comparison: with it, all names would be alike."""
    known = (each.removeprefix(PREFIX) for each in (CONFIG_VARIABLE, CONTEXT_VARIABLE, *VARIABLES))
    hint = did_you_mean(shortened(name.removeprefix(PREFIX)), known)
    return hint.replace("`", f"`{PREFIX}", 1) if hint else "unset the variable"


def _is_service(name: str, value: str) -> bool:
    if name.endswith("_PORT") and _SERVICE_PORT.fullmatch(value):
        return True
    return name not in VARIABLES and _SERVICE.fullmatch(name) is not None


# ------------------------------------------------------------------------------------------------ the flags
class Flag(NamedTuple):
    """A flag that sets something: `--set NAME=VALUE`, or one of its own such as `--database`."""

    flag: str
    assignment: str  # NAME=VALUE


def given_by_flags(flags: Iterable[Flag]) -> Iterator[Found]:
    """The values of flags. A setting that two of them set is a mistake, not a question of order."""
    seen: dict[str, Origin] = {}
    for flag, assignment in flags:
        name, equals, value = assignment.partition("=")
        if not equals:
            # Who forgot the name may have given an address, with its password.
            what = f"`{shortened(name)}`" if _NAME.fullmatch(name) else "what is set"
            bad = BadValue(Code.SYNTAX, f"{what} has no `=`", "write NAME=VALUE")
            yield problem_of(Origin(Source.FLAG, flag), "", bad)
            continue
        setting = SETTINGS.get(name)
        label = f"{SET} {printable(shortened(name))}" if flag == SET else flag
        origin = Origin(Source.FLAG, label)
        if setting is None:
            yield problem_of(origin, "", no_such_setting(name))
        elif name in seen:
            bad = BadValue(Code.DUPLICATE_KEY, "it is set twice", f"once by {seen[name]}; keep one of them")
            yield problem_of(origin, name, bad)
        else:
            seen[name] = origin
            yield Given(setting, origin, value, spelled=True)
