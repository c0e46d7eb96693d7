"""The delay of a fuzzy trigger: spread over workflows, and the same each time for one of them."""

from datetime import timedelta
from hashlib import sha256


def fuzzy_delay(trigger: str, workflow_id: str, most: timedelta) -> timedelta:
    """Whole seconds from 0 up to, but not including, `most`, drawn from the trigger's text and the workflow."""
    seconds = most // timedelta(seconds=1)
    if seconds <= 0:
        return timedelta()
    seed = sha256(f"{workflow_id}\0{trigger}".encode()).digest()
    return timedelta(seconds=int.from_bytes(seed[:8]) % seconds)
