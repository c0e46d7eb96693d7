"""What holds after every decision, whatever happened. Every test of the engine runs with these."""

from copy import copy
from typing import TYPE_CHECKING, Any

from simulation.flows import RUN_REACH, STEP_REACH, Key, caches_of, flows_of, loaded, records_of

from stretto.engine.decide import Decision
from stretto.engine.flow import Flow, is_active
from stretto.engine.records import AttemptRecord, Record, RunRecord
from stretto.engine.turn import TIME_FIELDS
from stretto.model.status import RunStatus, StepStatus

if TYPE_CHECKING:
    from tests.engine.driver import Driver

TIMES = tuple(dict.fromkeys(TIME_FIELDS.values()))


class Watchman:
    """Compares a run before and after each decision."""

    def __init__(self, driver: "Driver") -> None:
        self._driver = driver
        self._before: dict[Key, Record] = {}

    def before(self) -> None:
        self._before = {key: copy(record) for key, record in records_of(self._driver.flow).items()}

    def after(self, decision: Decision) -> None:
        flow = self._driver.flow
        now = records_of(flow)
        changed = {(type(record), record.key): record for record in decision.changes}
        assert len(changed) == len(decision.changes), "a record is listed once"
        missed = [
            key
            for key, record in now.items()
            if self._before.get(key) != record and changed.get(key) is not record
        ]
        assert not missed, f"changed, and not listed: {missed}"
        gone = [key for key in self._before if key not in now and key not in changed]
        gone = [key for key in gone if not (key[0] is AttemptRecord and self._is_old(key))]
        assert not gone, f"left memory, and not listed: {gone}"
        assert set(flow.tree.live) == {each.run.key for each in flows_of(flow)}
        assert caches_of(loaded(flow)) == caches_of(flow)
        assert decision.before == [
            getattr(self._before.get((type(record), record.key)), "status", None)
            for record in decision.changes
        ]
        for key, record in changed.items():
            self._check_record(self._before.get(key), record)
        for each in flows_of(flow):
            self._check_flow(each)

    def _is_old(self, key: Key) -> bool:
        """An attempt whose run left memory with nothing more to say, such as one that ended long ago."""
        return key[1].run not in self._driver.tree.live

    def _check_record(self, before: Any, record: Any) -> None:
        if isinstance(record, RunRecord):
            start = before.status if before is not None else RunStatus.CREATED
            assert record.status in RUN_REACH.get(start, {start}), f"{record.key}: {start} -> {record.status}"
            assert not record.status.is_terminal or record.end_time is not None
        elif isinstance(record, AttemptRecord):
            start = before.status if before is not None else StepStatus.CREATED
            assert record.status in STEP_REACH.get(start, {start}), (
                f"{record.key}: {start} -> {record.status}"
            )
            self._check_times(before, record)
            if record.status.is_terminal:
                assert not record.permits
                assert record.launch is None
                assert record.ending is None
            assert (record.edges is not None) <= record.status.is_complete
            if before is None and not record.manual:
                self._check_predecessors(record)

    def _check_times(self, before: AttemptRecord | None, record: AttemptRecord) -> None:
        times = [
            time for name in TIMES if name != "pause_time" and (time := getattr(record, name)) is not None
        ]
        assert times == sorted(times), record
        assert times[-1] <= self._driver.now
        for name in TIMES:
            old = getattr(before, name) if before is not None else None
            assert old is None or name == "end_time" or getattr(record, name) == old

    def _check_predecessors(self, record: AttemptRecord) -> None:
        flow = self._driver.tree.live.get(record.key.run)
        if flow is None or any(each is not None and each.superseded for each in flow.attempts):
            return
        index = flow.plan.numbers[record.key.step_id]
        for step in flow.plan.steps:
            if any(edge.target == index for edge in step.edges):
                other = flow.attempts[step.index]
                assert other is not None
                assert other.status.is_complete, f"{record.key} began before {other.key} was complete"

    def _check_flow(self, flow: Flow) -> None:
        assert flow.active >= 0
        assert all(count >= 0 for count in flow.counts.values())
        if flow.is_over:
            assert not flow.active
            assert not any(flow.children.values())
            assert not any(record is not None and is_active(record) for record in flow.attempts)
        elif flow.run.start_time is not None:
            can_go_on = flow.active or flow.held or flow.run.is_paused
            assert can_go_on, f"{flow.run.key} is not over, and nothing can happen in it"
