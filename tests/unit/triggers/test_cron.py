"""What a cron text is read as, and what is said about a wrong one."""

import pytest

from stretto.triggers import Cron, CronError, parse_cron, parse_predefined
from stretto.triggers.days import (
    EVERY_DAY,
    BeforeLast,
    LastWeekday,
    NearestWorkday,
    NthWeekday,
    OnDays,
    OnWeekdays,
)

MON, TUE, WED, THU, FRI, SAT, SUN = range(7)


@pytest.mark.parametrize(
    ("field", "minutes"),
    [
        ("7", (7,)),
        ("*", tuple(range(60))),
        ("*/20", (0, 20, 40)),
        ("/20", (0, 20, 40)),
        ("50/3", (50, 53, 56, 59)),
        ("10-13", (10, 11, 12, 13)),
        ("10-20/5", (10, 15, 20)),
        ("30,5,5-7", (5, 6, 7, 30)),
        ("*/60", (0,)),
        ("007", (7,)),
    ],
)
def test_numbers(field: str, minutes: tuple[int, ...]) -> None:
    assert parse_cron(f"{field} * * * *").minutes == minutes


def test_a_unix_cron_fires_at_second_0_in_every_year() -> None:
    cron = parse_cron(" 5  4 * *\t* ")
    assert (cron.seconds, cron.minutes, cron.hours) == ((0,), (5,), (4,))
    assert cron.days == (EVERY_DAY,)
    assert (cron.years[0], cron.years[-1], len(cron.years)) == (1970, 2099, 130)


def test_a_quartz_cron_has_seconds_and_may_have_years() -> None:
    cron = parse_cron("15 30 2 7 5 ? 2021/39")
    assert (cron.seconds, cron.minutes, cron.hours) == ((15,), (30,), (2,))
    assert (cron.days, cron.months, cron.years) == ((OnDays((7,)),), (5,), (2021, 2060, 2099))
    assert parse_cron("15 30 2 7 5 ?").years == parse_cron("* * * * *").years


@pytest.mark.parametrize(
    ("field", "hours"),
    [("22-2", (0, 1, 2, 22, 23)), ("22-4/3", (1, 4, 22)), ("5-5", (5,))],
)
def test_a_quartz_range_runs_over_the_end(field: str, hours: tuple[int, ...]) -> None:
    assert parse_cron(f"0 0 {field} * * ?").hours == hours


def test_months_have_names_in_any_case() -> None:
    assert parse_cron("0 0 1 jan,Jun-AUG *").months == (1, 6, 7, 8)
    assert parse_cron("0 0 0 1 NOV-FEB ?").months == (1, 2, 11, 12)


@pytest.mark.parametrize(
    ("unix", "quartz", "weekdays"),
    [
        ("0", "1", (SUN,)),
        ("7", "1", (SUN,)),
        ("1-5", "2-6", (MON, TUE, WED, THU, FRI)),
        ("mon", "Mon", (MON,)),
        ("FRI-SUN", "FRI-SUN", (FRI, SAT, SUN)),
        ("SUN-TUE", "SUN-TUE", (MON, TUE, SUN)),
        ("5-7", "6-1", (FRI, SAT, SUN)),
        ("*/3", "*/3", (WED, SAT, SUN)),
    ],
)
def test_a_unix_week_begins_with_0_and_a_quartz_week_with_1(
    unix: str, quartz: str, weekdays: tuple[int, ...]
) -> None:
    assert parse_cron(f"0 0 * * {unix}").days == (OnWeekdays(weekdays),)
    assert parse_cron(f"0 0 0 ? * {quartz}").days == (OnWeekdays(weekdays),)


@pytest.mark.parametrize(
    ("field", "rules"),
    [
        ("L", (BeforeLast(0),)),
        ("l-3", (BeforeLast(3),)),
        ("LW", (NearestWorkday(None),)),
        ("15w", (NearestWorkday(15),)),
        ("1,15", (OnDays((1, 15)),)),
        ("L,1,15W,2", (OnDays((1, 2)), BeforeLast(0), NearestWorkday(15))),
        ("*", (EVERY_DAY,)),
        ("1/1", (EVERY_DAY,)),
    ],
)
def test_marks_of_the_day_of_month(field: str, rules: tuple[object, ...]) -> None:
    assert parse_cron(f"0 0 0 {field} * ?").days == rules


@pytest.mark.parametrize(
    ("field", "rules"),
    [
        ("L", (OnWeekdays((SAT,)),)),
        ("6L", (LastWeekday(FRI),)),
        ("friL", (LastWeekday(FRI),)),
        ("6#3", (NthWeekday(FRI, 3),)),
        ("Fri#5,SUN#1", (NthWeekday(FRI, 5), NthWeekday(SUN, 1))),
        ("*", (EVERY_DAY,)),
    ],
)
def test_marks_of_the_day_of_week(field: str, rules: tuple[object, ...]) -> None:
    assert parse_cron(f"0 0 0 ? * {field}").days == rules


def test_a_unix_cron_that_restricts_both_days_keeps_both() -> None:
    assert parse_cron("0 0 13 * FRI").days == (OnDays((13,)), OnWeekdays((FRI,)))
    assert parse_cron("0 0 */1 * FRI").days == (OnWeekdays((FRI,)),)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("@hourly", "0 * * * *"),
        ("Daily", "0 0 * * *"),
        (" @WEEKLY ", "0 0 * * 0"),
        ("monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
    ],
)
def test_predefined_names(name: str, text: str) -> None:
    assert parse_predefined(name) == parse_cron(name) == parse_cron(text)


def test_a_predefined_trigger_takes_no_cron() -> None:
    with pytest.raises(CronError, match="one of @hourly"):
        parse_predefined("0 0 * * *")


@pytest.mark.parametrize(
    ("text", "field", "column", "words"),
    [
        ("", None, 1, "0 fields are neither"),
        ("* * * *", None, 1, "4 fields are neither"),
        ("* * * * * ? * *", None, 1, "8 fields are neither"),
        ("daly", None, 1, "did you mean `@daily`"),
        ("tomorrow", None, 1, "neither a cron nor a predefined name"),
        ("0 30 * * *", "hour", 3, "must be 0-23, not `30` (the minute stands before the hour"),
        ("60 * * * *", "minute", 1, "must be 0-59, not `60`"),
        ("0,5,99 * * * *", "minute", 5, "must be 0-59, not `99`"),
        ("1234567890123 * * * *", "minute", 1, "must be 0-59"),
        ("*/61 * * * *", "minute", 3, "the step must be 1-60, not `61`"),
        ("*/0 * * * *", "minute", 3, "the step must be 1-60, not `0`"),
        ("5/x * * * *", "minute", 3, "the step must be 1-60, not `x`"),
        ("1,,2 * * * *", "minute", 3, "a value is missing"),
        ("1- * * * *", "minute", 1, "`1-` is not understood"),
        ("5-1 * * * *", "minute", 1, "runs backwards (write 1-5, or two ranges)"),
        ("0 0 * * SAT-MON", "day of week", 9, "runs backwards"),
        ("*-5 * * * *", "minute", 1, "no number before the `-`"),
        ("-5 * * * *", "minute", 1, "no number before the `-`"),
        ("٣ * * * *", "minute", 1, "`٣` is not understood"),
        ("0 0 L * *", "day of month", 5, "need the Quartz form"),
        ("0 0 * * 5#3", "day of week", 9, "need the Quartz form"),
        ("0 0 ? * 1", "day of month", 5, "need the Quartz form"),
        ("0 0 1 JANUARY *", "month", 7, "did you mean `JAN`"),
        ("0 0 0 ? * MOM", "day of week", 11, "did you mean `MON`"),
        ("? 0 0 * * ?", "second", 1, "belong in the fields of the day"),
        ("0 0 12 * * *", "day of week", 12, "write `?` in the one"),
        ("0 0 12 ? * ?", "day of week", 12, "write `*` for every day"),
        ("0 0 0 L-31 * ?", "day of month", 9, "must be 0-30, not `31`"),
        ("0 0 0 32W * ?", "day of month", 7, "must be 1-31, not `32`"),
        ("0 0 0 ? * 6#6", "day of week", 13, "must be 1-5, not `6`"),
        ("0 0 0 ? * #2", "day of week", 11, "a value is missing"),
        ("0 0 0 ? * 6#٣", "day of week", 13, "must be 1-5"),
        ("0 0 0 ? * 0", "day of week", 11, "begins with Sunday = 1"),
        ("0 0 0 1 1 ? 2100", "year", 13, "must be 1970-2099"),
        ("0 0 0 1 1 ? 2030-2020", "year", 13, "runs backwards"),
    ],
)
def test_an_error_names_the_field_the_column_and_the_way_out(
    text: str, field: str | None, column: int, words: str
) -> None:
    with pytest.raises(CronError) as caught:
        parse_cron(text)
    error = caught.value
    assert (error.text, error.field, error.column) == (text, field, column)
    assert words in str(error)
    assert error.message in str(error)


def test_a_cron_is_a_value() -> None:
    assert {parse_cron("0 0 * * *"), parse_cron("0 0 * * *")} == {parse_cron("0 0 * * *")}
    assert isinstance(parse_cron("@daily"), Cron)
    assert parse_cron("0 0 * * *").text == "0 0 * * *"
