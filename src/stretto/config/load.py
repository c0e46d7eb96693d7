"""All sources together: defaults < file < environment < flags."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from stretto.config.catalogue import SETTINGS
from stretto.config.file import Unusable, find_file, read_file
from stretto.config.folders import Surroundings, server_database
from stretto.config.given import Flag, Found, given_by_environment, given_by_file, given_by_flags
from stretto.config.problems import BY_DEFAULT, BadValue, InvalidConfig, Origin, SettingProblem, problem_of
from stretto.config.rules import broken_rules, rank
from stretto.config.settings import Config, value_at, with_values


class Loaded(NamedTuple):
    """The settings, and where each came from, by its name."""

    config: Config
    origins: Mapping[str, Origin]
    file: Path | None

    def value(self, name: str) -> Any:
        """The value of a setting."""
        return value_at(self.config, SETTINGS[name].path)


def load(around: Surroundings, *, file: str | None = None, flags: Iterable[Flag] = ()) -> Loaded:
    """Read the settings, once. Raises InvalidConfig with every problem of every source."""
    problems: list[SettingProblem] = []
    found: list[Found] = []
    chosen = read = None
    try:
        chosen = find_file(file, around)
        read = read_file(chosen) if chosen is not None else None
    except Unusable as error:
        problems += error.problems
    if read is not None:
        found += given_by_file(read, around.environ)
    found += given_by_environment(around.environ)
    found += given_by_flags(flags)
    values, origins, bad = _settled(found, around)
    problems += bad
    problems += broken_rules(values, origins)
    if problems:
        raise InvalidConfig(sorted(problems, key=_place))
    config = with_values(Config(), {SETTINGS[name].path: value for name, value in values.items()})
    return Loaded(config, origins, chosen.path if chosen is not None else None)


def _place(each: SettingProblem) -> tuple[int, int]:
    """Source by source, and a file from top to bottom."""
    return rank(each.origin), each.problem.line or 0


def _settled(
    found: Iterable[Found], around: Surroundings
) -> tuple[dict[str, Any], dict[str, Origin], list[SettingProblem]]:
    """Each setting with the value of the last source that names it; those that can not be read are left out.

    A bad value is a problem even where a later source has a good one.
    """
    values = {name: setting.default for name, setting in SETTINGS.items()}
    values["database.url"] = server_database(around)
    origins = dict.fromkeys(SETTINGS, BY_DEFAULT)
    problems: list[SettingProblem] = []
    unread: set[str] = set()
    for each in found:
        if isinstance(each, SettingProblem):
            problems.append(each)
            unread.add(each.problem.path)
            continue
        name = each.setting.name
        try:
            values[name] = each.converted()
            origins[name] = each.origin
        except BadValue as bad:
            problems.append(problem_of(each.origin, name, bad))
            unread.add(name)
    return {name: value for name, value in values.items() if name not in unread}, origins, problems
