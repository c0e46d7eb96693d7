"""`RunFailed.__cause__` is what the step raised: of its own class where that is known, else a stand-in."""

import pickle
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
            for name in ("picky", "held"):
                stand_in = (await failure(engine, flow, name=name)).__cause__
                assert isinstance(stand_in, engines.StepError)
                assert stand_in.type_name == f"{__name__}.{name.title()}"
                assert "raise ERRORS[name]" in stand_in.traceback
                if name == "picky":
                    assert str(stand_in) == f"{__name__}.Picky: because of rain"

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
