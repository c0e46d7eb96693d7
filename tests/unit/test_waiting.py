"""The helpers that wait in tests."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests import waiting
from tests.waiting import at_least, at_most, until, wait_until

SAMPLE = """
from tests.waiting import PAUSE, wait_until

def test_late(at_most):
    looks = iter([0, 0, 1])
    with at_most(PAUSE):
        wait_until(lambda: next(looks))

def test_other():
    pass
"""


def test_the_first_true_result_is_returned() -> None:
    looks = iter([0, "", None, "there"])
    assert wait_until(lambda: next(looks)) == "there"


def test_a_condition_in_an_event_loop_may_be_a_coroutine() -> None:
    async def work() -> list[str | None]:
        looks, later = iter([None, "plain"]), iter([None, "awaited"])

        async def look() -> str | None:
            return next(later)

        return [await until(lambda: next(looks)), await until(look)]

    assert asyncio.run(work()) == ["plain", "awaited"]


def test_what_never_comes_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    with pytest.raises(AssertionError, match="the file has not come to hold within"):
        wait_until(lambda: False, "the file")
    with pytest.raises(AssertionError, match="the file has not come to hold within"):
        asyncio.run(until(lambda: False, "the file"))


def test_a_wait_can_be_made_longer_and_not_shorter() -> None:
    assert wait_until(lambda: True, patience=2 * waiting.PATIENCE)
    with pytest.raises(AssertionError, match="needs more time"):
        wait_until(lambda: True, patience=1.0)


def test_bounds_in_seconds() -> None:
    with at_least(0.0), at_most(waiting.PATIENCE):
        pass
    with pytest.raises(AssertionError), at_least(waiting.PATIENCE):
        pass
    with pytest.raises(AssertionError, match="instead of at most 0 s"), at_most(0.0):
        pass


@pytest.mark.parametrize(
    ("marks", "summary"), [("not prove", "2 passed"), ("prove or timed", "1 failed, 1 deselected")]
)
def test_only_the_long_proofs_judge_an_upper_bound(marks: str, summary: str, tmp_path: Path) -> None:
    (tmp_path / "test_sample.py").write_text(SAMPLE)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "tests.conftest", "-m", marks]
    ini = "[pytest]\nmarkers =\n    timed\n    prove\n"
    (tmp_path / "pytest.ini").write_text(ini)
    done = subprocess.run(  # noqa: S603 - our own command
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert summary in done.stdout


def test_the_fixture_gives_a_block(at_most: Callable[[float], AbstractContextManager[None]]) -> None:
    with at_most(waiting.PATIENCE):
        pass
