"""What lists show of a run is stored with its own row: at once if that changes, else once in a while."""

from typing import Any

import msgspec

from stretto.model.status import StepStatus
from stretto.testing.harness import RESTFUL, Harness

S = StepStatus
CHAIN = """
workflow:
  id: chain
  dag: sequential
  jobs:
    - job: {id: a, type: Python}
    - job: {id: b, type: Python}
    - job: {id: c, type: Python}
"""


def shown(harness: Harness, run: Any) -> dict[StepStatus, int]:
    """The counts that are stored."""
    return dict(harness.ask(harness.store.run(run.key)).summary.counts)  # type: ignore[union-attr]


def written(harness: Harness, run: Any) -> int:
    """When the row of the run was written last."""
    return harness.ask(harness.store.run(run.key)).modify_time  # type: ignore[union-attr]


def test_a_step_that_begins_does_not_write_the_run() -> None:
    with Harness() as h:
        h.holds("a", "b", "c")
        run = h.start(CHAIN)
        h.advance(seconds=10)
        before = written(h, run)
        run.step("a").finish()
        h.advance(seconds=0.2)
        at = written(h, run)
        assert at > before  # the last time is long ago
        run.step("b").finish()
        assert written(h, run) == at
        assert shown(h, run)[S.SUCCEEDED] == 1
        assert run.steps == {"a": "SUCCEEDED", "b": "SUCCEEDED", "c": "RUNNING"}


def test_what_is_owed_is_stored_a_little_later() -> None:
    with Harness() as h:
        h.holds("c")
        run = h.start(CHAIN)
        h.advance(seconds=2)
        assert shown(h, run) == {S.SUCCEEDED: 2, S.RUNNING: 1}
        at = written(h, run)
        h.advance(seconds=30)
        assert written(h, run) == at  # once


def test_a_run_that_owes_is_not_parked() -> None:
    with Harness(settings=msgspec.structs.replace(RESTFUL, park_after=100)) as h:
        h.holds("c")
        run = h.start(CHAIN)
        h.advance(seconds=3)
        assert shown(h, run) == {S.SUCCEEDED: 2, S.RUNNING: 1}


def test_after_a_crash_the_next_owner_pays() -> None:
    with Harness() as h:
        h.holds("c")
        run = h.start(CHAIN)
        assert shown(h, run) != {S.SUCCEEDED: 2, S.RUNNING: 1}
        h.crash()
        h.recover()
        h.advance(seconds=1)
        assert shown(h, run) == {S.SUCCEEDED: 2, S.RUNNING: 1}


def test_who_leaves_pays_first() -> None:
    with Harness() as h:
        h.holds("c")
        run = h.start(CHAIN)
        assert shown(h, run) != {S.SUCCEEDED: 2, S.RUNNING: 1}
        h._process.node.stop()  # type: ignore[union-attr]
        h._process.happened()  # type: ignore[union-attr]
        h.advance(seconds=0.1)
        assert shown(h, run) == {S.SUCCEEDED: 2, S.RUNNING: 1}
