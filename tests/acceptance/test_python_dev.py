"""`stretto dev`: rounds of check, draw and run, and a change in between."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from tests.acceptance.command import STRETTO
from tests.acceptance.processes import PATIENCE, unmeasured, until

FLOW = """
import asyncio
from stretto import step, workflow

@step
async def work(word: str) -> str:
    await asyncio.sleep({seconds})
    return word

@workflow
def flow(word: str = "{word}") -> str:
    return work(word)
"""


def test_a_change_begins_another_round(tmp_path: Path) -> None:
    file, out = tmp_path / "flows.py", tmp_path / "out"
    file.write_text(FLOW.format(seconds=600, word="first"))
    with (
        out.open("wb") as shown,
        subprocess.Popen(  # noqa: S603 - our own command
            [STRETTO, "dev", "flows.py:flow"],
            cwd=tmp_path,
            stdout=shown,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=unmeasured(),
        ) as process,
    ):
        try:
            until(lambda: "in memory: nothing is kept" in out.read_text(), "the first run began")
            file.write_text(FLOW.format(seconds=0, word="second"))
            until(lambda: "work SUCCEEDED" in out.read_text(), "the second run ended")
            until(lambda: "Waiting for flows.py:flow to change" in out.read_text(), "it waits")
            file.write_text("def broken(:\n")
            until(lambda: "SyntaxError" in out.read_text(), "the mistake was shown")
            os.killpg(process.pid, signal.SIGINT)
            assert process.wait(PATIENCE) == 130
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    text = out.read_text()
    assert "Traceback" not in text
    assert text.count("work [Python]") == 2


@pytest.mark.parametrize(("more", "code"), [((), 0), (("--no-run",), 0), (("-p", "x=1"), 2)])
def test_one_round(tmp_path: Path, more: tuple[str, ...], code: int) -> None:
    (tmp_path / "one.yaml").write_text("workflow: {id: one, owner: ann, jobs: [{job: {id: a, type: NoOp}}]}")
    done = subprocess.run(  # noqa: S603 - our own command
        [STRETTO, "dev", "one.yaml", "--once", *more],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == code
    assert ("one/1 SUCCEEDED" in done.stdout) is (more == ())
