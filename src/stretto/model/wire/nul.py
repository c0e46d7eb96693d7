"""NUL characters in texts. Databases refuse them in JSON, so a stored record shows them instead."""

from typing import Any, Final

from stretto.model.wire.convert import to_json

SHOWN: Final = "[NULL]"
_ESCAPED: Final = b"\\u0000"


def without_nul(value: Any) -> Any:
    """The JSON value with `[NULL]` in place of each NUL, in keys too."""
    if isinstance(value, str):
        return value.replace("\0", SHOWN)
    if isinstance(value, dict):
        return {without_nul(key): without_nul(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_nul(item) for item in value]
    return value


def to_stored_json(value: Any) -> bytes:
    """JSON text that every database takes. The value is walked only if a NUL may be in it."""
    text = to_json(value)
    return to_json(without_nul(value)) if _ESCAPED in text else text
