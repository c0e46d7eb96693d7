"""The answer to a start or a restart: the ids of the new run, and what keeps it from beginning."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, assert_never

from stretto.actions.parts.admission import Admitted
from stretto.engine.records import RunKey
from stretto.engine.run_text import run_text
from stretto.model.properties import RunStrategyRule
from stretto.model.response import Hold, Queued, StartResponse, StartStatus
from stretto.model.status import RunStatus
from stretto.model.timeline import LogEvent
from stretto.ports.admission import SnapshotDetail, TransactionScope, WorkflowDecision, WorkflowSnapshot
from stretto.ports.failures import Fenced
from stretto.ports.rows import Phase
from stretto.ports.store import Store
from stretto.strategies import Accepted, Refused, hold_of

MOST_NAMED: Final = 3  # runs that another one waits for
SOME: Final = SnapshotDetail(queue=MOST_NAMED, paused=MOST_NAMED, running=True, failed=True, most=MOST_NAMED)


class Held(NamedTuple):
    """Why a new run has not begun."""

    detail: str
    queued: Queued | None = None


NOT_HELD: Final[Mapping[RunKey, Held]] = {}


def response_of(
    done: Admitted,
    workflow_id: str,
    version_id: int,
    held: Mapping[RunKey, Held] = NOT_HELD,
    *,
    own_id: bool,
) -> StartResponse:
    """The answer to the only request. Who got its request id from us can only have repeated itself."""
    (answer,) = done.answers
    if isinstance(answer, Refused):
        raise answer.error()
    if isinstance(answer, Fenced):
        raise answer
    status = answer.start_status
    if status is StartStatus.DUPLICATED and own_id:
        status = StartStatus.CREATED
    found = held.get(answer.run)
    message = f"Run [{workflow_id}][{answer.run.instance_id}][{answer.run.run_id}]: {status.value.lower()}"
    return StartResponse(
        workflow_id=workflow_id,
        workflow_version_id=version_id,
        workflow_instance_id=answer.run.instance_id,
        workflow_run_id=answer.run.run_id,
        workflow_uuid=answer.request_id,
        status=status,
        detail=None if found is None else found.detail,
        queued=None if found is None else found.queued,
        timeline_event=LogEvent(
            timestamp=done.now, message=message if found is None else f"{message}, {found.detail}"
        ),
    )


async def look_at_held(store: Store, workflow_id: str, done: Admitted) -> Mapping[RunKey, Held]:
    """The new runs that have not begun, with the reason. Runs that were admitted cost nothing; for the others
    the workflow is read once, however many they are and however long its queue is.
    """
    ended = [each for each in done.answers if isinstance(each, Accepted) and each.status.is_terminal]
    if not (done.queued or ended):
        return NOT_HELD
    scope = TransactionScope(runs=tuple(done.queued), detail=lambda _strategy: SOME)
    looked = await store.transact(workflow_id, scope, lambda snapshot: WorkflowDecision(answer=snapshot))
    snapshot = looked.answer
    found = {each.run: _ended(snapshot, each) for each in ended}
    queued = sorted(run for run in done.queued if _is_queued(snapshot, run))
    for place, run in enumerate(queued):
        behind = len(queued) - place  # itself, and those of the same request that come after it
        ahead = max(0, snapshot.counts.queued - behind)
        found[run] = _queued(snapshot, ahead, [each for each in snapshot.paused if each < run])
    return found


def _is_queued(snapshot: WorkflowSnapshot, run: RunKey) -> bool:
    state = snapshot.runs.get(run)
    return state is not None and state.phase is Phase.QUEUED


def _ended(snapshot: WorkflowSnapshot, answer: Accepted) -> Held:
    """A run that ended at birth: the strategy dropped it, or its parameters could not be evaluated."""
    if answer.status is RunStatus.FAILED:
        return Held(f"failed: {answer.note}")
    first_only = snapshot.strategy.rule is RunStrategyRule.FIRST_ONLY
    blocker = f", blocked by running {_names(snapshot.running, 1)}" if first_only and snapshot.running else ""
    return Held(f"stopped{blocker}: {answer.note}")


def _queued(snapshot: WorkflowSnapshot, ahead: int, paused: Sequence[RunKey]) -> Held:
    counts = snapshot.counts
    hold = hold_of(snapshot.strategy, counts, ahead, len(paused))
    blockers: Sequence[RunKey] = ()
    match hold:
        case Hold.PAUSED:
            detail = "queued, paused: the concurrency of the workflow is 0"
        case Hold.NOTHING:
            detail = "queued, admitted next"
        case Hold.BLOCKED:
            blockers = snapshot.failed
            detail = f"queued, blocked by failed {_names(blockers, counts.failed)}"
        case Hold.BEHIND_PAUSED:
            blockers = paused
            detail = f"queued, blocked by paused {_names(blockers, len(blockers))}"
        case Hold.REPLACING:
            blockers = snapshot.running
            detail = f"queued, blocked by stopping {_names(blockers, counts.running)}"
        case Hold.BUSY:
            blockers = snapshot.running
            detail = f"queued, blocked by running {_names(blockers, counts.running)}"
        case Hold.BEHIND:
            blockers = snapshot.queue[:ahead]
            detail = f"queued, blocked by queued {_names(blockers, ahead)}"
        case _:
            assert_never(hold)
    return Held(detail, Queued(hold=hold, blocked_by=tuple(map(run_text, blockers))))


def _names(runs: Sequence[RunKey], count: int) -> str:
    """`etl/1, etl/2, etl/3 and 17 more`."""
    more = f" and {count - len(runs)} more" if count > len(runs) else ""
    return ", ".join(map(run_text, runs)) + more
