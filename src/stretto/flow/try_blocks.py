"""`try` around calls of steps: refused, because a workflow function is called before any of its steps runs.

What a step raises in a run reaches no `except` of the workflow function, and its `finally` is over by then.
The source says which lines stand in such a block; where there is no source, as at some prompts, nothing is
refused.
"""

import ast
import contextlib
import linecache
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

from stretto.flow.errors import TraceError
from stretto.flow.places import Place, is_ours


class Problem(NamedTuple):
    """Why calling a step in a block is refused, and what to write instead."""

    what: str
    way_out: str


EXCEPT: Final = Problem(
    "`{}` is called in a `try`, and `except` never sees what the step raises: it runs later",
    "write `with on_failure(x):` for what follows a failure, `@step(failure_mode='IGNORE_FAILURE')` to go on "
    "without it, or catch the exception in the step",
)
FINALLY: Final = Problem(
    "`{}` is called in a `try` with `finally`, which is over before the step runs",
    "call what cleans up after the step and in `with on_failure(x):`, or clean up in the step",
)
SUPPRESS: Final = Problem(
    "`{}` is called in `with suppress(...)`, which is over before the step runs",
    "write `@step(failure_mode='IGNORE_FAILURE')`, or `with on_failure(x):`",
)
TRACER: Final = "stretto.flow.tracing"  # above this, nothing belongs to the workflow that is traced


class Block(NamedTuple):
    """Lines that stand in a block."""

    first: int
    last: int
    problem: Problem
    manager: tuple[str, ...] = ()  # of a `with`: the dotted name that is called


Blocks = dict[int, tuple[CodeType, tuple[Block, ...]]]  # by the identity of a function's code


def refuse_try(step_id: str, frame: FrameType | None, known: Blocks) -> None:
    """Raise TraceError if a step is called in such a block. `known` are blocks of functions seen before."""
    while frame is not None and frame.f_globals.get("__name__") != TRACER:
        code = frame.f_code
        if id(code) not in known:
            passed_over = is_ours(str(frame.f_globals.get("__name__", "")))
            known[id(code)] = code, () if passed_over else tuple(_blocks(code))
        for block in known[id(code)][1]:
            if block.first <= frame.f_lineno <= block.last and _is_meant(block, frame):
                place = Place(code.co_filename, frame.f_lineno)
                raise TraceError(block.problem.what.format(step_id), block.problem.way_out, place=place)
        frame = frame.f_back


def _is_meant(block: Block, frame: FrameType) -> bool:
    if not block.manager:
        return True
    name, *rest = block.manager
    found: Any = frame.f_locals.get(name, frame.f_globals.get(name))
    for each in rest:
        found = getattr(found, each, None)
    return found is contextlib.suppress


def _blocks(code: CodeType) -> Iterator[Block]:
    """The blocks of a function, without those of functions inside it."""
    text = "".join(linecache.getlines(code.co_filename))
    if not any(word in text for word in ("try", "suppress")):
        return
    try:
        tree = ast.parse(text)
    except SyntaxError:  # it has changed since it was imported
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _first(node) == code.co_firstlineno:
            yield from _inside(node.body)


def _first(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min(each.lineno for each in (node, *node.decorator_list))


def _inside(body: list[ast.stmt]) -> Iterator[Block]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(node, ast.Try | ast.TryStar):
            problem = EXCEPT if node.handlers else FINALLY
            yield Block(node.body[0].lineno, node.body[-1].end_lineno or 0, problem)
        elif isinstance(node, ast.With):
            for item in node.items:
                name = _called(item.context_expr)
                if name:
                    yield Block(node.body[0].lineno, node.body[-1].end_lineno or 0, SUPPRESS, name)
        for part in ("body", "orelse", "finalbody"):
            yield from _inside(getattr(node, part, []))
        for handler in getattr(node, "handlers", []):
            yield from _inside(handler.body)
        for case in getattr(node, "cases", []):
            yield from _inside(case.body)


def _called(node: ast.expr) -> tuple[str, ...]:
    """The dotted name that an expression calls."""
    parts: list[str] = []
    found = node.func if isinstance(node, ast.Call) else None
    while isinstance(found, ast.Attribute):
        parts.insert(0, found.attr)
        found = found.value
    return (found.id, *parts) if isinstance(found, ast.Name) else ()
