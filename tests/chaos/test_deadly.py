"""How a run that kills its owner must be dealt with."""

from pathlib import Path

import msgspec
import pytest
from chaos.deadly import DEADLY, deadly_violations
from chaos.nodes import Death, Nodes
from tests.chaos.test_judging import row_of

from stretto.engine.records import RunKey
from stretto.model.status import RunStatus
from stretto.ports.rows import RunRow

LEFT = row_of(RunKey(DEADLY, 1, 1), RunStatus.IN_PROGRESS)
SET_ASIDE = msgspec.structs.replace(LEFT, quarantined="its owners died")


@pytest.mark.parametrize(
    ("row", "deaths", "found"),
    [
        (None, 0, None),
        (SET_ASIDE, 4, None),
        (SET_ASIDE, 3, None),
        (SET_ASIDE, 5, "was set aside after 5 deaths, and not 4"),
        (SET_ASIDE, 0, "has killed nobody"),
        (LEFT, 4, "was not set aside after 4 deaths"),
    ],
)
def test_a_planted_run(row: RunRow | None, deaths: int, found: str | None) -> None:
    violations = list(deadly_violations(row, [Death(pid, 1.0) for pid in range(deaths)]))
    assert not violations if found is None else found in violations[0]


def test_who_was_killed_by_a_run_did_not_end_by_itself(tmp_path: Path) -> None:
    (tmp_path / "deadly.txt").write_text("11 1.5\n12 2.5\n")
    nodes = Nodes(tmp_path, "sqlite:///x", "short", (), None)
    assert nodes.killed_by_a_run == [Death(11, 1.5), Death(12, 2.5)]
