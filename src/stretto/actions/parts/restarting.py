"""What all restarts have in common: from the place that a user names up to the run that can be restarted.

place --up, while a step waits for the run--> an ancestor that has ended: a new run of it
                                          --> an ancestor that runs: a new attempt of its step
"""

from collections.abc import Mapping

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.admission import Admitted, Candidate, admit_all
from stretto.actions.parts.evaluation import FreshRun, evaluate_run, facts_of, unique_number
from stretto.actions.parts.finding import find_newest_run
from stretto.actions.reading.aggregation import aggregate
from stretto.actions.reading.definitions import definition_of
from stretto.definition.graph import Graph
from stretto.definition.restart import waiting_roots
from stretto.engine.opening import plan_of_run, restarted_step
from stretto.engine.records import RunKey, RunRecord
from stretto.engine.restart_path import climb
from stretto.model.initiator import Ancestor, Initiator, ManualInitiator, UpstreamFields
from stretto.model.param import Parameter
from stretto.model.run_config import RestartConfig, RunPolicy
from stretto.model.status import StepStatus
from stretto.model.timeline import LogEvent
from stretto.model.workflow import Workflow
from stretto.params import restarted_params
from stretto.ports.rows import RunRow
from stretto.ports.store import Store
from stretto.strategies import Restart


class Again(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is to be restarted: how, by whom, and under which request id."""

    row: RunRow
    policy: RunPolicy
    config: RestartConfig
    caller: Caller
    request_id: str

    @property
    def goes_on(self) -> bool:
        """It has not ended: only its step on the path can be restarted."""
        return not self.row.record.status.is_terminal

    @property
    def is_end_of_path(self) -> bool:
        """It is what the user named; parameters of the request are for it alone."""
        return len(self.config.restart_path) == 1


def waiting_parent(initiator: Initiator) -> Ancestor | None:
    """The step that waits, or waited, for a run; a run that nobody waits for is restarted by itself."""
    if not isinstance(initiator, UpstreamFields) or initiator.parent.sync is False:
        return None
    return initiator.parent


async def climb_up(store: Store, again: Again) -> Again:
    """The restart seen from the nearest run above, or this one, with which it can begin."""
    while not again.goes_on and (parent := waiting_parent(again.row.record.initiator)) is not None:
        policy, config = climb(again.config, parent)
        row = await find_newest_run(store, parent.workflow_id, parent.instance_id)
        again = msgspec.structs.replace(again, row=row, policy=policy, config=config or again.config)
    return again


async def next_run(store: Store, again: Again) -> Admitted:
    """A new run of an instance that has ended, put to the run strategy of its workflow."""
    workflow = await definition_of(store, again.row)
    state = await aggregate(store, workflow, again.row)
    check_place(workflow, again, state.statuses)
    params = _params(workflow, again, await store.now())
    candidate = Candidate(
        request=Restart(again.request_id, again.row.key.instance_id),
        record=lambda key, now: _record(again, params, key, now),
    )
    return await admit_all(store, workflow.id, [candidate])


def check_place(workflow: Workflow, again: Again, statuses: Mapping[str, StepStatus]) -> None:
    """Refuse a restart that covers no step, or names one behind a step that must be restarted first."""
    covered = plan_of_run(workflow, again.policy, statuses, again.config).numbers
    step = restarted_step(again.config)
    if step is not None:
        edges = {each.id: each.transition.successors for each in workflow.steps if each.id in covered}
        waiting_roots(Graph(edges), step)


def _params(workflow: Workflow, again: Again, now: int) -> Mapping[str, Parameter]:
    record = again.row.record
    given = (again.config.restart_params or {}) if again.is_end_of_path else {}
    merged = restarted_params(record.params, restart=given)
    facts = facts_of(workflow, ManualInitiator(user=again.caller.user), record.owner, again.policy)
    context = FreshRun(facts, number=unique_number(again.request_id))
    return evaluate_run(merged, context, again.request_id, now)


def _record(again: Again, params: Mapping[str, Parameter], key: RunKey, now: int) -> RunRecord:
    """What belongs to the instance stays; the run is the caller's."""
    before, caller = again.row.record, again.caller
    line = f"User [{caller.name}] restarted run {before.key} with policy [{again.policy}]"
    return RunRecord(
        key=key,
        uuid=again.request_id,
        version_id=before.version_id,
        policy=again.policy,
        restart=again.config,
        initiator=ManualInitiator(user=caller.user),
        correlation_id=before.correlation_id,
        owner=before.owner,
        params=params,
        step_run_params=before.step_run_params,
        tags=before.tags,
        create_time=now,
        timeline=(LogEvent(timestamp=now, message=line),),
    )
