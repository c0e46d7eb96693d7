"""Shell steps that take too long, in a run as users have it."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.unit.runtimes.processes import environment, pids

from stretto.cli.main import cli

COMMANDS = {
    "pipeline": "(setsid sleep 61 &); sleep 62 | (sleep 63; cat)",
    "ignores": "trap '' TERM; setsid sleep 61 & while :; do sleep 0.1; done",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_step_that_takes_too_long_ends_with_all_that_it_started(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    at_most: Callable[[float], AbstractContextManager[None]],
) -> None:
    run = f"late-{name}-{os.getpid()}"
    command = COMMANDS[name].replace("'", "''")
    (tmp_path / "late.yaml").write_text(
        f"workflow: {{id: {run}, jobs: [{{job: {{id: slow, type: Shell, "
        f"timeout: 1 second, command: '{command}'}}}}]}}"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STRETTO_RUNTIMES_GRACE", "500ms")
    with at_most(30):
        result = CliRunner().invoke(cli, ["run", "late.yaml"])
    assert "slow TIMED_OUT" in result.output
    assert not [pid for pid in pids() if any(f"STRETTO_RUN={run}/" in each for each in environment(pid))]
