"""Functions: what is known of one, and what can not be one."""
# ruff: noqa: ARG001 - functions that are only looked at

import asyncio
import functools
import subprocess
import sys
import types
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pytest

from stretto.model.param import ParamType
from stretto.ports.functions import FunctionRecord
from stretto.runtimes.python import INJECTED, Service, StepContext, function_of, service
from stretto.runtimes.python.annotations import annotations_of, shown
from stretto.runtimes.python.function import NotAStep
from stretto.runtimes.python.kinds import JSON_TEXT, Kind
from stretto.runtimes.python.roles import Role

if TYPE_CHECKING:
    from collections import ChainMap

HERE = "tests.unit.runtimes.python.test_function"


class Database:
    pass


def extract(
    day: str,
    ctx: StepContext,
    db: Service[Database],
    other: Annotated[Database, service("main")],
    rows: int = 3,
    *names: str,
    **rest: Any,
) -> dict[str, int]:
    """Read the rows of a day.

    And more.
    """
    return {day: rows}


async def load(ctx, rows: "list[int]") -> None:
    await asyncio.sleep(0)


def test_what_is_known_of_a_function() -> None:
    made = function_of(extract)
    assert made.name == f"{HERE}:extract"
    assert made.doc == "Read the rows of a day."
    assert [(each.name, each.role, each.service) for each in made.args] == [
        ("day", Role.VALUE, None),
        ("ctx", Role.CONTEXT, None),
        ("db", Role.SERVICE, Database),
        ("other", Role.SERVICE, "main"),
        ("rows", Role.VALUE, None),
    ]
    assert [(each.name, each.kind, each.has_default) for each in made.values] == [
        ("day", Kind(ParamType.STRING), False),
        ("rows", Kind(ParamType.LONG), True),
    ]
    assert made.takes_all
    assert (made.kind, made.is_async) == (JSON_TEXT, False)
    assert made.record() == FunctionRecord(
        name=f"{HERE}:extract",
        module=HERE,
        qualname="extract",
        params={"day": "str", "rows": "int"},
        source_hash=made.source_hash,
    )


def test_a_function_that_returns_nothing() -> None:
    made = function_of(load, "load it")
    assert (made.name, made.kind, made.is_async, made.takes_all, made.doc) == (
        "load it",
        None,
        True,
        False,
        "",
    )
    assert [each.role for each in made.args] == [Role.CONTEXT, Role.VALUE]
    assert made.values[0].kind == Kind(ParamType.LONG_ARRAY)


def marked(x: Annotated[int, "note"], y: Annotated[Database, "note", service()]) -> None:
    """Other marks than ours."""


def test_marks_of_others_mean_nothing() -> None:
    assert [each.role for each in function_of(marked).args] == [Role.VALUE, Role.SERVICE]


class Loader:
    def __init__(self, rows: int = 3) -> None:
        self.rows = rows

    def load(self, day: str) -> int:
        return len(day)

    async def __call__(self, day: str) -> int:
        return len(day)


def wrapped(call: Any) -> Any:
    @functools.wraps(call)
    def run(*args: Any, **kwargs: Any) -> Any:
        return call(*args, **kwargs)

    return run


def test_callables_of_other_kinds() -> None:
    method = function_of(Loader().load)
    assert (method.name, method.kind) == (f"{HERE}:Loader.load", Kind(ParamType.LONG))
    assert [each.name for each in method.args] == ["day"]
    called = function_of(Loader(), "loader")
    assert (called.is_async, [each.name for each in called.args]) == (True, ["day"])
    bound = function_of(functools.partial(extract, rows=5), "five")
    assert bound.qualname == "extract"
    assert bound.source_hash == function_of(extract).source_hash
    made = function_of(Loader)
    assert (made.name, made.returns, [each.name for each in made.args]) == (
        f"{HERE}:Loader",
        Loader,
        ["rows"],
    )
    assert not function_of(wrapped(load), "w").is_async  # it may return anything: that is seen when it has
    assert function_of(print, "say").module == "builtins"
    assert function_of(lambda: 1, "one").qualname.endswith("<lambda>")


def test_an_annotation_of_the_function_around_is_found() -> None:
    class Local:
        pass

    def inner(x: "Local", y: "list[int]") -> "Local":
        return x if y else Local()

    made = function_of(inner, "inner")
    assert made.returns is Local
    assert made.values[1].annotation == list[int]


def unknown(x: "ChainMap[str, int]") -> None:
    """Its annotation is not there at run time."""


def unknown_result() -> "ChainMap[str, int]":
    raise NotImplementedError


def unknown_context(context: "StepContext | Nothing", x: int) -> None:  # type: ignore[name-defined]  # noqa: F821
    """The name of the context is known, whatever else is not."""


def optional_context(context: StepContext | None = None) -> None:
    """For tests without a step."""


def injected_ones(x: int, ctx: StepContext = INJECTED, db: Service[Database] = INJECTED) -> None:
    """Callers need not give what is injected."""


def test_a_context_is_known_by_its_name() -> None:
    assert [each.has_default for each in function_of(injected_ones).args] == [False, False, False]
    assert function_of(unknown_context).args[0].role is Role.CONTEXT
    assert function_of(optional_context).args[0].role is Role.CONTEXT


def numbers() -> Iterator[int]:
    yield 1


async def later() -> AsyncIterator[int]:
    yield 1


def positional(x: int, /) -> None:
    """Nobody can name its argument."""


def plain(x: int) -> None:
    """No context."""


@pytest.mark.parametrize(
    ("call", "options", "why"),
    [
        (5, {}, "an `int` can not be called"),
        (lambda: 1, {}, "a lambda has no name"),
        (wrapped, {}, None),
        (wrapped(lambda: 1), {}, "a lambda has no name"),
        (functools.partial(extract), {}, "a `partial` needs a name"),
        (Loader(), {}, "a `Loader` needs a name"),
        (numbers, {}, "yields its values"),
        (later, {}, "yields its values"),
        (max, {}, "does not tell its arguments"),
        (positional, {}, "remove the `/`"),
        (unknown, {}, "annotation `ChainMap[str, int]` of `x`"),
        (unknown_result, {}, "annotation `ChainMap[str, int]` of `return`"),
        (plain, {"isolation": "moon"}, "isolation is one of thread, process, not `moon`"),
        (plain, {"tolerance": 2}, "tolerance is a part of the whole"),
        (plain, {"cache_ttl_s": 0}, "cache_ttl_s is a number of seconds above 0"),
        (plain, {"heartbeat_within": 5}, "has no `ctx: StepContext` to do so"),
    ],
)
def test_what_can_not_be_a_step(call: Any, options: dict[str, Any], why: str | None) -> None:
    if why is None:
        assert function_of(call).name == f"{HERE}:wrapped"
        return
    with pytest.raises(NotAStep) as caught:
        function_of(call, **options)
    assert why in str(caught.value)


def test_a_local_function_needs_a_name() -> None:
    def local() -> int:
        return 1

    with pytest.raises(NotAStep, match="made anew with each call"):
        function_of(local)
    assert function_of(local, "local").name == "local"


def test_options() -> None:
    made = function_of(
        load, on_success=plain, on_failure=[plain, extract], required="rows", heartbeat_within=3
    )
    assert made.options.on_success == (plain,)
    assert made.options.on_failure == (plain, extract)
    assert (made.options.required, made.options.isolation) == (("rows",), "thread")
    assert function_of(plain, required=["a", "b"]).options.required == ("a", "b")


# ----------------------------------------------------------------------------------------------------- hashes
def code(text: str) -> Any:
    """A function whose text cannot be found."""
    names: dict[str, Any] = {}
    exec(text, names)  # noqa: S102 - that is the case
    return names["f"]


def test_the_hash_changes_with_the_code_and_with_nothing_else(tmp_path: Path) -> None:
    def hash_of(name: str, text: str) -> str:
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        module = types.ModuleType(name)
        exec(compile(text, str(path), "exec"), module.__dict__)  # noqa: S102 - see above
        return function_of(module.f, name).source_hash

    first = hash_of("a", "def f(x):\n    return x + 1\n")
    assert hash_of("b", "import os\n\ndef f(x):   \n    return x + 1\n\n") == first
    assert hash_of("c", "wraps = lambda f: f\n@wraps\n@wraps\ndef f(x):\n    return x + 1\n") == first
    assert hash_of("d", "def f(x):\n    return x + 2\n") != first


def test_without_a_text_the_byte_code_counts() -> None:
    first = function_of(code("def f(x):\n    return [y + 1 for y in x]"), "f").source_hash
    assert function_of(code("\n\ndef f(x):\n    return [y + 1 for y in x]"), "f").source_hash == first
    assert function_of(code("def f(x):\n    return [y + 2 for y in x]"), "f").source_hash != first
    assert function_of(print, "a").source_hash == function_of(print, "b").source_hash


# ----------------------------------------------------------------------------------------------------- names
PROGRAM = """
from stretto.runtimes.python import function_of

def f() -> int:
    return 1

print(function_of(f).name)
"""


def test_a_program_has_the_name_of_its_file(tmp_path: Path) -> None:
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "flows.py").write_text(PROGRAM)
    (folder / "__main__.py").write_text(PROGRAM)

    def said(*words: str) -> str:
        done = subprocess.run(  # noqa: S603 - our own
            [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert said(str(folder / "flows.py")) == "flows:f"
    assert said("-m", "package.flows") == "package.flows:f"
    assert said("-m", "package") == "package:f"
    assert said("-c", PROGRAM) == "__main__:f"


def test_annotations_as_one_writes_them() -> None:
    assert shown(Any) == "Any"
    assert shown(int) == "int"
    assert shown(list[int]) == "list[int]"
    assert shown(int | None) == "int | None"
    assert annotations_of(print) == {}
    assert annotations_of(5) == {}


def broken(x: "1 +") -> None:  # type: ignore[valid-type]  # noqa: F722
    """An annotation that is no expression."""


def test_an_annotation_that_is_no_expression() -> None:
    with pytest.raises(NotAStep, match=r"annotation `1 \+`"):
        function_of(broken)
