"""The command line of the published Maestro client, as its own entry point would run it.

It says that it works with Python 3.10 and newer, but one line of it (quotes inside of quotes, in `watch`) is
read by Python 3.12 and newer only. Older ones get that module with other quotes; the rest is run as it was
published.
"""

import importlib
import importlib.util
import sys
from pathlib import Path

WATCH = "maestro.client.watch"
PUBLISHED, READABLE = '.strftime("%H:%M:%S")', ".strftime('%H:%M:%S')"


def make_watch_readable() -> None:
    spec = importlib.util.find_spec(WATCH)
    assert spec is not None
    assert spec.origin is not None
    text = Path(spec.origin).read_text(encoding="utf-8")
    assert PUBLISHED in text
    module = importlib.util.module_from_spec(spec)
    exec(compile(text.replace(PUBLISHED, READABLE), spec.origin, "exec"), module.__dict__)  # noqa: S102
    sys.modules[WATCH] = module


if __name__ == "__main__":
    if sys.version_info < (3, 12):
        make_watch_readable()
    importlib.import_module("maestro.cli.cli").cli()
