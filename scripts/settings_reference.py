"""The page of all settings, made from their catalogue."""

from collections.abc import Iterable
from typing import Final

from stretto.config.catalogue import SECTIONS, SETTINGS, Setting
from stretto.config.old_names import OLD_NAMES, SYSTEMS, OldName
from stretto.config.rules import RULES, Rule

INTRO: Final = """\
# Settings

<!-- Made by scripts/generate.py from stretto.config; change the tables there. -->

Everything that can be set. [Configuration](configuration.md) says where to write it, and how durations and
sizes are written. The variable of a setting is its name in capitals behind `STRETTO_`: `node.beat_every` is
`STRETTO_NODE_BEAT_EVERY`.
"""
RULES_INTRO: Final = """\
## What must hold between two settings

Checked at the start, whichever source they come from.

"""
OLD_INTRO: Final = """\
## Names in other systems

What the settings of Maestro, the task engine, KubeMin and Carp are called here. Who writes an old name in a
file is told the new one. Names in capitals are fixed in Maestro; the note has its number.

"""
URL_DEFAULT: Final = "`stretto.db` in the user's data folder"


def settings_reference() -> str:
    """Every section as a table, then the rules, then the old names."""
    sections = (
        f"## `{section}`\n\n{text}\n\n{_settings(_of(section))}" for section, text in SECTIONS.items()
    )
    return "\n".join([INTRO, *sections, RULES_INTRO + _rules(RULES), OLD_INTRO + _old_names(OLD_NAMES)])


def _of(section: str) -> list[Setting]:
    return [each for each in SETTINGS.values() if each.name.startswith(f"{section}.")]


def _table(head: str, rows: Iterable[str]) -> str:
    columns = head.count("|") + 1
    return "".join(f"| {row} |\n" for row in (head, " | ".join(["---"] * columns), *rows))


def _settings(settings: Iterable[Setting]) -> str:
    rows = (
        f"`{each.name.partition('.')[2]}` | {each.kind.name} | {_default(each)} | {each.meaning}"
        for each in settings
    )
    return _table("Key | Value | Default | Meaning", rows)


def _default(setting: Setting) -> str:
    if setting.name == "database.url":
        return URL_DEFAULT
    return f"`{setting.kind.show(setting.default)}`"


def _rules(rules: Iterable[Rule]) -> str:
    rows = (
        f"`{each.less}` | {'at most' if each.may_equal else 'less than'} | `{each.more}` | {each.why}"
        for each in rules
    )
    return _table("Setting | must be | Setting | else", rows)


def _old_names(names: Iterable[OldName]) -> str:
    rows = (
        " | ".join([_system(each), _code(each.names), _code(each.ours), each.note]).rstrip() for each in names
    )
    return _table("System | Its name | Ours | Note", rows)


def _system(name: OldName) -> str:
    return SYSTEMS[name.system].removeprefix("the ")


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)
