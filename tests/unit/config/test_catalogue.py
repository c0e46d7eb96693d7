"""No setting is left out: of the records, of the catalogue, of the documentation."""

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stretto.config.catalogue import DEFAULTS, NOT_SET, SECTIONS, SETTINGS, VARIABLES, Setting
from stretto.config.file import VARIABLE
from stretto.config.old_names import BY_NAME, OLD_NAMES, OldName
from stretto.config.rules import RULES
from stretto.config.settings import Config, FieldPath, value_at, with_values
from stretto.model.vocabulary import System

PAGE = (Path(__file__).parents[3] / "docs/reference/settings.md").read_text(encoding="utf-8")


def fields_of(record: Any) -> Iterator[str]:
    if isinstance(record, msgspec.Struct):
        yield from record.__struct_fields__
    else:
        yield from (field.name for field in dataclasses.fields(record))


def is_record(value: Any) -> bool:
    return isinstance(value, msgspec.Struct) or (
        dataclasses.is_dataclass(value) and not isinstance(value, type)
    )


def paths(record: Any, at: FieldPath = ()) -> Iterator[FieldPath]:
    """Every value in a record and in the records inside of it."""
    for name in fields_of(record):
        value = getattr(record, name)
        if is_record(value):
            yield from paths(value, (*at, name))
        else:
            yield (*at, name)


def test_every_field_is_a_setting_once() -> None:
    """Who adds a field adds a line to the catalogue, or says there why nobody sets it."""
    assert sorted([*(setting.path for setting in SETTINGS.values()), *NOT_SET]) == sorted(paths(DEFAULTS))


def test_names_and_variables_are_told_apart() -> None:
    assert len(VARIABLES) == len(SETTINGS)
    assert VARIABLE not in VARIABLES
    assert {name.partition(".")[0] for name in SETTINGS} == SECTIONS.keys()
    assert all(re.fullmatch(r"[a-z]+\.[a-z]+(_[a-z]+)*", name) for name in SETTINGS)


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_every_default_is_a_value_that_could_be_set(setting: Setting) -> None:
    if setting.name == "database.url":
        assert setting.default is None
    else:
        assert setting.kind.parse(setting.kind.show(setting.default)) == setting.default


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_every_setting_is_documented(setting: Setting) -> None:
    section, _, key = setting.name.partition(".")
    part = PAGE.split(f"\n## `{section}`\n")[1].split("\n## ")[0]
    (row,) = [line for line in part.splitlines() if line.startswith(f"| `{key}` |")]
    assert setting.meaning in row
    assert setting.kind.name in row


def test_only_the_address_is_secret() -> None:
    assert [setting.name for setting in SETTINGS.values() if setting.secret] == ["database.url"]


@pytest.mark.parametrize("old", OLD_NAMES, ids=lambda old: old.names[0])
def test_every_old_name_leads_somewhere(old: OldName) -> None:
    assert set(old.ours) <= SETTINGS.keys()
    assert old.ours or old.note
    assert all(f"`{name}`" in PAGE for name in old.names)
    assert all(BY_NAME[name.removeprefix("--")] is old for name in old.names)


def test_all_four_systems_are_there() -> None:
    assert {old.system for old in OLD_NAMES} == set(System)


def test_rules_are_about_settings() -> None:
    assert {name for rule in RULES for name in (rule.less, rule.more)} <= SETTINGS.keys()


def test_records_are_changed_along_paths() -> None:
    changed = with_values(
        Config(), {("node", "engine", "depth"): 3, ("node", "trust"): 5, ("params", "entries"): 7}
    )
    assert value_at(changed, ("node", "engine", "depth")) == 3
    assert (changed.node.trust, changed.params.entries, changed.limits) == (5, 7, Config().limits)
    assert with_values(Config(), {}) == Config()
