"""Workflows in Python files and modules, for the command line."""

import importlib
import importlib.util
import inspect
import json
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import click
import msgspec

from stretto.cli.definitions import PYTHON
from stretto.cli.import_path import add_path
from stretto.definition import Checked, validate
from stretto.definition.doubts.warn import warn
from stretto.definition.parse import Options
from stretto.flow.errors import TraceError
from stretto.flow.places import Place
from stretto.flow.workflow import Flow
from stretto.model.errors import InvalidRequest, StrettoError
from stretto.model.param import Params
from stretto.model.problem import Code, Problem
from stretto.model.suggest import did_you_mean
from stretto.model.workflow import Definition
from stretto.params.text import read_value


class Flows(NamedTuple):
    """The workflows that a name stands for, the chosen one first; or what keeps us from reading them."""

    flows: Sequence[Flow[..., Any]]
    problem: Problem | None = None


@lru_cache
def flows_of(name: str) -> Flows:
    """Import the file or module that a name stands for, once, and take its workflows."""
    found = PYTHON.fullmatch(name)
    assert found is not None  # noqa: S101 - or nobody would ask here
    try:
        module = of_file(found["file"]) if found["file"] else of_module(found["module"])
    except Unusable as error:
        return Flows((), error.problem)
    known = _known_in(module)
    wanted = found["flow"] or found["name"]
    if wanted is None:
        return Flows(known) if known else Flows((), _none_in(module, name))
    by_name = {**{flow.id: flow for flow in known}, **_by_variable(module)}
    chosen = by_name.get(wanted)
    if chosen is None:
        hint = did_you_mean(wanted, by_name) or (f"it has {', '.join(by_name)}" if by_name else None)
        message = f"there is no workflow `{wanted}` in it"
        return Flows((), Problem(code=Code.UNKNOWN_VALUE, path="", message=message, hint=hint))
    return Flows((chosen, *(each for each in known if each is not chosen)))


def checked_flows(name: str, options: Options) -> Checked:
    """The definitions of the workflows that a name stands for: of one that is chosen with those that it runs,
    of a whole file all.
    """
    flows, problem = flows_of(name)
    if problem is not None:
        return Checked((), (problem,))
    if ":" in name:
        flows = flows[:1]
    problems: list[Problem] = []
    warnings: list[Problem] = []
    definitions: dict[str, Definition] = {}
    for flow in flows:
        try:
            for each in with_children(flow):
                if definitions.get(each.id) is each.definition:
                    continue  # of two that run each other's, once
                definitions[each.id] = each.definition
                wrong = validate(each.definition, options.limits, first_version=options.first_version)
                problems += (_placed(problem, each, name) for problem in wrong)
                if options.warnings and not wrong:
                    doubts = warn(each.definition, options.limits, options.templates.keys(), options.given)
                    warnings += (_placed(doubt, each, name) for doubt in doubts)
        except StrettoError as error:
            problems.append(_problem_of(error, name))
    return Checked(tuple(definitions.values()), tuple(problems), tuple(warnings))


def with_children(flow: Flow[..., Any]) -> tuple[Flow[..., Any], ...]:
    """A workflow and those that it runs. What its function raises while it is traced is a mistake in it."""
    try:
        return (flow, *flow.subflows)
    except StrettoError:
        raise
    except Exception as error:  # noqa: BLE001 - a function may do anything
        frames = traceback.extract_tb(error.__traceback__)
        code = inspect.unwrap(flow.fn).__code__
        lines = [each.lineno for each in frames if each.filename == code.co_filename]
        line = (lines and lines[-1]) or code.co_firstlineno
        what = f"the workflow `{flow.id}` can not be made: {type(error).__name__}: {error}"
        way_out = (
            "a workflow function is called once, before anything runs, with references instead of values"
        )
        raise TraceError(what, way_out, place=Place(code.co_filename, line)) from None


def made_flows(name: str) -> Iterator[Flow[..., Any]]:
    """The workflows that a name stands for, with those that they run; without those that have mistakes."""
    for flow in flows_of(name).flows:
        with suppress(StrettoError):
            yield from with_children(flow)


def params_of_flow(flow: Flow[..., Any], given: Iterable[tuple[str, str]]) -> Params:
    """Parameters from texts, each of the type that the function declares; all mistakes at once."""
    found: dict[str, Any] = {}
    wrong: list[str] = []
    for name, text in given:
        declared = flow.params.get(name)
        if name in found:
            wrong.append(f"`{name}` is given twice")
        elif declared is None or declared.kind.json:
            found[name] = _json(text)
        else:
            try:
                found[name] = read_value(name, declared.kind.type, text)
            except InvalidRequest as error:
                wrong.append(error.message)
    if not wrong:
        try:
            return dict(flow.encode(found))
        except InvalidRequest as error:
            wrong.append(error.message)
    raise click.BadParameter("\n  ".join(["", *wrong] if len(wrong) > 1 else wrong), param_hint="--param")


def _json(text: str) -> Any:
    """JSON, or a text that needs no quotes."""
    try:
        return json.loads(text)
    except ValueError:
        return text


# ----------------------------------------------------------------------------------------------- import
class Unusable(Exception):
    """A file or module that can not be imported."""

    def __init__(self, message: str, line: int | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        column = None if line is None else 1
        self.problem = Problem(
            code=Code.UNREADABLE, path="", message=message, line=line, column=column, hint=hint
        )


def of_file(name: str) -> ModuleType:
    """A file as the module that it would be for its neighbours: its functions have the same names then,
    however it is run. A file in a package is a module of that package. It is imported once, however often it
    is named.
    """
    path = Path(name).resolve()
    if not path.is_file():
        raise Unusable("there is no such file")
    add_path(path.parent)
    root, dotted = _module_name(path)
    if root != path.parent:
        add_path(root)
        inside: ModuleType = _imported(lambda: importlib.import_module(dotted), str(path))
        if getattr(inside, "__file__", None) == str(path):
            return inside
    known = sys.modules.get(path.stem)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None  # noqa: S101 - of a name that ends with .py there is one
    assert spec.loader is not None  # noqa: S101 - see above
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    _imported(lambda: spec.loader.exec_module(module), str(path))
    return module


def _module_name(path: Path) -> tuple[Path, str]:
    """The folder from which a file is imported, and its name there: above all packages that it is in."""
    root, names = path.parent, [] if path.stem == "__init__" else [path.stem]
    while (root / "__init__.py").is_file() and root.name.isidentifier():
        names.insert(0, root.name)
        root = root.parent
    return root, ".".join(names)


def of_module(name: str, folder: Path | None = None) -> ModuleType:
    """A module that is installed, or lies in a folder; by default in the current one."""
    add_path(folder or Path.cwd())
    module: ModuleType = _imported(lambda: importlib.import_module(name), name)
    return module


def _imported(load: Any, name: str) -> Any:
    try:
        return load()
    except StrettoError as error:
        raise Unusable(_without_place(error, name), _line_in(error, name), _other_hint(error)) from None
    except SyntaxError as error:
        raise Unusable(f"{type(error).__name__}: {error.msg}", error.lineno) from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a module may do anything
        text = f"it can not be imported: {type(error).__name__}: {error}"
        raise Unusable(text, _line_in(error, name)) from None


def _line_in(error: BaseException, name: str) -> int | None:
    """The last line of the file itself that leads to an error."""
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == name]
    return lines[-1] if lines else None


def _problem_of(error: StrettoError, name: str) -> Problem:
    """A mistake in a workflow function: where, and what to write instead. The message names the place if it
    is in another file than the one that is named.
    """
    message = _without_place(error, name)
    line = error.place.line if isinstance(error, TraceError) and message != error.message else None
    column, hint = None if line is None else 1, _other_hint(error)
    return Problem(code=Code.SYNTAX, path="", message=message, line=line, column=column, hint=hint)


def _without_place(error: StrettoError, name: str) -> str:
    """The message of an error without its place, if that is in the file that is named."""
    if isinstance(error, TraceError) and _is_file(error.place.file, name):
        return error.message.removeprefix(f"{error.place}: ")
    return error.message


def _other_hint(error: StrettoError) -> str | None:
    """The hint, unless the message ends with it."""
    return None if error.hint is None or error.hint in error.message else error.hint


def _is_file(file: str, name: str) -> bool:
    """Whether a name of a file, or of a workflow in one, means this file."""
    found = PYTHON.fullmatch(name)
    path = None if found is None else found["file"]
    return path is not None and Path(file).resolve() == Path(path).resolve()


def _placed(problem: Problem, flow: Flow[..., Any], name: str) -> Problem:
    """At the function of its workflow, if that is in the file that is named."""
    code = getattr(inspect.unwrap(flow.fn), "__code__", None)
    if code is None or not _is_file(code.co_filename, name):
        return msgspec.structs.replace(problem, path=f"{flow.id}: {problem.path}")
    return msgspec.structs.replace(problem, line=code.co_firstlineno, column=1)


# ----------------------------------------------------------------------------------------------- finding
def _by_variable(module: ModuleType) -> dict[str, Flow[..., Any]]:
    return {name: each for name, each in vars(module).items() if isinstance(each, Flow)}


def _known_in(module: ModuleType) -> list[Flow[..., Any]]:
    """Its own workflows, in the order in which they are written; those that it imports are elsewhere."""
    found = dict.fromkeys(_by_variable(module).values())
    return [flow for flow in found if flow.fn.__module__ == module.__name__]


def _none_in(module: ModuleType, name: str) -> Problem:
    imported = _by_variable(module)
    hint = f"name one that it imports: {name}:{next(iter(imported))}" if imported else "write @workflow"
    return Problem(code=Code.EMPTY, path="", message="there is no workflow in it", hint=hint)
