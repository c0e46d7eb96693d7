"""Times as people write them in Python: seconds, `timedelta`, or text such as `5 minutes`."""

from datetime import timedelta
from typing import Final

from stretto.definition.durations import duration_millis
from stretto.flow.errors import TraceError
from stretto.model.retry import Number

Duration = int | float | str | timedelta


DAY: Final = 86_400
MOST: Final = 120 * DAY
SECOND: Final = 1_000  # in milliseconds


def delay(given: Duration | None, what: str) -> Number | None:
    """A time between two tries: whole seconds, up to a day."""
    made = duration(given, what)
    if made is None or (isinstance(made, str) and "$" in made):
        return made
    millis = made * SECOND if isinstance(made, int) else duration_millis(made) or 0
    if millis % SECOND or not SECOND <= millis <= DAY * SECOND:
        raise TraceError(f"`{what}` is {given!r}", "write whole seconds, from 1 to 86,400 (a day)")
    return made


def duration(given: Duration | None, what: str) -> Number | None:
    """A time as definitions keep it: seconds, or text with a finer unit."""
    if given is None:
        return None
    if isinstance(given, str):
        if "$" not in given and duration_millis(given) is None:
            raise TraceError(
                f"`{what}` is `{given}`, which is not a valid duration", "write seconds, or `5 minutes`"
            )
        return given
    seconds: object = given.total_seconds() if isinstance(given, timedelta) else given
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= MOST:
        raise TraceError(
            f"`{what}` is {given!r}, which is not a valid duration",
            "write seconds above 0 and up to 120 days, or `5 minutes`",
        )
    return int(seconds) if seconds == int(seconds) else f"{round(seconds * SECOND)} ms"
