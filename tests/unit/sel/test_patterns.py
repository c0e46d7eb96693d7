"""Patterns of dates: printing and reading."""

from typing import Any

import pytest
from tests.unit.sel.evaluation import kind, run, shown

from stretto.sel import Kind
from stretto.sel.dates import zones

MOMENT = "new DateTime(1546344000123, DateTimeZone.forID('America/Los_Angeles'))"


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("yyyy-MM-dd'T'HH:mm:ss.SSS", "2019-01-01T04:00:00.123"),
        ("yy YY xx xxxx w ww e D DDD d", "19 19 19 2019 1 01 2 1 001 1"),
        ("M MM MMM MMMM E EEE EEEE", "1 01 Jan January Tue Tue Tuesday"),
        ("a K h H k kk", "AM 4 4 4 4 04"),
        ("S SS SSSSS", "1 12 12300"),
        ("Z ZZ ZZZ z zzzz", "-0800 -08:00 America/Los_Angeles PST PST"),
        ("G C CC Y yyyyyy", "AD 20 20 2019 002019"),
        ("''yyyy''' o''clock'", "'2019' o'clock"),
        ("'unclosed", "unclosed"),
    ],
)
def test_printing(pattern: str, text: str) -> None:
    assert run(f'{MOMENT}.toString("{pattern}");') == text


def test_printing_far_years_and_fixed_offsets() -> None:
    assert run("new DateTime('-0044-03-15').toString('yyyy Y G C');") == "-0044 45 BC 0"
    assert run("new DateTime(0, DateTimeZone.forID('+05:30')).toString('Z z');") == "+0530 +05:30"
    assert run("new DateTime(43200000).toString('h k a K');") == "12 12 PM 0"
    assert run("new DateTime(0).toString('h k a K');") == "12 24 AM 0"


@pytest.mark.parametrize(
    ("pattern", "text", "moment"),
    [
        ("yyyyMMdd", "20190105", "2019-01-05T00:00:00.000Z"),
        ("yyyyMMdd", "2019115", "2019-11-05T00:00:00.000Z"),
        ("yyyy-MM-dd", "2019-1-5", "2019-01-05T00:00:00.000Z"),
        ("yyyy", "-12019", "-12019-01-01T00:00:00.000Z"),
        ("yyyy", "+2019", "2019-01-01T00:00:00.000Z"),
        ("MMM d yyyy", "jAN 5 2019", "2019-01-05T00:00:00.000Z"),
        ("MMM d yyyy", "September 5 2019", "2019-09-05T00:00:00.000Z"),
        ("EEE yyyy-MM-dd", "Mon 2019-01-05", "2018-12-31T00:00:00.000Z"),
        ("h a yyyy", "12 pm 2019", "2019-01-01T12:00:00.000Z"),
        ("K a", "0 PM", "1970-01-01T12:00:00.000Z"),
        ("k", "24", "1970-01-01T00:00:00.000Z"),
        ("ss.SSSSSS", "01.123456", "1970-01-01T00:00:01.123Z"),
        ("S", "5", "1970-01-01T00:00:00.500Z"),
        ("e w xxxx", "3 5 2020", "2020-01-29T00:00:00.000Z"),
        ("MM-dd", "02-29", "2000-02-29T00:00:00.000Z"),
        ("D yyyy", "50 2019", "2019-02-19T00:00:00.000Z"),
        ("Y G", "44 BC", "-0043-01-01T00:00:00.000Z"),
        ("CC", "19", "1900-01-01T00:00:00.000Z"),
        ("CC", "20", "2000-01-01T00:00:00.000Z"),
        ("yyyy Z", "2019 -0800", "2019-01-01T08:00:00.000Z"),
        ("yyyy ZZ", "2019 +01", "2018-12-31T23:00:00.000Z"),
        ("yyyy Z", "2019 z", "2019-01-01T00:00:00.000Z"),
        ("yyyy ZZZ", "2019 America/Los_Angeles", "2019-01-01T00:00:00.000-08:00"),
        ("yyyy ZZZ'!'", "2019 UTC!", "2019-01-01T00:00:00.000Z"),
        ("yyyy z", "2019 PST", "2019-01-01T00:00:00.000-08:00"),
        ("yyyy z", "2019 UT", "2019-01-01T00:00:00.000Z"),
        ("'Q'yyyy", "q2019", "2019-01-01T00:00:00.000Z"),
        ("yy", "38", "2038-01-01T00:00:00.000Z"),
        ("yy", "39", "1939-01-01T00:00:00.000Z"),
        ("yy", "2050", "2050-01-01T00:00:00.000Z"),
        ("yy", "-5", "-0005-01-01T00:00:00.000Z"),
        ("yyMM", "3802", "2038-02-01T00:00:00.000Z"),
    ],
)
def test_reading(pattern: str, text: str, moment: str) -> None:
    assert shown(f'DateTimeFormat.forPattern("{pattern}").parseDateTime("{text}");') == moment


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("yyyy-MM-dd", "2019-001-05"),
        ("yyyy-MM-dd", "2019-02-30"),
        ("yyyy-MM-dd", "2019-13-01"),
        ("yyyy-MM-dd", "2019-01-01 "),
        ("yyyy-MM-dd", ""),
        ("HHmm", "730"),
        ("YYYY", "-2019"),
        ("MMM", "Foo"),
        ("S", "x"),
        ("yyMM", "x802"),
        ("yyMM", "3"),
        ("Z", "x"),
        ("Z", "+99"),
        ("ZZZ", "Nope/Zone"),
        ("ZZZ", "!"),
        ("z", "XYZ"),
        ("b", "1"),
        ("", ""),
        ("y" * 501, "1"),
    ],
)
def test_what_can_not_be_read(pattern: str, text: str) -> None:
    assert kind(f'DateTimeFormat.forPattern("{pattern}").parseDateTime("{text}");') is Kind.ILLEGAL_ARGUMENT


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("DateTimeFormat.forPattern('yyyy').print(0);", "1970"),
        ("DateTimeFormat.forPattern('HH').print(new DateTime(0, DateTimeZone.forID('+03')));", "03"),
        ("DateTimeFormat.forPattern('HH').withZone(DateTimeZone.forID('+03')).print(0);", "03"),
        ("DateTimeFormatter.forPattern('yyyy').forPattern('MM').parseMillis('2');", "949363200000"),
        ("DateTimeFormat.forPattern('yyyy').parseDateTime(2019).getYear();", "2019"),
        ("DateTimeFormat.forPattern('HH').withZone(DateTimeZone.forID('+03')).parseMillis('03');", "0"),
        ("DateTimeFormat.forPattern('yyyy');", "DATETIME_FORMATTER"),
    ],
)
def test_formatters(script: str, text: str) -> None:
    assert shown(script) == text


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("DateTimeFormat.forPattern(1);", Kind.CLASS_CAST),
        ("DateTimeFormat.forPattern('y').withZone(null);", Kind.CLASS_CAST),
        ("DateTimeFormat.forPattern('y').parseDateTime(1.5);", Kind.CLASS_CAST),
        ("DateTimeFormat.forPattern('y').parseMillis(1);", Kind.CLASS_CAST),
        ("DateTimeFormat.forPattern('y').print('x');", Kind.CLASS_CAST),
        ("DateTimeFormat.print(0);", Kind.NULL_POINTER),
    ],
)
def test_formatters_check_their_arguments(script: str, expected: Any) -> None:
    assert kind(script) is expected


def test_the_gap_of_a_zone_ends_at_its_change() -> None:
    berlin = zones.zone("Europe/Berlin")
    gap = 1_553_999_400_000  # 2019-03-31T02:30 on the wall
    assert berlin.is_gap(gap)
    assert berlin.gap_end(gap) == 1_553_994_000_000  # 01:00 UTC
    assert not zones.UTC.is_gap(gap)
