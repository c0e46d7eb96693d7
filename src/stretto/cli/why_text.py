"""Why a step waits, in a line."""

from stretto.cli.address import readable
from stretto.cli.style import clock_time
from stretto.engine.why import Reason, Why


def why_text(found: Why) -> str:
    """All reasons."""
    return "; ".join(map(reason_text, found.reasons))


def reason_text(reason: Reason) -> str:
    """A reason, with times and runs as people write them."""
    text = reason.text
    if reason.until is not None:
        text = text.replace(str(reason.until), clock_time(reason.until))
    return readable(text)
