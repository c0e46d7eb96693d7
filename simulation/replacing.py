"""Names of the shipped code that a simulation replaces while it runs, wherever they were imported to."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any


def homes_of(name: str, value: object) -> list[ModuleType]:
    """The modules of the product in which a name means this value."""
    modules = [module for path, module in list(sys.modules.items()) if path.startswith("stretto.")]
    return [module for module in modules if getattr(module, name, None) is value]


@contextmanager
def replaced(homes: list[ModuleType], name: str, value: Any) -> Iterator[None]:
    """A name means something else in these modules for a while."""
    before = [getattr(module, name) for module in homes]
    for module in homes:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, old in zip(homes, before, strict=True):
            setattr(module, name, old)
