"""`Util` and durations."""

from typing import Any

import pytest
from tests.unit.sel.evaluation import kind, run

from stretto.sel import Environment, Kind, LongArray, compile_expression
from stretto.sel.dates.durations import parse_duration


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("Util.dateIntToTs('20190101') - Util.dateIntToTs(20181231);", 86_400_000),
        ("Util.tsToDateInt(1546300800000) + Util.tsToDateInt('0');", "2019010119700101"),
        ("Util.incrementDateInt(20190101, 5);", "20190106"),
        ("Util.incrementDateInt('20190301', -1);", "20190228"),
        ("Util.dateIntHourToTs(20190101, 1, 'UTC', 0, 0);", 1546304400000),
        ("Util.dateIntHourToTs('20190101', '01', 'America/Los_Angeles', 1, '2');", 1546239600000),
        ("Util.dateIntsBetween(20190101, 20190110, 3);", LongArray([20190101, 20190104, 20190107])),
        ("Util.dateIntsBetween(20190110, 20190101, -3);", LongArray([20190107, 20190104, 20190101])),
        ("Util.dateIntsBetween(20190110, 20190101, 1);", LongArray()),
        ("Util.intsBetween(1, '-5', -2);", LongArray([1, -1, -3])),
        ("Util.intsBetween(1, 5, 0);", LongArray()),
        ("Util.timeoutForDateTimeDeadline(new DateTime(), '1 day');", "86400000 milliseconds"),
        ("Util.timeoutForDateIntDeadline(20190101, '1 hour');", "0 milliseconds"),
    ],
)
def test_value(script: str, value: Any) -> None:
    assert run(script) == value


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("Util.dateIntToTs(1.5);", Kind.ILLEGAL_ARGUMENT),
        ("Util.dateIntToTs(20200230);", Kind.ILLEGAL_ARGUMENT),
        ("Util.tsToDateInt('x');", Kind.NUMBER_FORMAT),
        ("Util.incrementDateInt(20190101, '5');", Kind.CLASS_CAST),
        ("Util.dateIntHourToTs('20190310', '02', 'America/Los_Angeles', 0, 0);", Kind.ILLEGAL_ARGUMENT),
        ("Util.dateIntHourToTs('20190310', '24', 'UTC', 0, 0);", Kind.ILLEGAL_ARGUMENT),
        ("Util.dateIntsBetween(20190101, 20190110, 0);", Kind.ILLEGAL_ARGUMENT),
        ("Util.dateIntsBetween(20190101, 20190110, '3000000000');", Kind.NUMBER_FORMAT),
        ("Util.intsBetween(5, 1, 0);", Kind.ILLEGAL_ARGUMENT),
        ("Util.intsBetween(0, 2147483647, 1);", Kind.ILLEGAL_STATE),
        ("Util.timeoutForDateTimeDeadline(0, '1 day');", Kind.CLASS_CAST),
        ("Util.timeoutForDateIntDeadline(20190101, 1);", Kind.CLASS_CAST),
        ("Util.timeoutForDateIntDeadline(20190101, '1 month');", Kind.UNSUPPORTED),
        ("Util.nope(1);", Kind.UNSUPPORTED),
        ("Util.tsToDateInt();", Kind.UNSUPPORTED),
    ],
)
def test_what_does_not_exist_or_fails(script: str, expected: Any) -> None:
    assert kind(script) is expected


def test_the_host_can_add_functions_and_replace_ours() -> None:
    environment = Environment(functions={"hello": lambda name: f"Hello {name}", "tsToDateInt": lambda _: [1]})
    assert compile_expression("Util.hello('World');").evaluate({}, environment) == "Hello World"
    assert compile_expression("Util.tsToDateInt(0)[0];").evaluate({}, environment) == 1


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("", 0),
        ("1 day", 86_400_000),
        ("1 DAYS", 86_400_000),
        ("2 hours and 30 minutes", 9_000_000),
        ("1 day, 2 hours, and 3 minutes", 93_780_000),
        ("1 week,1 second 5 milliseconds", 604_801_005),
        ("-1 hour", -3_600_000),
        ("0 months", 0),
    ],
)
def test_durations(text: str, millis: int) -> None:
    assert parse_duration(text) == millis


@pytest.mark.parametrize(
    "text",
    [
        "1day",
        "PT1H",
        "3 minutes and 2 hours",
        "1 day and",
        "1 day2 hours",
        "day",
        "1 days-2 hours",
        "1 hourly",
    ],
)
def test_what_is_no_duration(text: str) -> None:
    assert kind(f"Util.timeoutForDateIntDeadline(20190101, '{text}');") is Kind.ILLEGAL_ARGUMENT
