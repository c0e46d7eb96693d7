"""A process that stands still beyond its lease, while launches wait in its runtime: another one takes over
its runs, and the first begins none of that work when it wakes up.
"""

import signal
from pathlib import Path

import httpx
import pytest
from tests.acceptance.processes import PATIENCE, until
from tests.acceptance.serving import Serving
from tests.acceptance.test_run_on_servers import postgresql

__all__ = ["postgresql"]  # a fixture

STEPS = 40  # more than the Shell runtime begins at once
SCRIPT = 'echo "$$STRETTO_STEP $$STRETTO_LAUNCH" >> {ledger}; sleep 0.5'


def workflow(ledger: Path) -> str:
    script = SCRIPT.format(ledger=ledger)
    steps = "".join(
        f"    - job: {{id: s{each}, type: Shell, command: '{script}'}}\n" for each in range(STEPS)
    )
    return f"workflow:\n  id: wide\n  owner: ann\n  dag: parallel\n  jobs:\n{steps}"


def begins(ledger: Path) -> dict[str, list[str]]:
    """The launches of each step, in the order in which they began."""
    found: dict[str, list[str]] = {}
    for line in ledger.read_text().splitlines() if ledger.exists() else []:
        step, launch = line.split(maxsplit=1)
        found.setdefault(step, []).append(launch)
    return found


def status(server: Serving) -> str:
    return str(server.get("/api/v3/workflows/wide/instances/1/runs/1")["status"])


@pytest.mark.prove
def test_a_process_that_wakes_up_begins_nothing_that_another_one_has_taken_over(
    postgresql: str, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    (tmp_path / "wide.yaml").write_text(workflow(ledger))
    with Serving("--load", "wide.yaml", folder=tmp_path, database=postgresql) as first:
        first.start("wide")
        until(lambda: 0 < len(begins(ledger)) < STEPS, "some launches wait for a slot")
        first.send(signal.SIGSTOP)
        with Serving(folder=tmp_path, database=postgresql) as second:
            until(lambda: status(second) == "SUCCEEDED", "the second process has done the work")
            done = begins(ledger)
            first.send(signal.SIGCONT)
            until(lambda: httpx.get(f"{first.url}/ready", timeout=PATIENCE).is_success, "the first is back")
            assert begins(ledger) == done
            second.start("wide")
            until(
                lambda: second.get("/api/v3/workflows/wide/instances/2/runs/1").get("status") == "SUCCEEDED",
                "both go on",
            )
            assert second.stopped()[0] == 0
        assert first.stopped()[0] == 0
    assert all(launches == sorted(launches) for launches in begins(ledger).values())
