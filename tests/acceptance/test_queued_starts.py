"""`stretto start` of a run that has to wait says that it is queued, and behind what."""

from pathlib import Path

import pytest
from tests.acceptance.command import Ended
from tests.acceptance.processes import Running, until
from tests.acceptance.serving import Serving

FLOW = """
properties: {{owner: ann, run_strategy: {strategy}}}
workflow:
  id: strict
  steps:
    - step:
        id: only
        type: Shell
        retry_policy: {{error_retry_limit: 0}}
        params: {{command: {{type: STRING, value: "{command}"}}}}
"""


def stretto(*arguments: str, folder: Path) -> Ended:
    with Running(*arguments, folder=folder) as running:
        return Ended(*running.ended())


@pytest.mark.parametrize(
    ("strategy", "command", "status", "said"),
    [
        ("STRICT_SEQUENTIAL", "exit 3", "FAILED", "queued, blocked by failed strict/1"),
        ("SEQUENTIAL", "sleep 600", "IN_PROGRESS", "queued, blocked by running strict/1"),
        ("STRICT_SEQUENTIAL", "sleep 600", "IN_PROGRESS", "queued, blocked by running strict/1"),
    ],
)
def test_a_start_behind_another_run_says_so(
    tmp_path: Path, strategy: str, command: str, status: str, said: str
) -> None:
    (tmp_path / "strict.yaml").write_text(FLOW.format(strategy=strategy, command=command))
    with Serving("--load", "strict.yaml", folder=tmp_path) as server:
        first = stretto("start", "strict", "--server", server.url, folder=tmp_path)
        assert first.code == 0, first
        assert "queued" not in first.out
        path = "/api/v3/workflows/strict/instances/1/runs/1"
        until(lambda: server.get(path)["status"] == status, status)
        second = stretto("start", "strict", "--server", server.url, folder=tmp_path)
        assert second.code == 0, second
        assert said in second.out
