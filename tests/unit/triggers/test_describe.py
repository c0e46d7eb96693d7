import pytest

from stretto.triggers import describe, parse_cron


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("0 12 * * *", "at 12:00 every day"),
        ("30 15 10 * * ?", "at 10:15:30 every day"),
        ("5,15 2,3 * * *", "at 02:05, 02:15, 03:05 and 03:15 every day"),
        ("* * * * *", "every minute"),
        ("*/5 * * * *", "every 5 minutes"),
        ("0 * * * *", "every hour"),
        ("0 */6 * * MON-FRI", "at 00:00, 06:00, 12:00 and 18:00 on Monday to Friday"),
        ("0 */2 * * *", "every 2 hours"),
        ("0 1/5 * * *", "at hour 1, 6, 11, 16 and 21 every day"),
        ("5,35 * * * *", "at minute 5 and 35 of every hour"),
        ("*/7 9 * * *", "at minute 0, 7, 14, 21, 28, 35, 42, 49 and 56 of hour 9 every day"),
        ("*/5 9-17 * * 1-5", "every 5 minutes of hour 9 to 17 on Monday to Friday"),
        ("*/10 * * * * ?", "every 10 seconds"),
        ("5 * * * * ?", "at second 5 of every minute"),
        ("* 0 * * * ?", "every second of minute 0 of every hour"),
        ("0 0 1,15 * MON", "at 00:00 on day 1 and 15 of the month or on Monday"),
        ("0 0 0 L * ?", "at 00:00 on the last day of the month"),
        ("0 0 0 L-1 * ?", "at 00:00 1 day before the last day of the month"),
        ("0 0 0 L-3 * ?", "at 00:00 3 days before the last day of the month"),
        ("0 0 0 LW * ?", "at 00:00 on the last workday of the month"),
        (
            "0 0 0 15W JAN,MAR-MAY ? 2025",
            "at 00:00 on the workday nearest to day 15 of the month in January and March to May in 2025",
        ),
        ("0 0 0 ? * FRI#3", "at 00:00 on the third Friday of the month"),
        ("0 0 0 ? * 6L", "at 00:00 on the last Friday of the month"),
    ],
)
def test_a_cron_in_words(text: str, phrase: str) -> None:
    assert describe(parse_cron(text)) == phrase
