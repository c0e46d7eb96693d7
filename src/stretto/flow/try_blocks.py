"""`try` around calls of steps: refused, because a workflow function is called before any of its steps runs.

What a step raises in a run reaches no `except` of the workflow function, and its `finally` is over by then.
The source says which lines stand in such a block. Where there is none, as at some prompts, or where it has
changed since, the table of handlers in the compiled code says it, without telling the kinds of blocks apart.
"""

import ast
import contextlib
import dis
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
COMPILED: Final = Problem(
    "`{}` is called in a `try`, which is over before the step runs: it never sees what the step raises",
    EXCEPT.way_out,
)
TRACER: Final = "stretto.flow.tracing"  # above this, nothing belongs to the workflow that is traced


class Block(NamedTuple):
    """Lines that stand in a block."""

    first: int
    last: int
    problem: Problem
    manager: tuple[str, ...] = ()  # of a `with`: the dotted name that is called, or that has the manager


Blocks = dict[int, tuple[CodeType, tuple[Block, ...] | None]]  # by the identity of a function's code


def refuse_try(step_id: str, frame: FrameType | None, known: Blocks) -> None:
    """Raise TraceError if a step is called in such a block. `known` are blocks of functions seen before."""
    while frame is not None and frame.f_globals.get("__name__") != TRACER:
        code = frame.f_code
        if id(code) not in known:
            passed_over = is_ours(str(frame.f_globals.get("__name__", "")))
            known[id(code)] = code, () if passed_over else _blocks(code)
        problem = _problem(frame, known[id(code)][1])
        if problem is not None:
            place = Place(code.co_filename, frame.f_lineno)
            raise TraceError(problem.what.format(step_id), problem.way_out, place=place)
        frame = frame.f_back


def _problem(frame: FrameType, blocks: tuple[Block, ...] | None) -> Problem | None:
    if blocks is None:
        return COMPILED if _is_handled(frame.f_code, frame.f_lasti) else None
    for block in blocks:
        if block.first <= frame.f_lineno <= block.last and _is_meant(block, frame):
            return block.problem
    return None


def _is_meant(block: Block, frame: FrameType) -> bool:
    if not block.manager:
        return True
    name, *rest = block.manager
    found: Any = frame.f_locals.get(name, frame.f_globals.get(name))
    for each in rest:
        found = getattr(found, each, None)
    return found is contextlib.suppress or isinstance(found, contextlib.suppress)


# ---------------------------------------------------------------------------------------- without a source
def _is_handled(code: CodeType, at: int) -> bool:
    """Whether an instruction stands in a `try`. The table names the innermost handler of each instruction;
    the handler of a `with` is none, but may stand in a `try` itself.
    """
    entries = getattr(dis.Bytecode(code), "exception_entries", ())
    names = {each.offset: each.opname for each in dis.get_instructions(code)}
    seen: set[int] = set()
    while True:
        at = next((each.target for each in entries if each.start <= at < each.end), -1)
        if at in seen or at not in names:
            return False
        seen.add(at)
        if names[at] == "PUSH_EXC_INFO" and names.get(at + 2) != "WITH_EXCEPT_START":
            return True


# -------------------------------------------------------------------------------------------- in the source
def _blocks(code: CodeType) -> tuple[Block, ...] | None:
    """The blocks of a function, without those of functions inside it; None if its source is not known."""
    if not code.co_exceptiontable:
        return ()
    text = "".join(linecache.getlines(code.co_filename))
    try:
        tree = ast.parse(text)
    except SyntaxError:  # it has changed since it was imported
        return None
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _first(node) == code.co_firstlineno
    ]
    if not text or (not found and code.co_name.isidentifier()):
        return None
    return tuple(block for node in found for block in _inside(node.body))


def _first(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min(each.lineno for each in (node, *node.decorator_list))


def _inside(body: list[ast.stmt]) -> Iterator[Block]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(node, ast.Try | ast.TryStar):
            yield _block(node.body, EXCEPT if node.handlers else FINALLY)
            if node.finalbody:
                rest = [*(each for handler in node.handlers for each in handler.body), *node.orelse]
                yield from (_block([each], FINALLY) for each in rest)
        elif isinstance(node, ast.With):
            for item in node.items:
                name = _named(item.context_expr)
                if name:
                    yield _block(node.body, SUPPRESS, name)
        for part in ("body", "orelse", "finalbody"):
            yield from _inside(getattr(node, part, []))
        for handler in getattr(node, "handlers", []):
            yield from _inside(handler.body)
        for case in getattr(node, "cases", []):
            yield from _inside(case.body)


def _block(body: list[ast.stmt], problem: Problem, manager: tuple[str, ...] = ()) -> Block:
    return Block(body[0].lineno, body[-1].end_lineno or 0, problem, manager)


def _named(node: ast.expr) -> tuple[str, ...]:
    """The dotted name that an expression is, or calls."""
    parts: list[str] = []
    found = node.func if isinstance(node, ast.Call) else node
    while isinstance(found, ast.Attribute):
        parts.insert(0, found.attr)
        found = found.value
    return (found.id, *parts) if isinstance(found, ast.Name) else ()
