"""DateTime, its zones, properties and days."""

from typing import Any

import pytest
from tests.unit.sel.evaluation import failure, kind, run, shown

from stretto.sel import Kind

LA = "DateTimeZone.forID('America/Los_Angeles')"


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("new DateTime();", "2019-09-20T22:20:00.123Z"),
        ("new DateTime(null);", "2019-09-20T22:20:00.123Z"),
        ("DateTime d; new DateTime(d);", "2019-09-20T22:20:00.123Z"),
        (f"new DateTime(0, {LA});", "1969-12-31T16:00:00.000-08:00"),
        ("new DateTime(new DateTime(5));", "1970-01-01T00:00:00.005Z"),
        ("new DateTime(2005, 3, 26, 12, 1, 2, 3, DateTimeZone.UTC);", "2005-03-26T12:01:02.003Z"),
        ("new DateTime('2019');", "2019-01-01T00:00:00.000Z"),
        ("new DateTime('2019-1-5');", "2019-01-05T00:00:00.000Z"),
        ("new DateTime('2019-050');", "2019-02-19T00:00:00.000Z"),
        ("new DateTime('2019-W05-2');", "2019-01-29T00:00:00.000Z"),
        ("new DateTime('2019-W05');", "2019-01-28T00:00:00.000Z"),
        ("new DateTime('20190101');", "20190101-01-01T00:00:00.000Z"),
        ("new DateTime('-0044-03-15');", "-0044-03-15T00:00:00.000Z"),
        ("new DateTime('T10:20');", "1970-01-01T10:20:00.000Z"),
        ("new DateTime('2019-01-01T');", "2019-01-01T00:00:00.000Z"),
        ("new DateTime('2019-01-01T10.5');", "2019-01-01T10:30:00.000Z"),
        ("new DateTime('2019-01-01T10:20.25');", "2019-01-01T10:20:15.000Z"),
        ("new DateTime('2019-01-01T10:20:30,1234');", "2019-01-01T10:20:30.123Z"),
        ("new DateTime('2019-01-01T10:20:30Z');", "2019-01-01T10:20:30.000Z"),
        ("new DateTime('2019-01-01T10:20:30+0200');", "2019-01-01T08:20:30.000Z"),
        (f"new DateTime('2019-01-01', {LA});", "2019-01-01T00:00:00.000-08:00"),
        (f"new DateTime('1800-01-01', {LA});", "1800-01-01T00:00:00.000-07:52:58"),
        ("new DateTime('2020-01-31').plusMonths(1);", "2020-02-29T00:00:00.000Z"),
        ("new DateTime('2020-02-29').plusYears(1);", "2021-02-28T00:00:00.000Z"),
        ("new DateTime('2019-03-31').minusMonths(1);", "2019-02-28T00:00:00.000Z"),
        ("new DateTime(0).plusWeeks(1).minusDays(1).plusHours(1);", "1970-01-07T01:00:00.000Z"),
        ("new DateTime(0).plusMinutes(1).minusSeconds(1).plusMillis(1);", "1970-01-01T00:00:59.001Z"),
        ("new DateTime(0).withYear(1);", "0001-01-01T00:00:00.000Z"),
        ("new DateTime('2020-12-31').withWeekyear(2021);", "2021-12-30T00:00:00.000Z"),
        ("new DateTime('2019-06-15').withDayOfYear(32).withDayOfWeek(1);", "2019-01-28T00:00:00.000Z"),
        ("new DateTime('2019-03-31').withMonthOfYear(2);", "2019-02-28T00:00:00.000Z"),
        ("new DateTime(0).withMillisOfDay(3600001);", "1970-01-01T01:00:00.001Z"),
        ("new DateTime(0).withWeekOfWeekyear(3);", "1970-01-15T00:00:00.000Z"),
        ("new DateTime('2019-01-05T12:34').withTimeAtStartOfDay();", "2019-01-05T00:00:00.000Z"),
        ("new DateTime('2020-02-10').dayOfMonth().withMaximumValue();", "2020-02-29T00:00:00.000Z"),
        ("new DateTime('2020-02-10').dayOfYear().withMaximumValue();", "2020-12-31T00:00:00.000Z"),
        ("new DateTime('2020-02-10').weekOfWeekyear().withMaximumValue();", "2020-12-28T00:00:00.000Z"),
        ("new DateTime('2020-02-10T11:12').hourOfDay().withMinimumValue();", "2020-02-10T00:12:00.000Z"),
        ("new DateTime(0).monthOfYear().getAsText();", "January"),
        ("new DateTime(0).dayOfWeek().getAsText();", "Thursday"),
        ("new DateTime(0).weekyear().getAsText();", "1970"),
        ("new DateTime(0).secondOfDay();", "Property[secondOfDay]"),
        ("Days.daysBetween(new DateTime('2019-01-01'), new DateTime('2019-02-01'));", "P31D"),
        ("Days.daysBetween(new DateTime(86399999), new DateTime(0)).getDays();", "0"),
        ("Days.daysBetween(new DateTime(0), new DateTime(-86400001)).getDays();", "-1"),
        ("DateTimeZone.forID('Asia/Calcutta');", "Asia/Kolkata"),
        ("DateTimeZone.forID('US/Pacific');", "America/Los_Angeles"),
        ("DateTimeZone.forID('Europe/Amsterdam');", "Europe/Amsterdam"),
        ("DateTimeZone.forID('GMT');", "Etc/GMT"),
        ("DateTimeZone.forID('EST');", "EST"),
        ("DateTimeZone.forID('UTC');", "UTC"),
        ("DateTimeZone.forID('+0200');", "+02:00"),
        ("DateTimeZone.forID('-08');", "-08:00"),
        ("DateTimeZone.forID('+01:02:03.004');", "+01:02:03.004"),
        ("DateTimeZone.forID('-00:00');", "UTC"),
        ("String s; DateTimeZone.forID(s);", "UTC"),
        ("DateTimeZone.UTC.UTC.forID('Asia/Tokyo').getOffset(new DateTime(0));", "32400000"),
        ("DateTime.parse('20190102', DateTimeFormat.forPattern('yyyyMMdd'));", "2019-01-02T00:00:00.000Z"),
    ],
)
def test_text(script: str, text: str) -> None:
    assert shown(script) == text


def test_every_getter() -> None:
    getters = (
        "Millis Year HourOfDay WeekOfWeekyear Weekyear DayOfWeek DayOfMonth DayOfYear MillisOfDay "
        "MillisOfSecond MinuteOfDay MinuteOfHour SecondOfMinute MonthOfYear SecondOfDay"
    )
    values = [run(f"new DateTime('2021-01-03T04:05:06.007').get{name}();") for name in getters.split()]
    assert values == [1609646706007, 2021, 4, 53, 2020, 7, 3, 3, 14706007, 7, 245, 5, 6, 1, 14706]


def test_comparisons() -> None:
    assert run("new DateTime(0).isBefore(new DateTime(1));") is True
    assert run("new DateTime(0).isAfter(new DateTime(1));") is False
    assert run("new DateTime(0).isEqual(new DateTime(0));") is True
    assert run("new DateTime(0).isBefore(null);") is True


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("'2019-03-09T02:30:00', Z).plusDays(1)", "2019-03-10T03:30:00.000-07:00"),
        ("'2019-03-11T02:30:00', Z).withDayOfMonth(10)", "2019-03-10T03:30:00.000-07:00"),
        ("'2019-03-10T01:30:00', Z).plusHours(1)", "2019-03-10T03:30:00.000-07:00"),
        ("'2019-11-03T00:30:00', Z).plusHours(2)", "2019-11-03T01:30:00.000-08:00"),
        ("'2019-11-03T01:30:00', Z)", "2019-11-03T01:30:00.000-07:00"),
        ("'2019-11-03T01:30:00-08:00', Z).withMinuteOfHour(0)", "2019-11-03T01:00:00.000-08:00"),
        ("'2019-11-04T01:30:00', Z).minusDays(1)", "2019-11-03T01:30:00.000-07:00"),
        (
            "'2018-11-04T12:00:00', DateTimeZone.forID('America/Sao_Paulo')).withTimeAtStartOfDay()",
            "2018-11-04T01:00:00.000-02:00",
        ),
        ("'+12019-07-01T00:00:00', Z)", "12019-07-01T00:00:00.000-07:00"),
        ("'-12019-07-01T00:00:00', Z)", "-12019-07-01T00:00:00.000-07:52:58"),
    ],
)
def test_clocks_that_change(script: str, text: str) -> None:
    assert shown(f"new DateTime({script.replace('Z)', LA + ')')};") == text


@pytest.mark.parametrize(
    "script",
    [
        f"new DateTime(2019, 3, 10, 2, 30, 0, 0, {LA});",
        f"new DateTime('2019-03-10T02:30:00', {LA});",
        f"new DateTime('2019-03-10T12:00:00', {LA}).withHourOfDay(2);",
        "new DateTime('garbage');",
        "new DateTime('');",
        "new DateTime('T');",
        "new DateTime('2019-01-01 10:20');",
        "new DateTime('2019-01-01T10:20x');",
        "new DateTime('2019-01-01T24:00');",
        "new DateTime('2019-02-29');",
        "new DateTime('2019-01-01T10+25:00');",
        "new DateTime(1.5);",
        "new DateTime(true);",
        "new DateTime(2005, 3, 26, 12, 0);",
        "new DateTime(2005, 13, 26, 12, 0, 0, 0, DateTimeZone.UTC);",
        "new DateTime(300000000, 1, 1, 0, 0, 0, 0, DateTimeZone.UTC);",
        "new DateTime(0).withMonthOfYear(13);",
        "new DateTime(0).plusDays('1');",
        "new DateTime(0).plusDays(null);",
        "new DateTime(0).plusDays(3000000000);",
        "new DateTime(0).plusYears(400000000);",
        "new DateTime(9223372036854775807).plusDays(1);",
        "new DateTime(0).isBefore(5);",
        "new DateTime(0).toString('bad pattern');",
        "new DateTime(0).toString('');",
        "DateTime d; d.getYear();",
        "new DateTime(0).parse('x', DateTimeFormat.forPattern('yyyy'));",
        "DateTimeZone.forID('PST');",
        "DateTimeZone.forID('utc');",
        "DateTimeZone.forID('-8');",
        "DateTimeZone.forID('../../etc/passwd');",
        "DateTimeZone.forID('America/los_angeles');",
    ],
)
def test_what_is_no_moment(script: str) -> None:
    assert kind(script) is Kind.ILLEGAL_ARGUMENT


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("new DateTime(2005, 3, 26, 12, 0, 0, 'x', DateTimeZone.UTC);", Kind.CLASS_CAST),
        ("new DateTime(0, 'UTC');", Kind.CLASS_CAST),
        ("DateTimeZone.forID(1);", Kind.CLASS_CAST),
        ("DateTimeZone.UTC.getOffset(0);", Kind.CLASS_CAST),
        ("DateTimeZone z; z.getOffset(new DateTime(0));", Kind.NULL_POINTER),
        ("DateTimeZone.PST;", Kind.UNSUPPORTED),
        ("DateTime.now();", Kind.UNSUPPORTED),
        ("new DateTime(0).compareTo(new DateTime(1));", Kind.UNSUPPORTED),
        ("new DateTime(0).dayOfWeek().getAsShortText();", Kind.UNSUPPORTED),
        ("Property p; p.get();", Kind.NULL_POINTER),
        ("Days.daysBetween(1, 2);", Kind.CLASS_CAST),
        ("Days d; d.getDays();", Kind.NULL_POINTER),
        ("Days.daysBetween(new DateTime(-9000000000000000000), new DateTime(0));", Kind.ARITHMETIC),
        ("Hours.hoursBetween(1, 2);", Kind.UNSUPPORTED),
    ],
)
def test_what_does_not_exist_or_fails(script: str, expected: Any) -> None:
    assert kind(script) is expected


def test_a_moment_in_messages() -> None:
    assert repr(run("new DateTime(0);")) == "DateTime(1970-01-01T00:00:00.000Z)"
    assert repr(run("DateTimeZone.UTC;")) == "Zone(UTC)"
    assert "DATETIME 1970" in failure("new Map(new DateTime(0));").message
