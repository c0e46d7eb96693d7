"""Names of tags and signals that a request brings along, checked as those in definitions are."""

from typing import Final

from stretto.definition.limits import Limits
from stretto.definition.rules.names import LABEL, PREFIX, SUFFIX
from stretto.model.errors import InvalidRequest

MOST_CHARACTERS: Final = Limits().name_length


def check_label(text: str, what: str) -> None:
    """Refuse an empty, reserved, too long or strange name."""
    lower = text.lower()
    if not text.strip() or not LABEL.fullmatch(text):
        raise InvalidRequest(f"[{text}] can not be {what}", hint="letters, digits and some punctuation")
    if lower.startswith(PREFIX) or lower.endswith(SUFFIX):
        raise InvalidRequest(f"[{text}] can not be {what}: such names are the system's own")
    if len(text) > MOST_CHARACTERS:
        raise InvalidRequest(f"[{text[:40]}...] can not be {what}: at most {MOST_CHARACTERS} characters")
