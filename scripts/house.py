"""How large the house is: modules, lines, names that mean two things, modules with one importer, the port.

    python -m scripts.house            of this checkout
    python -m scripts.house ../before  of another one, beside it

It judges nothing. Docstrings and comments count as lines; generated SQL does not.
"""

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
PACKAGE: Final = "stretto"
FRAGMENT: Final = 30  # lines: a shorter module is counted by itself


class Module(NamedTuple):
    name: str
    package: str  # the part of the house that it is in
    lines: int
    tree: ast.Module

    @property
    def classes(self) -> Iterator[ast.ClassDef]:
        """Those that others could import."""
        return (node for node in self.tree.body if isinstance(node, ast.ClassDef) and node.name[0] != "_")


class House(NamedTuple):
    """What is counted of one checkout."""

    figures: Mapping[str, int]
    lines: Mapping[str, int]  # by package
    doubles: Mapping[str, list[str]]  # class name -> the modules that define it


def main() -> None:
    houses = [measure(ROOT), *(measure(Path(each)) for each in sys.argv[1:])]
    here = houses[0]
    for name in here.figures:
        print(f"{name:<44}" + "".join(f"{each.figures[name]:>10,}" for each in houses))
    print()
    for package in sorted(set().union(*(each.lines for each in houses))):
        print(f"lines of {package:<35}" + "".join(f"{each.lines.get(package, 0):>10,}" for each in houses))
    print()
    for name, modules in sorted(here.doubles.items()):
        print(f"{name:<24}{', '.join(modules)}")


def measure(root: Path) -> House:
    modules = {each.name: each for each in modules_of(root / "src")}
    importers = importers_of(modules)
    doubles: defaultdict[str, list[str]] = defaultdict(list)
    for module in modules.values():
        for each in module.classes:
            doubles[each.name].append(module.name)
    real = [each for each in modules.values() if each.tree.body[1:]]  # more than a docstring
    lines: Counter[str] = Counter()
    for module in modules.values():
        lines[module.package] += module.lines
    figures = {
        "modules": len(modules),
        "lines": sum(lines.values()),
        f"modules of fewer than {FRAGMENT} lines": sum(each.lines < FRAGMENT for each in real),
        "modules with one importer": sum(len(importers[each.name]) == 1 for each in real),
        "modules with one importer in their folder": sum(
            _folders(importers[each.name]) == {_folder(each.name)} and len(importers[each.name]) == 1
            for each in real
        ),
        "modules that nobody imports": sum(not importers[each.name] for each in real),
        "class names that mean two things": sum(len(found) > 1 for found in doubles.values()),
        "methods of the store": len(set(store_methods(modules))),
        "import lines": sum(
            isinstance(node, ast.Import | ast.ImportFrom)
            for module in modules.values()
            for node in ast.walk(module.tree)
        ),
    }
    return House(figures, lines, {name: found for name, found in doubles.items() if len(found) > 1})


def modules_of(source: Path) -> Iterator[Module]:
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        yield Module(name, parts[1], len(text.splitlines()), ast.parse(text))


def importers_of(modules: Mapping[str, Module]) -> defaultdict[str, set[str]]:
    """Who imports each module, or something from it."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for module in modules.values():
        for node in ast.walk(module.tree):
            for name in _imported(node, modules):
                found[name].add(module.name)
    return found


def _imported(node: ast.AST, modules: Mapping[str, Module]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (each.name for each in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module is not None:
        for each in node.names:
            inner = f"{node.module}.{each.name}"
            yield inner if inner in modules else node.module


def store_methods(modules: Mapping[str, Module]) -> Iterator[str]:
    """The methods of the protocols that the store joins."""
    protocols = {
        each.name: each
        for module in modules.values()
        if module.name.startswith(f"{PACKAGE}.ports.")
        for each in module.classes
    }

    def methods(name: str) -> Iterator[str]:
        for node in protocols[name].body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.name
        for base in protocols[name].bases:
            if isinstance(base, ast.Name) and base.id in protocols:
                yield from methods(base.id)

    return methods("Store")


def _folder(name: str) -> str:
    return name.rpartition(".")[0]


def _folders(names: set[str]) -> set[str]:
    return {_folder(each) for each in names}


if __name__ == "__main__":
    main()
