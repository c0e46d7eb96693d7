"""NUL characters of stored texts."""

import pytest

from stretto.model.wire.nul import to_stored_json, without_nul


def test_a_nul_is_shown_everywhere() -> None:
    value = {"a\0": ["x\0y", 1, None, {"b": "\0"}], "c": "clean"}
    assert without_nul(value) == {"a[NULL]": ["x[NULL]y", 1, None, {"b": "[NULL]"}], "c": "clean"}


@pytest.mark.parametrize(
    ("text", "stored"),
    [("a\0b", b'"a[NULL]b"'), ("clean", b'"clean"'), ("\\u0000", b'"\\\\u0000"'), ("\\\0", b'"\\\\[NULL]"')],
)
def test_stored_json_has_no_nul_and_is_else_unchanged(text: str, stored: bytes) -> None:
    """Text that only looks like an escaped NUL is left alone."""
    assert to_stored_json(text) == stored
