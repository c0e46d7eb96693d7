"""An engine that is killed takes its work along: nothing of it runs beside its repeat."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.flow_engine.test_stubborn import MARK, marked
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
SURVIVE = 2.0  # seconds that anything may live after its engine
PATIENCE = 300.0


class Program:
    """See `locked`."""

    def __init__(self, folder: Path, runs: int) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - our own
            [
                sys.executable,
                "-m",
                "tests.flow_engine.locked",
                f"sqlite:///{folder}/work.db",
                folder,
                str(runs),
            ],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, MARK: str(folder)},
        )

    def said(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        self.kill()
        assert self.process.stdout is not None
        self.process.stdout.close()


def survived(mark: str) -> float:
    """How long something lived after its engine."""
    begun = time.monotonic()
    wait_until(lambda: not marked(mark), "the end of all that was marked")
    return time.monotonic() - begun


def killed_again_and_again(folder: Path, kills: int, runs: int) -> list[float]:
    dice = random.Random(kills)  # noqa: S311 - not for secrets
    times: list[float] = []
    for _ in range(kills):
        program = Program(folder, runs)
        try:
            assert program.said() == "ready\n"
            time.sleep(dice.uniform(0, 1.0))
            program.kill()
            times.append(survived(f"{MARK}={folder}"))
        finally:
            program.close()
    last = Program(folder, runs)
    try:
        assert last.said() == "ready\n"
        assert last.said() == "ended\n"
        assert last.process.wait(60) == 0
    finally:
        last.close()
    survived(f"{MARK}={folder}")
    lines = (folder / "ledger").read_text().splitlines()
    assert [each for each in lines if each.startswith("twice")] == []
    assert len({each for each in lines if each.startswith("end")}) == runs * 9
    return times


def test_an_engine_that_is_killed_takes_its_work_along(tmp_path: Path) -> None:
    assert len(killed_again_and_again(tmp_path, 3, 2)) == 3


@pytest.mark.prove
@pytest.mark.timeout(0)
def test_fifty_kills(tmp_path: Path) -> None:
    times = sorted(killed_again_and_again(tmp_path, 50, 25))
    print(f"\n{len(times)} kills: survived p50 {times[len(times) // 2]:.2f} s, most {times[-1]:.2f} s")  # noqa: T201
    assert times[-1] < SURVIVE
