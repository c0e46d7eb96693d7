"""What steps print takes a few files for each run, not some for each step."""

from pathlib import Path

import pytest
from tests.acceptance.command import Ended
from tests.acceptance.processes import Running

STEPS = 30
SHELL = "    - step: {{id: s{n}, type: Shell, params: {{command: {{type: STRING, value: 'echo {n}'}}}}}}"
FAILING = """
    - step:
        id: s{n}
        type: Shell
        failure_mode: IGNORE_FAILURE
        retry_policy: {{error_retry_limit: 0}}
        params: {{command: {{type: STRING, value: 'echo {n}; exit 1'}}}}
"""
LOOP = """
    - foreach:
        id: each
        params:
          loop_params:
            type: MAP
            value: {i: {type: LONG_ARRAY, expression: "Util.intsBetween(0, 30, 1)"}}
        steps: [{step: {id: say, type: Shell, params: {command: {type: STRING, value: 'echo $i'}}}}]
"""
TEXTS = {
    "steps": "\n".join(SHELL.format(n=n) for n in range(STEPS)),
    "failures": "".join(FAILING.format(n=n) for n in range(STEPS)),
    "loop": LOOP,
}
PRINTED = {"loop": [("flow/1:each[9].say", [8])]}  # iterations are runs of their own


def stretto(*arguments: str, folder: Path) -> Ended:
    with Running(*arguments, folder=folder) as running:
        return Ended(*running.ended())


@pytest.mark.parametrize("name", TEXTS)
def test_a_run_is_packed(tmp_path: Path, name: str) -> None:
    (tmp_path / "flow.yaml").write_text(f"workflow:\n  id: flow\n  steps:\n{TEXTS[name]}\n")
    ran = stretto("run", "flow.yaml", "--db", "sqlite:///work.db", folder=tmp_path)
    assert ran.code == 0, ran
    kept = [each for each in tmp_path.rglob("*") if "work.db" not in each.name]
    assert len(kept) < STEPS, kept
    for address, numbers in PRINTED.get(name, [("flow/1", list(range(STEPS)))]):
        told = stretto("logs", address, "--db", "sqlite:///work.db", folder=tmp_path)
        assert told.code == 0, told
        assert sorted(int(line.split()[-1]) for line in told.out.splitlines()) == numbers
