"""Values that this process can not make hide neither how a run ended nor what else is known of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from stretto import RunFailed, UnreadableValue, codec, step, workflow
from stretto.flow.engine import Engine
from stretto.model.errors import StrettoError
from stretto.model.status import RunStatus

PROGRAM = """
from stretto import Engine, RunFailed, codec, collect, foreach, step, workflow

class Money:
    def __init__(self, cents): self.cents = cents

codec(Money, encode=lambda money: money.cents, decode=Money, name="shop.Money")

@step
def price(cents: int) -> Money: return Money(cents)

@step
def prices(cents: int) -> list[Money]: return [Money(cents), Money(2)]

@step
def pay(money: Money) -> int: raise ValueError("declined", money)

@step
def count(cents: int) -> int: return 3

@workflow
def sold(cents: int) -> Money: return price(count(cents))

@workflow
def declined(cents: int) -> int:
    prices(count(cents))
    return pay(price(cents))

@workflow
def asked(money: Money) -> int: return count(1)

with Engine("URL").sync() as engine:
    engine.run(sold, cents=5)
    engine.run(asked, money=Money(3))
    try: engine.run(declined, cents=5)
    except RunFailed: pass
"""
MISSING = "a value of `shop.Money` can not be read: no codec of that name is registered here"


@pytest.fixture
def written(url: str, tmp_path: Path) -> str:
    """A database with runs of a program whose codecs are not known here."""
    program = tmp_path / "shop.py"
    program.write_text(PROGRAM.replace("URL", url))
    subprocess.run([sys.executable, str(program)], check=True, cwd=tmp_path)  # noqa: S603 - our own text
    return url


def test_a_run_that_succeeded_is_read_without_its_codec(written: str) -> None:
    with Engine(written, submit_only=True).sync() as engine:
        run = engine.get("sold", 1)
        result = run.wait(10)
        assert result.status is RunStatus.SUCCEEDED
        assert isinstance(result.value, UnreadableValue)
        assert MISSING in str(result.value)
        assert "shop.Money" in result.value.stored
        assert result.outputs["count"] == 3
        assert isinstance(run.steps()["price"].value, UnreadableValue)
        with pytest.raises(StrettoError, match=MISSING):
            result.unwrap()
        with pytest.raises(StrettoError, match=MISSING):
            run.result()
        other = engine.get("asked", 1).look()
        assert isinstance(other.params["money"], UnreadableValue)
        assert other.value == 3


def test_a_run_that_failed_says_why_without_its_codec(written: str) -> None:
    with Engine(written, submit_only=True).sync() as engine:
        run = engine.get("declined", 1)
        result = run.wait(10)
        assert isinstance(result.outputs["prices"], UnreadableValue)
        with pytest.raises(RunFailed, match="declined") as caught:
            run.result()
        assert "declined" in str(caught.value.__cause__)


class Broken:
    pass


def undone(_: object) -> Broken:
    raise LookupError("the class has changed")


codec(Broken, encode=lambda _: 1, decode=undone, name="tests.Broken")


@step
def broken() -> Broken:
    return Broken()


@workflow
def breaking() -> Broken:
    return broken()


def test_a_codec_that_fails_hides_nothing_either(url: str) -> None:
    with Engine(url).sync() as engine:
        run = engine.submit(breaking)
        result = run.wait(10)
        assert result.succeeded
        assert "the class has changed" in str(result.value)
        with pytest.raises(LookupError, match="the class has changed"):
            run.result()
