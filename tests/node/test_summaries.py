"""What lists show of a run is stored with its own row: at once if that changes, else once in a while."""

from typing import Any

import msgspec

from stretto.model.status import StepStatus
from stretto.ports.rows import FirstError
from stretto.ports.run_snapshot import read_run
from stretto.ports.runtime import UserError
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
    return dict(harness.ask(read_run(harness.store, run.key)).summary.counts)  # type: ignore[union-attr]


def written(harness: Harness, run: Any) -> int:
    """When the row of the run was written last."""
    return harness.ask(read_run(harness.store, run.key)).modify_time  # type: ignore[union-attr]


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


LOOP = """
workflow:
  id: loop
  jobs:
    - job: {id: other, type: Python}
    - foreach:
        id: each
        failure_mode: IGNORE_FAILURE
        params: {i: [1, 2]}
        jobs:
          - job: {id: inner, type: Python, retry_policy: {error_retry_limit: 0}}
"""


def first_error(harness: Harness, run: Any) -> FirstError | None:
    return harness.ask(read_run(harness.store, run.key)).summary.first_error  # type: ignore[union-attr]


def test_the_first_error_is_forgotten_when_its_step_is_tried_again() -> None:
    busy = UserError(message="busy")
    with Harness() as h:
        h.does("a", [busy, {}])
        h.does("b", busy)
        run = h.start(CHAIN)
        h.advance(seconds=2)
        assert first_error(h, run) == FirstError(step_id="a", status=S.USER_FAILED, text="busy")
        h.finish(run)
        error = first_error(h, run)
        assert run.status == "FAILED"
        assert error == FirstError(step_id="b", status=S.FATALLY_FAILED, text="busy")


def test_an_error_in_an_iteration_outlives_it_and_a_crash() -> None:
    with Harness() as h:
        h.does("inner", UserError(message="one"))
        h.holds("other")
        run = h.start(LOOP)
        h.advance(seconds=2)
        h.crash()
        h.recover()
        run.step("other").finish()
        assert h.finish(run) == "SUCCEEDED"
        assert first_error(h, run) == FirstError(step_id="inner", status=S.FATALLY_FAILED, text="one")
