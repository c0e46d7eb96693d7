"""Functions that are imported, or written in the step itself."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.runtimes.python.stand import Stand, Told, playing, said, text, value

from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.runtimes.python import function_of

HERE = "tests.unit.runtimes.python.test_sources"
RESULT = ParamDefinition(type=ParamType.LONG, value=0)


def add(a: int, b: int = 2) -> int:
    return a + b


class Decorated:
    """As a decorator would leave a function."""

    function = function_of(add, "decorated")

    class Inner:
        pass


def long(number: int) -> Parameter:
    return Parameter(type=ParamType.LONG, value=number, evaluated_result=number)


def step(**params: ParamDefinition) -> Told:
    return Told({**params, "result": RESULT})


def test_a_function_is_imported() -> None:
    async def body() -> None:
        stand = Stand()
        for entrypoint in (f"{HERE}:add", f"{HERE}:add", f"{HERE}:Decorated"):
            assert value(await stand.end(step(entrypoint=text(entrypoint), a=long(1)))) == 3

    playing(body)


@pytest.mark.parametrize(
    ("entrypoint", "why"),
    [
        ("add", "`add` is not `module:function`"),
        (":add", "is not `module:function`"),
        ("no.such.module:add", "can not be imported: ModuleNotFoundError: No module named 'no'"),
        (f"{HERE}:sub", "can not be imported: there is no `sub` in tests.unit"),
        (f"{HERE}:HERE", "can not be called: a `str` can not be called"),
        ("tests.unit.runtimes.python.leaving_import:call", "can not be imported: SystemExit: 3"),
    ],
)
def test_what_can_not_be_imported(entrypoint: str, why: str) -> None:
    async def body() -> None:
        kind, message = said(await Stand().end(step(entrypoint=text(entrypoint))))
        assert kind == "FatalError"
        assert why in str(message)

    playing(body)


def test_only_some_modules_may_be_imported() -> None:
    async def body() -> None:
        inside = Stand(modules=["tests.unit"])
        assert value(await inside.end(step(entrypoint=text(f"{HERE}:add"), a=long(1)))) == 3
        exact = Stand(modules=[HERE])
        assert value(await exact.end(step(entrypoint=text(f"{HERE}:add"), a=long(1)))) == 3
        outside = Stand(modules=["tests.un", "os.path"])
        assert said(await outside.end(step(entrypoint=text(f"{HERE}:add"), a=long(1)))) == (
            "FatalError",
            f"`{HERE}` may not be imported here; allowed: os.path, tests.un",
        )
        assert "allowed: none" in str(said(await Stand(modules=[]).end(step(entrypoint=text("os:x"))))[1])

    playing(body)


def test_lines_of_python() -> None:
    async def body() -> None:
        stand = Stand()
        script = "import math\nresult = math.floor(a / 2)"
        assert value(await stand.end(step(script=text(script), a=long(5)))) == 2
        assert value(await stand.end(step(script=text(script), a=long(7)))) == 3
        kind, message = said(await stand.end(step(script=text("x = 1\nresult = nothing"))))
        assert (kind, message) == ("UserError", "NameError: name 'nothing' is not defined")
        kind, message = said(await stand.end(step(script=text("result = = 1"))))
        assert kind == "FatalError"
        assert "the script of the step can not be read: SyntaxError" in str(message)
        assert "can not be read: " in str(said(await stand.end(step(script=text("a\0"))))[1])

    playing(body)


def test_a_step_that_names_nothing() -> None:
    async def body() -> None:
        kind, message = said(await Stand().end(step()))
        assert kind == "FatalError"
        assert "a Python step needs `function`" in str(message)
        assert "`entrypoint` (`module:function`) or `script`" in str(message)

    playing(body)


def test_a_place_to_write(tmp_path: Path) -> None:
    """A script may do what a function may."""

    async def body() -> None:
        target: Any = text(str(tmp_path / "x"))
        script = text("from pathlib import Path\nPath(target).write_text('x')\nresult = 1")
        assert value(await Stand().end(step(script=script, target=target))) == 1

    playing(body)
    assert (tmp_path / "x").read_text() == "x"
