"""What an action would do: it is done on a store that writes nothing, and what it would write is told."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from stretto.actions.parts.dry_store import DryStore
from stretto.actions.parts.finding import find_version, find_workflow
from stretto.actions.reading.aggregation import aggregate
from stretto.actions.reading.lines import AttemptRef, attempt_ref
from stretto.engine.events import CalledBack, RunActed, RunAction, StepActed
from stretto.engine.inline_ids import is_inline
from stretto.engine.opening import dag_of_run
from stretto.engine.records import RunKey, RunRecord
from stretto.model.param import Parameter
from stretto.model.properties import RunStrategy
from stretto.model.response import StartStatus
from stretto.model.status import RunStatus, StepStatus
from stretto.model.timeline import ActionEvent, LogEvent
from stretto.ports.history import FilteredRuns, RunFilter
from stretto.ports.messages import Act, Callback, Letter, Stop
from stretto.ports.paging import Cut
from stretto.ports.run_snapshot import read_newest_run, read_run
from stretto.ports.store import Store

MOST_NAMED: Final = 100  # runs in a list
MOST_LOOKED_AT: Final = 200  # runs below those that would be ended
UNFINISHED: Final = tuple(status for status in RunStatus if not status.is_terminal)
ENDS: Final = (RunAction.STOP, RunAction.KILL)


class RunRef(msgspec.Struct, frozen=True, kw_only=True):
    """Which run."""

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int


class SomeRuns(msgspec.Struct, frozen=True, kw_only=True):
    """How many runs, and the first of them."""

    count: int = 0
    runs: tuple[RunRef, ...] = ()


class Below(msgspec.Struct, frozen=True, kw_only=True):
    """What would end with runs that are ended: their steps that have not ended, and runs that steps below
    them wait for; not `exact`: there are more.
    """

    steps: int = 0
    runs: int = 0
    exact: bool = True


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What an action would do, had it not been a dry run.

    message     What the action would answer.
    status      Of a start or a restart: what would become of it.
    run         The run that would be made, or that the action is about.
    begins      Of a new run: at once, or as soon as the run strategy lets it.
    params      Of a new run, evaluated.
    steps       Of a new run: those that it covers.
    step        The step that would be acted on.
    admitted    Other runs that would begin.
    ended       Queued runs that would end without having begun.
    asked       Runs whose owners would be asked to end them, or to do something to a step.
    below       What would end with them.
    """

    dry_run: bool = True
    action: str
    message: str
    status: StartStatus | None = None
    run: RunRef | None = None
    begins: bool | None = None
    strategy: RunStrategy | None = None
    params: Mapping[str, Parameter] | None = None
    steps: tuple[str, ...] | None = None
    step: AttemptRef | None = None
    admitted: SomeRuns = SomeRuns()
    ended: SomeRuns = SomeRuns()
    asked: SomeRuns = SomeRuns()
    below: Below | None = None


async def preview(store: Store, action: str, work: Callable[[Store], Awaitable[Any]]) -> Preview:
    """Do an action without doing it. What it refuses is refused here, too."""
    dry = DryStore(store)
    answer = await work(dry.store)
    verdicts = [verdict for _standing, verdict in dry.found]
    letters = [*dry.letters, *(letter for verdict in verdicts for letter in verdict.sent)]
    created = [new.record for verdict in verdicts for new in verdict.created]
    admitted = [run for verdict in verdicts for run in verdict.admitted]
    record = created[0] if created else None
    strategies = [standing.strategy for standing, verdict in dry.found if verdict.created]
    asked = list(dict.fromkeys(run for letter in letters for run in _runs(letter)))
    ending = [run for letter in letters for run in _ending(letter)]
    return Preview(
        action=action,
        message=_message(answer),
        status=getattr(answer, "status", None),
        run=_run(answer),
        begins=None if record is None else record.key in admitted,
        strategy=strategies[0] if strategies else None,
        params=None if record is None else record.params,
        steps=None if record is None else await _covered(store, record),
        step=next((attempt_ref(each.attempt) for letter in letters for each in _steps(letter)), None),
        admitted=_some(run for run in admitted if record is None or run != record.key),
        ended=_some(end.run for verdict in verdicts for end in verdict.ended),
        asked=_some(asked),
        below=await _below(store, ending) if ending else None,
    )


def _message(answer: Any) -> str:
    """What people are told: events say it themselves, all other answers hold one."""
    event = answer if isinstance(answer, ActionEvent | LogEvent) else answer.timeline_event
    return event.message or ""


def _run(answer: Any) -> RunRef | None:
    if isinstance(answer, ActionEvent | LogEvent):  # of a whole workflow
        return None
    return _ref(RunKey(answer.workflow_id, answer.workflow_instance_id, answer.workflow_run_id))


def _ref(run: RunKey) -> RunRef:
    return RunRef(
        workflow_id=run.workflow_id, workflow_instance_id=run.instance_id, workflow_run_id=run.run_id
    )


def _some(runs: Iterable[RunKey]) -> SomeRuns:
    found = list(runs)
    return SomeRuns(count=len(found), runs=tuple(_ref(run) for run in found[:MOST_NAMED]))


# ------------------------------------------------------------------------------------------------- letters
def _acted(letter: Letter) -> Iterable[RunActed]:
    body = letter.body
    acted = body.event if isinstance(body, Stop) else body.run if isinstance(body, Act) else None
    return () if acted is None else (acted,)


def _steps(letter: Letter) -> Iterable[StepActed | CalledBack]:
    body = letter.body
    if isinstance(body, Callback):
        return (body.event,)
    return (body.step,) if isinstance(body, Act) and body.step is not None else ()


def _runs(letter: Letter) -> Iterable[RunKey]:
    return (*(each.run for each in _acted(letter)), *(each.attempt.run for each in _steps(letter)))


def _ending(letter: Letter) -> Iterable[RunKey]:
    return (each.run for each in _acted(letter) if each.action in ENDS)


# ----------------------------------------------------------------------------------------- what is touched
async def _covered(store: Store, record: RunRecord) -> tuple[str, ...]:
    """The steps of a run that is not there yet."""
    workflow_id, instance_id, _ = record.key
    known = await find_workflow(store, workflow_id)
    _number, version = await find_version(store, known, str(record.version_id))
    before = None if record.policy.is_fresh else await read_newest_run(store, workflow_id, instance_id)
    state = None if before is None else await aggregate(store, version.workflow, before)
    statuses = None if state is None else state.statuses
    return tuple(dag_of_run(version.workflow, record.policy, statuses, record.restart))


async def _below(store: Store, ending: list[RunKey]) -> Below:
    """What ends with some runs: told from what is kept beside them, and from the trees that they stand in."""
    steps, exact, below = 0, len(ending) <= MOST_NAMED, set[RunKey]()
    rows = [row for run in ending[:MOST_NAMED] if (row := await read_run(store, run)) is not None]
    for row in rows:
        steps += _unfinished(row.summary.counts)
        wanted = RunFilter(statuses=UNFINISHED, correlation_id=row.record.correlation_id)
        page = await store.runs(FilteredRuns(wanted, Cut(most=MOST_LOOKED_AT)))
        exact = exact and not page.after
        parents = {each.key: each.parent.attempt.run for each in page.elements if each.parent is not None}
        for each in page.elements:
            if each.key != row.key and await _is_below(store, each.key, row.key, parents):
                below.add(each.key)
                steps += _unfinished(each.summary.counts)
    return Below(steps=steps, runs=len(below), exact=exact)


def _unfinished(counts: Mapping[StepStatus, int]) -> int:
    return sum(
        count
        for status, count in counts.items()
        if status.is_wakeable and status is not StepStatus.NOT_CREATED
    )


async def _is_below(store: Store, run: RunKey, top: RunKey, parents: Mapping[RunKey, RunKey]) -> bool:
    """Whether a step of `top`, or of something below it, waits for a run. An iteration stands for the run
    around its loop.
    """
    at: RunKey | None = run
    while at is not None and at != top:
        at = parents.get(at)
        if at is not None and at != top and is_inline(at.workflow_id):
            row = await read_run(store, at)
            at = None if row is None else row.root
    return at is not None
