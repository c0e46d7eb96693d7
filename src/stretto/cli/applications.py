"""`--app`: the code of a user, brought to a process that runs steps.

An application is an importable module (`app.flows`), a file (`flows.py`) or a folder. Everything in it that
can be the work of a step is known by its full name, `module:function`, and by its own name alone where only
one function has it. Workflows are known with all their functions and handlers; nothing is published by it.
"""

import dataclasses
import inspect
import pkgutil
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from stretto.cli.files import shown
from stretto.cli.python_files import Unusable, of_file, of_module, with_children
from stretto.flow.workflow import Flow
from stretto.model.errors import StrettoError
from stretto.runtimes.python.function import Function, function_of


class Application:
    """What some modules bring along."""

    def __init__(self, modules: Iterable[ModuleType] = ()) -> None:
        self.flows: dict[str, Flow[..., Any]] = {}
        self._functions: dict[str, Function] = {}
        for module in modules:
            for each in list(vars(module).values()):
                self._add(each, module)

    def add_flows(self, flows: Iterable[Flow[..., Any]]) -> None:
        """Workflows, with those that they run."""
        for flow in flows:
            for each in with_children(flow):
                self.flows[each.id] = each

    def _add(self, each: Any, module: ModuleType) -> None:
        held = getattr(each, "function", None)
        if isinstance(each, Flow):
            self.add_flows([each])
        elif isinstance(held, Function):
            self._functions[held.name] = held
        elif inspect.isfunction(each) and each.__module__ == module.__name__ and each.__name__[0] != "_":
            try:
                function = function_of(each)
            except StrettoError:
                return  # it can not be the work of a step: a generator, or types that can not be stored
            self._functions.setdefault(function.name, function)

    @property
    def functions(self) -> list[Function]:
        """By their full names, and by their own names alone where those are unique."""
        found = dict(self._functions)
        for flow in self.flows.values():
            found.update((each.name, each) for each in flow.functions)
        short = Counter(each.qualname for each in found.values())
        alone = [
            dataclasses.replace(each, name=each.qualname)
            for each in found.values()
            if short[each.qualname] == 1 and each.qualname not in found
        ]
        return [*found.values(), *alone]


def load_apps(names: Iterable[str]) -> Application:
    """Import applications. One that can not be imported ends the command, with exit code 2."""
    modules = [module for name in names for module in _modules(name)]
    try:
        return Application(modules)
    except StrettoError as error:
        raise click.BadParameter(str(error), param_hint="--app") from None


def _modules(name: str) -> list[ModuleType]:
    try:
        return list(_imported(name))
    except Unusable as error:
        place = "" if error.problem.line is None else f":{error.problem.line}"
        hint = f" ({error.problem.hint})" if error.problem.hint else ""
        message = f"`{shown(name)}{place}`: {error.problem.message}{hint}"
        raise click.BadParameter(message, param_hint="--app") from None


def _imported(name: str) -> Iterator[ModuleType]:
    path = Path(name)
    if path.is_dir() and (path / "__init__.py").exists():
        yield from _package(of_module(path.resolve().name, path.resolve().parent))
    elif path.is_dir():
        files = sorted(each for each in path.glob("*.py") if each.name[0] != "_")
        if not files:
            raise Unusable("there is no Python file in this folder")
        for each in files:
            try:
                yield of_file(str(each))
            except Unusable as error:
                found = error.problem
                place = "" if found.line is None else f":{found.line}"
                raise Unusable(f"`{shown(str(each))}{place}`: {found.message}", hint=found.hint) from None
    elif name.endswith(".py"):
        yield of_file(name)
    elif all(each.isidentifier() for each in name.split(".")):
        yield from _package(of_module(name))
    else:
        raise Unusable("this is neither a module nor a file nor a folder")


def _package(module: ModuleType) -> Iterator[ModuleType]:
    """A module; of a package also what is inside, but for what would start a program."""
    yield module
    for each in pkgutil.iter_modules(getattr(module, "__path__", ()), f"{module.__name__}."):
        if not each.name.endswith(".__main__"):
            yield from _package(of_module(each.name))
