"""I7: run strategies hold whenever somebody is admitted or comes, and a request makes one run."""

from simulation.watch import Change, Complain, Touched
from stretto.engine.records import RunKey
from stretto.model.properties import RunStrategy, RunStrategyRule
from stretto.model.run_config import RunPolicy
from stretto.ports.messages import Stop
from stretto.ports.rows import Phase

REPLACING = frozenset({RunStrategyRule.LAST_ONLY, RunStrategyRule.SERIAL_LATEST_ONLY})


def requests(touched: Touched, complain: Complain) -> None:
    """The run of a request never becomes another one."""
    for (workflow_id, request_id), before, after in touched.of("requests"):
        if before is not None and after is not None and before != after:
            complain(f"I7: the request {request_id} of {workflow_id} made {before}, and then {after}")


def queues(touched: Touched, complain: Complain) -> None:
    """Every workflow whose runs a transaction made, or admitted."""
    changes: dict[str, list[Change]] = {}
    for change in touched.of("runs"):
        if change.after is not None and change.after.root == change.key and not _is_undo(touched, change.key):
            changes.setdefault(change.key.workflow_id, []).append(change)
    for workflow_id, mine in changes.items():
        entry = touched.db.workflows.get(workflow_id)
        if entry is None or entry.row is None:
            complain(f"I7: runs of {workflow_id} were written, and there is no such workflow")
            continue
        if any(_is_admitted(change) for change in mine):
            _admitted(touched, workflow_id, entry.row.strategy, complain)
            _passed(touched, workflow_id, entry.row.strategy, mine, complain)
        new = [change for change in mine if change.before is None]
        if new:
            _came(touched, workflow_id, entry.row.strategy, mine, complain)


def _is_admitted(change: Change) -> bool:
    now = change.after.phase is Phase.ADMITTED
    return now and (change.before is None or change.before.phase is Phase.QUEUED)


def _ends_here(change: Change) -> bool:
    over = change.after.phase is Phase.ENDED
    return over and change.before is not None and change.before.phase is not Phase.ENDED


def slots_of(strategy: RunStrategy) -> int:
    """How many runs of a workflow may run at once."""
    parallel = strategy.rule is RunStrategyRule.PARALLEL
    return strategy.workflow_concurrency if parallel else min(1, strategy.workflow_concurrency)


def _admitted(touched: Touched, workflow_id: str, strategy: RunStrategy, complain: Complain) -> None:
    running = _running(touched, workflow_id)
    if len(running) > slots_of(strategy):
        complain(f"I7: {len(running)} runs of {workflow_id} run at once under {strategy}")
    if strategy.rule is RunStrategyRule.STRICT_SEQUENTIAL and touched.db.standing_failures[workflow_id]:
        complain(f"I7: a run of {workflow_id} was admitted, and the failure of another one stands")


def _passed(
    touched: Touched, workflow_id: str, strategy: RunStrategy, mine: list[Change], complain: Complain
) -> None:
    """Who is paused in the queue is not admitted, and is passed only if the rule does not keep the order."""
    admitted = [change.key for change in mine if _is_admitted(change)]
    complaints = [key for key in admitted if touched.db.runs[key].record.is_paused]
    if complaints:
        complain(f"I7: {complaints} of {workflow_id} were admitted, and are paused")
    paused = touched.db.queues[workflow_id, True]
    if strategy.rule is RunStrategyRule.STRICT_SEQUENTIAL and paused and max(admitted) > paused[0]:
        complain(f"I7: {admitted} of {workflow_id} were admitted before {paused[0]}, which is paused")


def _came(
    touched: Touched, workflow_id: str, strategy: RunStrategy, mine: list[Change], complain: Complain
) -> None:
    """What a new run finds, and what becomes of that."""
    new = [change.key for change in mine if change.before is None]
    open_ones = [key for key in new if touched.db.runs[key].phase is not Phase.ENDED]
    others = [
        key for phase in (Phase.QUEUED, *_RUNNING) for key in touched.db.runs_by_phase[workflow_id, phase]
    ]
    before = [key for key in others if key not in new and not _is_undo(touched, key)]
    before += [change.key for change in mine if _ends_here(change)]
    if strategy.rule is RunStrategyRule.FIRST_ONLY and open_ones and (before or len(open_ones) > 1):
        complain(f"I7: {open_ones} of {workflow_id} came under FIRST_ONLY beside {before}")
    if strategy.rule in REPLACING and len(touched.db.runs_by_phase[workflow_id, Phase.QUEUED]) > 1:
        complain(f"I7: more than one run of {workflow_id} is queued under {strategy.rule}")
    if strategy.rule is RunStrategyRule.LAST_ONLY and open_ones:
        for key in _running(touched, workflow_id):
            if key not in new and not _is_told_to_stop(touched, key):
                complain(f"I7: {key} goes on beside {open_ones} under LAST_ONLY")


def _is_undo(touched: Touched, key: RunKey) -> bool:
    """Whether a run undoes an instance: no strategy is asked whether it may begin."""
    return touched.db.runs[key].record.policy is RunPolicy.UNDO


_RUNNING = (Phase.ADMITTED, Phase.LIVE)


def _running(touched: Touched, workflow_id: str) -> list[RunKey]:
    """Those that the strategy has let run: an undo does not ask it."""
    runs = [key for phase in _RUNNING for key in touched.db.runs_by_phase[workflow_id, phase]]
    return [key for key in runs if not _is_undo(touched, key)]


def _is_told_to_stop(touched: Touched, key: RunKey) -> bool:
    db = touched.db
    bodies = [db.messages[number].body for number in db.messages_to[db.runs[key].group]]
    told = any(isinstance(body, Stop) and body.event.run == key for body in bodies)
    return told or db.runs[key].record.ending is not None
