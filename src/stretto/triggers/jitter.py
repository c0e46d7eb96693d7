"""The delay of a fuzzy trigger: spread over workflows, and the same each time for one of them."""

from datetime import timedelta
from hashlib import sha256


def fuzzy_delay(trigger: str, workflow_id: str, most: timedelta) -> timedelta:
    """Whole seconds below `most`, drawn from the text of the trigger and the id of its workflow."""
    seconds = most // timedelta(seconds=1)
    if seconds <= 0:
        return timedelta()
    seed = sha256(f"{workflow_id}\0{trigger}".encode()).digest()
    return timedelta(seconds=int.from_bytes(seed[:8]) % seconds)
