"""`undo_on_stop`: a run that is stopped, killed or times out is undone, too."""

import pytest
from tests.flow.bookings import DONE, book, booking, charge, compensation_of, family, undone

from stretto.engine.records import Compensation
from stretto.flow import TraceError, subworkflow, workflow
from stretto.testing.harness import Harness


@workflow(undo_on_stop=True, timeout="1 hour")
def stoppable(n: int) -> int:
    done = subworkflow(booking)(10)
    booked = book(30)
    return charge.after(done, booked)(n)


@pytest.mark.parametrize("ends", ["stop", "kill", "time out"])
def test_a_run_that_is_stopped_killed_or_times_out_is_undone(ends: str) -> None:
    with Harness() as harness:
        DONE.clear()
        harness.holds("charge")
        run = harness.start(stoppable, {"n": 1})
        if ends == "time out":
            harness.advance(hours=2)
        else:
            getattr(run, ends)()
        harness.finish(run)
        assert sorted(undone()) == [(10, "seat 10"), (11, "seat 11"), (30, "seat 30")]
        status = {"stop": "STOPPED", "kill": "FAILED", "time out": "TIMED_OUT"}[ends]
        assert compensation_of(harness, run) == (status, Compensation.COMPENSATED)


def test_a_run_that_is_stopped_without_the_option_stays_as_it_is() -> None:
    with Harness() as harness:
        DONE.clear()
        harness.holds("charge")
        run = harness.start(family, {"n": 1})
        run.stop()
        harness.finish(run)
        assert not undone()
        assert compensation_of(harness, run) == ("STOPPED", None)


def test_undo_on_stop_is_a_switch() -> None:
    assert stoppable.definition.workflow.undo_on_stop is True
    assert family.definition.workflow.undo_on_stop is None

    with pytest.raises(TraceError, match="`undo_on_stop` is 'yes'"):

        @workflow(undo_on_stop="yes")  # type: ignore[call-overload]
        def unclear() -> None:
            charge(1)
