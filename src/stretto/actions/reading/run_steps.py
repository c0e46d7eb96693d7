"""Where the steps of a run stand: from columns, without the documents of their attempts."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from stretto.actions.reading.aggregation import Folded, after_run, runs_below
from stretto.engine.inline_ids import is_inline
from stretto.engine.records import RunKey
from stretto.model.aggregated import StepAggregatedView
from stretto.model.run_config import RunPolicy
from stretto.model.status import StepStatus
from stretto.model.status_codes import ABSENT, STEP_CODES
from stretto.model.workflow import Workflow
from stretto.ports.rows import RunRow, StepState
from stretto.ports.store import Store

States = Mapping[RunKey, Sequence[StepState]]
Made = Mapping[RunKey, Mapping[str, StepStatus]]  # run -> the steps that it created


class RunSteps(msgspec.Struct, frozen=True, kw_only=True):
    """The newest attempt of each step that a run has created, and which steps it covers; None: all."""

    states: Mapping[str, StepState]
    covered: Collection[str] | None = None

    def code(self, step_id: str) -> str:
        """The letter of a step."""
        state = self.states.get(step_id)
        return code_of(step_id, None if state is None else state.status, self.covered)


def code_of(step_id: str, status: StepStatus | None, covered: Collection[str] | None) -> str:
    """The letter of a step in a run that covers these; no status: the run has not created it."""
    if status is not None:
        return STEP_CODES[status]
    return ABSENT if covered is not None and step_id not in covered else STEP_CODES[StepStatus.NOT_CREATED]


async def runs_up_to(store: Store, row: RunRow) -> list[RunRow]:
    """The runs of an instance, the oldest first, up to this one."""
    key = row.key
    return [*await runs_below(store, key.workflow_id, key.instance_id, key.run_id), row]


def needs_earlier(row: RunRow) -> bool:
    """Whether earlier runs say what this one covers; an iteration says it itself."""
    policy = row.record.policy
    whole = policy.is_fresh or policy in {RunPolicy.RESTART_FROM_BEGINNING, RunPolicy.UNDO}
    return not whole and not is_inline(row.key.workflow_id)


def steps_in_run(workflow: Workflow, runs: Sequence[RunRow], states: States) -> RunSteps:
    """The steps of the last of these runs; the others are those before it, if it needs them."""
    row = runs[-1]
    made = {run: _statuses_of(each) for run, each in states.items()} if needs_earlier(row) else {}
    return RunSteps(states=_by_id(states.get(row.key, ())), covered=covered_by(workflow, runs, made))


def covered_by(workflow: Workflow, runs: Sequence[RunRow], made: Made) -> Collection[str] | None:
    """The steps that the last of these runs covers; None: all."""
    row = runs[-1]
    if not needs_earlier(row):
        return row.record.covers
    return _folded(workflow, runs, made).dag


def steps_in_instance(workflow: Workflow, runs: Sequence[RunRow], states: States) -> RunSteps:
    """Each step in the newest of these runs that has something to say of it."""
    if len(runs) == 1:
        return RunSteps(states=_by_id(states.get(runs[0].key, ())))
    made = {run: _statuses_of(each) for run, each in states.items()}
    info = _folded(workflow, runs, made).info
    by_run = {row.key.run_id: _by_id(states.get(row.key, ())) for row in runs}
    newest = {
        step: by_run[view.workflow_run_id][step]
        for step, view in info.step_aggregated_views.items()
        if view.workflow_run_id
    }
    return RunSteps(states=newest)


def _folded(workflow: Workflow, runs: Sequence[RunRow], made: Made) -> Folded:
    """What the last run covers, and the instance after it."""
    first, *later = runs
    found = after_run(workflow, first.record, _views(first.key, made), None)
    for row in later:
        found = after_run(workflow, row.record, _views(row.key, made), found)
    return found


def _views(run: RunKey, made: Made) -> dict[str, StepAggregatedView]:
    return {
        step: StepAggregatedView(workflow_run_id=run.run_id, status=status)
        for step, status in made.get(run, {}).items()
    }


def _statuses_of(states: Iterable[StepState]) -> dict[str, StepStatus]:
    """By the ids of the steps."""
    return {each.key.step_id: each.status for each in states}


def _by_id(states: Iterable[StepState]) -> dict[str, StepState]:
    return {each.key.step_id: each for each in states}
