"""Names of tags and signals that a request brings along, checked as those in definitions are."""

from stretto.definition.limits import Limits
from stretto.definition.rules.names import LABEL, PREFIX, SUFFIX
from stretto.model.errors import InvalidRequest


def check_label(text: str, what: str, limits: Limits = Limits()) -> None:  # noqa: B008 - frozen
    """Refuse an empty, reserved, too long or strange name."""
    lower = text.lower()
    if not text.strip() or not LABEL.fullmatch(text):
        raise InvalidRequest(f"[{text}] can not be {what}", hint="letters, digits and some punctuation")
    if lower.startswith(PREFIX) or lower.endswith(SUFFIX):
        raise InvalidRequest(f"[{text}] can not be {what}: such names are the system's own")
    if len(text) > limits.name_length:
        raise InvalidRequest(f"[{text[:40]}...] can not be {what}: at most {limits.name_length} characters")
