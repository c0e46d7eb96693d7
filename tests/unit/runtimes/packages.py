"""Packages that are installed for one test: a module, and what an installer writes beside it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import pytest

RUNTIME = """
from stretto.ports.runtime import Continue, Done, Injected, Stopped

class {name}:
    outside = False

    def params(self, step):
        return Injected()

    async def start(self, ctx):
        return Done()

    async def execute(self, ctx):
        return Done()

    async def terminate(self, ctx):
        return Stopped()
"""


def runtime(name: str = "Runtime") -> str:
    """The text of a module with a runtime that does nothing."""
    return RUNTIME.format(name=name)


def install(
    folder: Path, package: str, entry_points: dict[str, str], modules: dict[str, str], version: str = "1.0"
) -> None:
    """Put a package into a folder that is on the path, or will be."""
    facts = folder / f"{package.replace('-', '_')}-{version}.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    lines = "".join(f"{name} = {value}\n" for name, value in entry_points.items())
    (facts / "entry_points.txt").write_text(f"[stretto.runtimes]\n{lines}")
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(dedent(text))


@contextmanager
def on_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose packages are installed; what is imported from it is forgotten at the end."""
    folder.mkdir(exist_ok=True)
    monkeypatch.syspath_prepend(str(folder))
    try:
        yield folder
    finally:
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]
