"""Times that a reader looks back on: `24h`, `7 days`."""

from typing import Final

from stretto.definition.durations import duration_millis
from stretto.model.errors import InvalidRequest

HOUR: Final = 3_600_000  # milliseconds
DAY: Final = 24 * HOUR
LONGEST: Final = 31 * DAY


def window_in(text: str | None) -> int:
    """Milliseconds; a day, where nobody says how long."""
    if text is None:
        return DAY
    window = duration_millis(text) if text[:1].isdigit() else None
    if window is None or not HOUR <= window <= LONGEST:
        raise InvalidRequest(f"Invalid window [{text[:80]}]", hint="write 1h to 31d, such as 24h")
    return window
