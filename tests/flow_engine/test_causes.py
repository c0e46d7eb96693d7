"""`RunFailed.__cause__` is what the step raised: of its own class where that is known, else a stand-in."""

import json
import pickle
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.flow_engine.flows import finish

from stretto.flow import engine as engines
from stretto.flow.engine import Engine, RunFailed
from stretto.flow.steps import step
from stretto.flow.waits import wait
from stretto.flow.workflow import workflow


class OutOfStock(LookupError):
    def __init__(self, item: str, left: int) -> None:
        super().__init__(item, left)
        self.item = item


class Picky(Exception):
    def __init__(self, *, reason: str) -> None:
        super().__init__(f"because of {reason}")


class Held(Exception):
    """Its arguments can not be stored."""


ERRORS: dict[str, Exception] = {
    "builtin": KeyError("shoes"),
    "own": OutOfStock("shoes", 3),
    "bytes": ValueError(b"\x00", 2.5),
    "picky": Picky(reason="rain"),
    "held": Held(object()),
}


@step
def buy(name: str) -> int:
    raise ERRORS[name]


@step(isolation="process")
def buy_elsewhere(name: str) -> int:
    raise ERRORS[name]


@workflow(run_strategy="parallel")
def buying(name: str) -> int:
    return buy(name)


@workflow(run_strategy="parallel")
def buying_elsewhere(name: str) -> int:
    return buy_elsewhere(name)


@workflow(run_strategy="parallel")
def mapped(name: str) -> list[int]:
    return buy.map([name])


@workflow(run_strategy="parallel")
def nested(name: str) -> list[int]:
    return mapped(name)


@workflow(run_strategy="parallel")
def asked() -> None:
    wait(id="ask")


async def failure(engine: Engine, flow: Any, **values: Any) -> RunFailed:
    with pytest.raises(RunFailed) as failed:
        await engine.run(flow, **values)
    return failed.value


@pytest.mark.parametrize("flow", [buying, buying_elsewhere, mapped, nested], ids=lambda each: each.id)
def test_the_cause_is_the_exception_of_the_step(flow: Any) -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            failed = await failure(engine, flow, name="own")
            cause = failed.__cause__
            assert isinstance(cause, OutOfStock)
            assert (cause.args, cause.item) == (("shoes", 3), "shoes")
            assert "raise ERRORS[name]" in cause.__notes__[0]
            assert isinstance(pickle.loads(pickle.dumps(failed)).__cause__, OutOfStock)  # noqa: S301 - ours
            assert isinstance((await failure(engine, flow, name="builtin")).__cause__, KeyError)
            odd = (await failure(engine, flow, name="bytes")).__cause__
            assert isinstance(odd, ValueError)
            assert odd.args == (b"\x00", 2.5)
            picky = (await failure(engine, flow, name="picky")).__cause__
            assert isinstance(picky, Picky)
            assert str(picky) == "because of rain"
            stand_in = (await failure(engine, flow, name="held")).__cause__
            assert isinstance(stand_in, engines.StepError)
            assert stand_in.type_name == f"{__name__}.Held"
            assert "raise ERRORS[name]" in stand_in.traceback

    finish(work())


def test_a_run_that_no_function_has_failed_has_no_cause() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(asked)
            await run.answer("ask", approved=False)
            with pytest.raises(RunFailed) as failed:
                await run.result(30)
            assert failed.value.__cause__ is None
            stopped = await engine.submit(asked)
            await stopped.kill()
            assert (await stopped.wait(30)).cause is None

    finish(work())


# ------------------------------------------------------------------------------------ with all that they have
class Refused(Exception):
    def __init__(self, amount: int, *, currency: str, held: object = None) -> None:
        super().__init__(f"{amount} {currency}")
        self.amount, self.currency, self.held = amount, currency, held


class Worded(ValueError):
    def __init__(self, field: str) -> None:
        super().__init__(f"the field {field} is wrong")
        self.field = field


class Needy(Exception):
    def __init__(self, *, connection: object) -> None:
        super().__init__("lost")
        self.connection = connection

    def __str__(self) -> str:
        return f"{self.connection.name} is lost"  # type: ignore[attr-defined]


class Reduced(Exception):
    def __init__(self, left: int, right: int) -> None:
        super().__init__("sum", left + right)
        self.left, self.right = left, right

    def __reduce__(self) -> Any:
        return type(self), (self.left, self.right)


class Tricky(Exception):
    def __reduce__(self) -> Any:
        return print, ("called",)


def chained(outer: Exception, inner: Exception, *, quiet: bool = False) -> None:
    try:
        raise inner
    except type(inner) as error:
        if quiet:
            raise outer from None
        if isinstance(outer, LookupError):
            raise outer  # noqa: B904 - the context is what is looked at
        raise outer from error


def fail(name: str) -> None:  # noqa: C901, PLR0912 - a line for each
    match name:
        case "file":
            Path("/no/such/file").read_text()
        case "json":
            json.loads('{"a": x}')
        case "text":
            b"\xff".decode()
        case "process":
            raise subprocess.CalledProcessError(3, ["false"], b"out", b"err")
        case "keywords":
            raise Refused(3, currency="EUR", held=object())
        case "words":
            raise Worded("name")
        case "needy":
            raise Needy(connection=object())
        case "reduced":
            raise Reduced(1, 2)
        case "tricky":
            raise Tricky("x")
        case "noted":
            error = ValueError("x")
            error.add_note("look here")
            raise error
        case "group":
            raise ExceptionGroup(
                "two", [Worded("a"), ExceptionGroup("inner", [OutOfStock("b", 1), Held(object())])]
            )
        case "crowd":
            raise ExceptionGroup("many", [Worded("a")] * 21)
        case "circle":
            first, second = Worded("a"), Worded("b")
            first.__cause__, second.__cause__ = second, first
            raise first
        case "cause":
            chained(Worded("b"), FileNotFoundError(2, "gone", "/x"))
        case "context":
            chained(OutOfStock("c", 2), KeyError("k"))
        case "hidden":
            chained(Worded("d"), KeyError("k"), quiet=True)
        case _:
            raise NotImplementedError


@step
def failing(name: str) -> None:
    fail(name)


@step(isolation="process")
def failing_elsewhere(name: str) -> None:
    fail(name)


@workflow
def fails(name: str) -> None:
    failing(name)


@workflow
def fails_elsewhere(name: str) -> None:
    failing_elsewhere(name)


@pytest.fixture(scope="module", params=[fails, fails_elsewhere], ids=lambda each: each.id)
def cause(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Any]]:
    with Engine("memory").sync() as engine:

        def found(name: str) -> Any:
            with pytest.raises(RunFailed) as failed:
                engine.run(request.param, name=name)
            return failed.value.__cause__

        yield found


def test_exceptions_of_python_keep_what_they_have(cause: Callable[[str], Any]) -> None:
    made = cause("file")
    assert (type(made), made.errno, made.filename) == (FileNotFoundError, 2, "/no/such/file")
    assert str(made) == "[Errno 2] No such file or directory: '/no/such/file'"
    made = cause("json")
    assert (type(made), made.pos, made.doc) == (json.JSONDecodeError, 6, '{"a": x}')
    made = cause("text")
    assert (type(made), made.object, made.reason) == (UnicodeDecodeError, b"\xff", "invalid start byte")
    made = cause("process")
    assert (type(made), made.returncode, made.stderr) == (subprocess.CalledProcessError, 3, b"err")
    assert cause("noted").__notes__[0] == "look here"


def test_exceptions_keep_their_attributes(cause: Callable[[str], Any]) -> None:
    made = cause("keywords")
    assert (type(made), made.args, made.amount, made.currency) == (Refused, ("3 EUR",), 3, "EUR")
    assert not hasattr(made, "held")
    made = cause("words")
    assert (type(made), str(made), made.field) == (Worded, "the field name is wrong", "name")
    made = cause("reduced")
    assert (type(made), made.args, made.left) == (Reduced, ("sum", 3), 1)
    made = cause("tricky")
    assert (type(made), made.args) == (Tricky, ("x",))
    made = cause("needy")
    assert isinstance(made, engines.StepError)
    assert made.type_name == f"{__name__}.Needy"


def test_groups_keep_their_exceptions(cause: Callable[[str], Any]) -> None:
    made = cause("group")
    assert (type(made), made.message, made.exceptions[0].field) == (ExceptionGroup, "two", "a")
    inner = made.exceptions[1]
    assert (inner.message, inner.exceptions[0].args) == ("inner", ("b", 1))
    assert isinstance(inner.exceptions[1], engines.StepError)
    assert inner.exceptions[1].type_name == f"{__name__}.Held"


def test_what_has_no_end_is_cut(cause: Callable[[str], Any]) -> None:
    assert isinstance(cause("crowd"), engines.StepError)
    made = cause("circle")
    fields = []
    while made is not None:
        fields.append(made.field)
        made = made.__cause__
    assert fields == ["a", "b"] * 10 + ["a"]


def test_causes_keep_their_causes(cause: Callable[[str], Any]) -> None:
    made = cause("cause")
    assert (type(made), type(made.__cause__), made.__cause__.filename) == (Worded, FileNotFoundError, "/x")
    assert made.__suppress_context__
    made = cause("context")
    assert (type(made), made.__cause__, made.__context__.args) == (OutOfStock, None, ("k",))
    made = cause("hidden")
    assert (made.__cause__, made.__context__) == (None, None)
