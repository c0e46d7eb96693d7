"""Rows of the union table with real commands and functions: timeouts, and how many steps run at once."""

import json
from pathlib import Path

import pytest
from tests.acceptance.test_run_on_servers import stretto

WORK = {
    "Shell": "command: {type: STRING, value: sleep 5}",
    "Python": "script: {type: STRING, value: 'import time; time.sleep(5)'}",
}
LIMITED = """
workflow:
  id: slow
  steps:
    - step: {{id: s, type: {kind}, timeout: 1, retry_policy: {{timeout_retry_limit: 0}}, params: {{{work}}}}}
"""
WIDE = """
workflow:
  id: wide
  instance_step_concurrency: 5
  steps:
"""
NOTED = (
    "    - step: {id: s%d, type: Shell, params: {command: {type: STRING, "
    "value: 'echo begin >> log; sleep 0.2; echo end >> log'}}}\n"
)


@pytest.mark.parametrize("kind", WORK)
def test_row_103_a_step_of_one_second_that_would_take_five(kind: str, tmp_path: Path) -> None:
    (tmp_path / "slow.yaml").write_text(LIMITED.format(kind=kind, work=WORK[kind]))
    code, out, err = stretto(tmp_path, "run", "slow.yaml", "--json")
    assert (code, json.loads(out)["status"]) == (1, "TIMED_OUT"), err
    (step,) = json.loads(stretto(tmp_path, "show", "slow/1", "--json")[1])["steps"]
    state = step["runtime_state"]
    assert state["status"] == "TIMED_OUT"
    assert 1_000 <= state["end_time"] - state["start_time"] < 3_000


def test_row_104_twenty_steps_of_which_five_run_at_once(tmp_path: Path) -> None:
    (tmp_path / "wide.yaml").write_text(WIDE + "".join(NOTED % number for number in range(20)))
    code, out, err = stretto(tmp_path, "run", "wide.yaml", "--json")
    assert (code, json.loads(out)["status"]) == (0, "SUCCEEDED"), err
    most = running = 0
    lines = (tmp_path / "log").read_text().split()
    for line in lines:
        running += 1 if line == "begin" else -1
        most = max(most, running)
    assert (len(lines), most) == (40, 5)
