"""Where code comes from: a fingerprint of a function, and the name of its module."""

import hashlib
import inspect
import sys
import textwrap
from pathlib import Path
from types import CodeType
from typing import Any, Final

MAIN: Final = "__main__"
MAIN_OF_WORKER: Final = "__mp_main__"  # so that a main file does not start its program in a worker
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


def importable(module: str) -> str:
    """The name under which a module would be imported: that of a program's main file is the name of the file,
    also in a worker process.
    """
    if module not in {MAIN, MAIN_OF_WORKER}:
        return module
    main = sys.modules[MAIN]
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name != MAIN_OF_WORKER:  # python -m package.flows
        return str(spec.name.removesuffix(f".{MAIN}"))
    path = getattr(main, "__file__", None)
    return Path(path).stem if path else MAIN


def arguments_of_program() -> list[str]:
    """`sys.argv` for functions that run in another process. What was given to the command `stretto` is not
    theirs: it may hold the password of a database.
    """
    is_ours = importable(MAIN).partition(".")[0] == "stretto" or Path(sys.argv[0]).stem == "stretto"
    return sys.argv[:1] if is_ours else list(sys.argv)
