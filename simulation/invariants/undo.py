"""I16: what succeeded in a run that ends badly is undone once, if it can be, or the run says why not.

Looked at in the end, over all rows: of each instance, one run after the other, which successes stand.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from simulation.users import all_steps
from simulation.watch import Complain
from stretto.engine.inline_ids import Loop, is_inline
from stretto.engine.records import AttemptRecord, Compensation, RunKey, RunRecord
from stretto.model.initiator import UpstreamFields
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import AnyStep, SubworkflowStep, TypedStep
from stretto.model.workflow import Definition
from stretto.store.memory.database import Database
from stretto.store.memory.loading import newest_of_each_step

Instance = tuple[str, int]


class Standing(NamedTuple):
    """An instance after all its runs."""

    steps: frozenset[str]  # that succeeded, can be undone, and are not
    runs: tuple[RunKey, ...]
    excused: bool  # a run says that it could not undo all


def undo(definitions: Sequence[Definition], db: Database, complain: Complain) -> None:
    """Check every instance, and every run that undid what is below it."""
    _Looking(definitions, db, complain).look()


def _has_begun(record: RunRecord) -> bool:
    """One that ended in its queue, or with its creation because its strategy drops it, has not: the runs of
    the instance before it stay as they were.
    """
    return record.start_time is not None and record.end_time != record.create_time


class _Looking:
    def __init__(self, definitions: Sequence[Definition], db: Database, complain: Complain) -> None:
        self._db = db
        self._complain = complain
        self._steps: dict[str, AnyStep] = {
            step.id: step for each in definitions for step in all_steps(each.workflow.steps)
        }
        for key in db.loops:
            self._steps |= {step.id: step for step in db.loops[key].steps}
        self._undoes = {
            step.compensation.id: step.id
            for step in self._steps.values()
            if isinstance(step, TypedStep) and step.compensation is not None
        }
        self._stops = {each.workflow.id for each in definitions if each.workflow.undo_on_stop}
        self._inside = self._undo_runs()
        self._standing: dict[Instance, Standing] = {}

    def _undo_runs(self) -> Mapping[RunKey, RunKey]:
        """Run -> the run inside it that undoes it."""
        found: dict[RunKey, RunKey] = {}
        for key in self._db.runs:
            initiator = self._db.runs[key].record.initiator
            if key.workflow_id.startswith(Loop.COMPENSATION.tag) and isinstance(initiator, UpstreamFields):
                above = initiator.parent
                found[RunKey(above.workflow_id, above.instance_id, above.run_id)] = key
        return found

    def look(self) -> None:
        instances: dict[Instance, list[RunKey]] = {}
        for key in sorted(self._db.runs):
            if not key.workflow_id.startswith(Loop.COMPENSATION.tag):
                instances.setdefault(key[:2], []).append(key)
        for instance, runs in instances.items():
            self._standing[instance] = self._fold(runs)
        for standing in self._standing.values():
            self._check(standing)

    def _fold(self, runs: list[RunKey]) -> Standing:
        stands: set[str] = set()
        excused = False
        for key in runs:
            record = self._db.runs[key].record
            undo = key
            if record.policy is not RunPolicy.UNDO:
                for row in newest_of_each_step(self._db, key):
                    (stands.add if self._can_be_undone(row.record) else stands.discard)(row.key.step_id)
                excused |= record.policy is RunPolicy.RESTART_FROM_BEGINNING and is_inline(key.workflow_id)
                if key not in self._inside:
                    continue
                undo = self._inside[key]
            excused |= self._take_back(undo, stands)
        return Standing(frozenset(stands), tuple(runs), excused)

    def _can_be_undone(self, record: AttemptRecord) -> bool:
        step = self._steps.get(record.key.step_id)
        can = isinstance(step, TypedStep) and step.compensation is not None
        done = record.status is StepStatus.SUCCEEDED or record.finish_time is not None or record.delivered
        return can and done

    def _take_back(self, undo: RunKey, stands: set[str]) -> bool:
        """What a run has undone no longer stands; True if it could not undo all."""
        for row in newest_of_each_step(self._db, undo):
            step_id = self._undoes.get(row.key.step_id)
            if step_id is None:
                continue
            if step_id not in stands:
                self._complain(f"I16: {row.key} undoes {step_id}, which does not stand")
            elif row.record.status is StepStatus.SUCCEEDED:
                stands.discard(step_id)
        return self._db.runs[undo].record.status is not RunStatus.SUCCEEDED

    # ------------------------------------------------------------------------------------------------ checks
    def _check(self, standing: Standing) -> None:
        begun = [key for key in standing.runs if _has_begun(self._db.runs[key].record)]
        if not begun:
            return
        key = begun[-1]
        record = self._db.runs[key].record
        if standing.steps and not standing.excused and self._is_to_be_undone(record):
            steps = ", ".join(sorted(standing.steps))
            self._complain(f"I16: {key} ended {record.status}, and {steps} is not undone")
        if record.compensation is Compensation.COMPENSATED or (
            record.policy is RunPolicy.UNDO and record.status is RunStatus.SUCCEEDED
        ):
            for below in self._below(standing.runs):
                under = self._standing.get(below)
                if under is not None and under.steps and not under.excused:
                    steps = ", ".join(sorted(under.steps))
                    self._complain(f"I16: {key} is undone, and {steps} of {below} is not")

    def _is_to_be_undone(self, record: RunRecord) -> bool:
        if record.policy is RunPolicy.UNDO:
            return False
        if record.status is RunStatus.STOPPED:
            return self._db.runs[record.key].root.workflow_id in self._stops
        tolerance = [
            self._db.loops[key].tolerance
            for key in self._db.loops
            if self._db.loops[key].inline_id == record.key.workflow_id
        ]
        return record.status in {RunStatus.FAILED, RunStatus.TIMED_OUT} and not any(tolerance)

    def _below(self, runs: Sequence[RunKey]) -> set[Instance]:
        """The instances right below those runs: iterations, batches, and children that are waited for."""
        found: set[Instance] = set()
        newest: dict[str, AttemptRecord] = {}
        for run in runs:
            for key in self._db.loops_of[run]:
                found |= {each[:2] for each in self._db.runs_of[self._db.loops[key].inline_id]}
            if self._db.runs[run].record.policy is not RunPolicy.UNDO:
                newest |= {row.key.step_id: row.record for row in newest_of_each_step(self._db, run)}
        for step_id, record in newest.items():
            step = self._steps.get(step_id)
            if record.child is not None and isinstance(step, SubworkflowStep) and step.sync:
                found.add(record.child[:2])
        return found
