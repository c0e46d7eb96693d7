"""Many rows in every table that grows, so that a statement that looks at too many of them is found out.

Workflows `wf-0` to `wf-99` have the runs in turn; each run has ten attempts; few of them are alive.
"""

from pathlib import Path

from tests.ports.mariadb_bench import run
from tests.ports.postgresql_server import with_query

EPOCH = 1_700_000_000_000
SCRIPT = Path(__file__).with_name("mariadb_rows.sql")
COUNTED = "run, attempt, outbox, work, permit, workflow, run_tag, signal_instance, signal_wait, change_log"


def fill(url: str, attempts: int) -> None:
    """So many attempts, and rows in all other tables, counted by the server when it is done."""
    script = SCRIPT.read_text(encoding="utf-8")
    numbers = {
        "few": min(attempts // 10, 20_000) - 1,
        "runs": attempts // 10 - 1,
        "attempts": attempts - 1,
        "epoch": EPOCH,
    }
    for name, number in numbers.items():
        script = script.replace(f"<{name}>", str(number))
    patient = with_query(url, statement_within="3600000")
    run(patient, script.replace("<filler>", "x" * 200))
    run(patient, f"ANALYZE TABLE {COUNTED}")
