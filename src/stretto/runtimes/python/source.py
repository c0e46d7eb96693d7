"""A fingerprint of the code of a function."""

import hashlib
import inspect
import textwrap
from types import CodeType
from typing import Any

_HEADS = ("def ", "async def ", "class ")


def source_hash(call: Any) -> str:
    """Of its text, from the line with its name on; of its byte code if there is no text."""
    try:
        text = _text(inspect.getsource(call))
    except (OSError, TypeError, SyntaxError):
        code = getattr(call, "__code__", None)
        text = "\n".join(_of_code(code)) if code is not None else f"{call!r:.200}".partition(" at 0x")[0]
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _text(source: str) -> str:
    lines = [line.rstrip() for line in textwrap.dedent(source).splitlines()]
    start = next((number for number, line in enumerate(lines) if line.startswith(_HEADS)), 0)
    return "\n".join(lines[start:]).strip()


def _of_code(code: CodeType) -> list[str]:
    parts = [code.co_code.hex(), *code.co_names]
    for const in code.co_consts:
        parts += _of_code(const) if isinstance(const, CodeType) else [repr(const)]
    return parts
