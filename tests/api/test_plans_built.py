"""Reads of a run build its plan once or twice, however many steps it has."""

from collections.abc import Iterator

import pytest
from tests.api.serving import Served, noop, served

from stretto.engine.plan import Plan
from stretto.engine.records import RunKey

STEPS = 120
MOST_PLANS = 2
RUN = "/workflows/chain/instances/1/runs/1"
READS = [
    f"{RUN}/steps",
    RUN,
    "/workflows/chain/instances/1/steps",
    "/workflows/chain/instances/1",
    f"{RUN}/why",
]


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served() as made:
        last = STEPS - 1
        made.push("chain", *(noop(f"s{n}", *([f"s{n + 1}"] if n < last else [])) for n in range(STEPS)))
        made.start("chain")
        made.wait_for(RunKey("chain", 1, 1))
        yield made


@pytest.mark.parametrize("path", READS)
def test_a_read_builds_few_plans(server: Served, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    built = []
    init = Plan.__init__

    def count(self: Plan, *given: object, **named: object) -> None:
        built.append(1)
        init(self, *given, **named)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Plan, "__init__", count)
        server.get(path)
    assert len(built) <= MOST_PLANS
