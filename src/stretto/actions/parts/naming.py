"""Names that a request brings along, checked as those in definitions are."""

from collections.abc import Iterable
from typing import Final

import msgspec

from stretto.definition.limits import Limits
from stretto.definition.rules.names import LABEL, PREFIX, REFERENCE_ID, SEPARATOR, SUFFIX
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


def check_reference(text: str, what: str, most: int) -> None:
    """The same for names that follow the rule of a step's id."""
    if not REFERENCE_ID.fullmatch(text) or SEPARATOR in text or text.lower().startswith(PREFIX):
        hint = f"letters, digits, `_`, `-` and `.`, but not `{SEPARATOR}`, nor `{PREFIX}` at the beginning"
        raise InvalidRequest(f"[{text[:40]}] can not be {what}", hint=hint)
    if len(text) > most:
        raise InvalidRequest(f"[{text[:40]}...] can not be {what}: at most {most} characters")


def check_extra(names: Iterable[str], record: type[msgspec.Struct]) -> None:
    """What a request brings beside its own fields must not replace one of the record that it goes into."""
    taken = sorted({field.name for field in msgspec.structs.fields(record)} & set(names) - {"extra"})
    if taken:
        raise InvalidRequest(
            f"[{', '.join(taken)}] can not be given: the system sets it", hint="leave it out"
        )
