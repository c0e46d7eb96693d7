"""Functions that a program has, whether it has registered them or not."""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from stretto.flow.workflow import Flow
from stretto.runtimes.python.function import Function
from stretto.runtimes.python.registry import Registry


class ProgramRegistry(Registry):
    """Also finds steps by the place in their name, `module:qualname`, in modules that the program has
    imported. Nothing is imported for it: what a database says is no reason to.
    """

    def get(self, name: str) -> Function | None:
        return super().get(name) or self._placed(name)

    def find(self, name: str) -> Function:
        return self.get(name) or super().find(name)

    def _placed(self, name: str) -> Function | None:
        module, _, qualname = name.partition(":")
        found = function_at(module, qualname, name)
        if found is not None:
            self.register(found)
        return found


def function_at(module: str, qualname: str, name: str) -> Function | None:
    """What stands at a place now, if it is a step of that name."""
    place: Any = _module(module)
    for part in qualname.split("."):
        place = getattr(place, part, None)
    function = getattr(place, "function", None)
    return function if isinstance(function, Function) and function.name == name else None


def _module(name: str) -> ModuleType | None:
    """A module by its name; the program itself is named after its file."""
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    return main if file is not None and Path(file).stem == name else sys.modules.get(name)


def known_in(module: str | ModuleType) -> list[Any]:
    """The steps and workflows that a module has."""
    found = import_module(module) if isinstance(module, str) else module
    return [
        each
        for each in vars(found).values()
        if isinstance(each, Flow) or isinstance(getattr(each, "function", None), Function)
    ]
