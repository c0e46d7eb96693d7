"""Values of each kind: strict about types in files, and about spelling elsewhere."""

import datetime as dt
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest

from stretto.config.kinds import (
    Choice,
    Count,
    Folder,
    Host,
    Kind,
    Modules,
    Name,
    OrNone,
    Switch,
    printable,
    shown,
)
from stretto.config.problems import BadValue
from stretto.model.problem import Code


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


COUNT = Count(least=1, most=10)
CHOICE = Choice(Colour)
LIST = 'write ["shop.jobs", "shop.reports"], or shop.jobs,shop.reports'


@pytest.mark.parametrize(
    ("kind", "value", "result"),
    [
        (COUNT, 1, 1),
        (COUNT, 10, 10),
        (Switch(), True, True),
        (Switch(), False, False),
        (CHOICE, "red", Colour.RED),
        (OrNone(COUNT), 5, 5),
        (OrNone(COUNT), None, None),
        (OrNone(COUNT), "none", None),
        (Folder(), "var/logs", "var/logs"),
        (Host(), "localhost", "localhost"),
        (Name(), "eu-1.test", "eu-1.test"),
        (Modules(), ["shop.jobs", " reports "], ("shop.jobs", "reports")),
        (Modules(), "shop", ("shop",)),
        (Modules(), [], ()),
    ],
)
def test_read_from_a_file(kind: Kind, value: object, result: Any) -> None:
    assert kind.read(value) == result


@pytest.mark.parametrize(
    ("kind", "text", "result"),
    [
        (COUNT, "7", 7),
        (COUNT, "+7", 7),
        (Switch(), "true", True),
        (Switch(), "false", False),
        (CHOICE, "green", Colour.GREEN),
        (OrNone(COUNT), "5", 5),
        (OrNone(COUNT), "none", None),
        (Folder(), "/var/logs", "/var/logs"),
        (Host(), "[::1]", "[::1]"),
        (Name(), "eu_2", "eu_2"),
        (Modules(), "shop.jobs, reports,", ("shop.jobs", "reports")),
    ],
)
def test_parsed_from_a_text(kind: Kind, text: str, result: Any) -> None:
    assert kind.parse(text) == result
    assert kind.parse(kind.show(result)) == result


@pytest.mark.parametrize(
    ("kind", "value", "code", "message", "hint"),
    [
        (COUNT, 0, Code.OUT_OF_RANGE, "it must be at least 1", None),
        (COUNT, 11, Code.OUT_OF_RANGE, "it must be at most 10", None),
        (COUNT, True, Code.WRONG_TYPE, "true is not a whole number", None),
        (COUNT, 1.5, Code.WRONG_TYPE, "`1.5` is not a whole number", None),
        (COUNT, "7", Code.WRONG_TYPE, '"7" is not a whole number', "write it without quotes"),
        (COUNT, "x", Code.WRONG_TYPE, '"x" is not a whole number', None),
        (COUNT, None, Code.WRONG_TYPE, "nothing is not a whole number", None),
        (COUNT, [], Code.WRONG_TYPE, "a list is not a whole number", None),
        (Switch(), 1, Code.WRONG_TYPE, "`1` is neither true nor false", None),
        (Switch(), "true", Code.WRONG_TYPE, '"true" is neither true nor false', "write it without quotes"),
        (Switch(), ["true"], Code.WRONG_TYPE, "a list is neither true nor false", None),
        (CHOICE, 1, Code.WRONG_TYPE, "`1` is not `red` or `green`", None),
        (CHOICE, "gren", Code.UNKNOWN_VALUE, '"gren" is not `red` or `green`', "did you mean `green`?"),
        (CHOICE, "RED", Code.UNKNOWN_VALUE, '"RED" is not `red` or `green`', "did you mean `red`?"),
        (Name(), 7, Code.WRONG_TYPE, "`7` is not a name", "1 to 64 letters, digits, `.`, `_` or `-`"),
        (Name(), "a b", Code.WRONG_TYPE, '"a b" is not a name', "1 to 64 letters, digits, `.`, `_` or `-`"),
        (Host(), 7, Code.WRONG_TYPE, "`7` is not the name or the address of a host", None),
        (Host(), "a b", Code.WRONG_TYPE, '"a b" is not the name or the address of a host', None),
        (OrNone(COUNT), "None", Code.WRONG_TYPE, '"None" is not a whole number', None),
        (Folder(), 1, Code.WRONG_TYPE, "`1` is not the name of a folder", None),
        (Modules(), 1, Code.WRONG_TYPE, "`1` is not a list of modules", LIST),
        (Modules(), [1], Code.WRONG_TYPE, "a list is not a list of modules", LIST),
        (Modules(), ["a-b"], Code.WRONG_TYPE, '"a-b" is not the name of a module', LIST),
    ],
)
def test_refused_in_a_file(kind: Kind, value: object, code: str, message: str, hint: str | None) -> None:
    with pytest.raises(BadValue) as bad:
        kind.read(value)
    assert (bad.value.code, bad.value.message, bad.value.hint) == (code, message, hint)


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (COUNT, "1.0", '"1.0" is not a whole number'),
        (COUNT, "1_0", '"1_0" is not a whole number'),
        (COUNT, " 1", '" 1" is not a whole number'),
        (COUNT, "٣", '"٣" is not a whole number'),
        (COUNT, "9" * 50, f'"{"9" * 37}..." is not a whole number'),
        (COUNT, "-1", "it must be at least 1"),
        (Switch(), "yes", '"yes" is neither true nor false'),
        (Switch(), "True", '"True" is neither true nor false'),
        (CHOICE, "blue", '"blue" is not `red` or `green`'),
        (Folder(), "", '"" is not the name of a folder'),
        (Folder(), "a\nb", '"a\\x0ab" is not the name of a folder'),
        (Modules(), "a..b", '"a..b" is not the name of a module'),
    ],
)
def test_refused_as_a_text(kind: Kind, text: str, message: str) -> None:
    with pytest.raises(BadValue) as bad:
        kind.parse(text)
    assert bad.value.message == message


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (10**18, "a number of more than 18 digits"),
        (-(10**18), "a number of more than 18 digits"),
        ({}, "a table"),
        (dt.date(2026, 1, 1), "a date or a time"),
        (dt.time(1, 2), "a date or a time"),
        (Decimal("1.50"), "`1.50`"),
        ("a\nb\x1b[0m\udcff", '"a\\x0ab\\x1b[0m\\xdcff"'),
        (False, "false"),
    ],
)
def test_any_value_can_be_shown(value: object, text: str) -> None:
    assert shown(value) == text


def test_a_number_that_python_would_not_print() -> None:
    assert shown(10**5_000) == "a number of more than 18 digits"


def test_what_is_printable_stays() -> None:
    assert printable("Größe 日本") == "Größe 日本"


def test_names_for_the_documentation() -> None:
    kinds: list[Kind] = [COUNT, Switch(), CHOICE, OrNone(COUNT)]
    assert [kind.name for kind in kinds] == [
        "number",
        "true or false",
        "`red` or `green`",
        "number or `none`",
    ]
