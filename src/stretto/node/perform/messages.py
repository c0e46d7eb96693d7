"""Outbox messages that no run in memory can take: a signal to fan out, a trigger that fires, lines of the
change log, and actions on a run that is still queued. Nobody owns such a run: its workflow's lock decides.
"""

from collections.abc import Callable
from typing import Final

from stretto.actions.dequeue import dequeue
from stretto.actions.fire_trigger import Dropped, fire_trigger
from stretto.actions.match_triggers import match_signal
from stretto.actions.parts.evaluation import evaluator_within
from stretto.engine.events import RunActed, RunHeld, SignalCame
from stretto.engine.records import RunRecord, held_line
from stretto.model.errors import NotFound
from stretto.model.event import ChangeEvent, InstanceStatusChanged
from stretto.model.status import InstanceStatus, RunStatus
from stretto.model.timeline import LogEvent
from stretto.node.change_log import NO_LABEL, Label, label_of_root
from stretto.node.perform.runs import Definitions
from stretto.params import ParamLimits
from stretto.params.requests import DEFAULT_LIMITS
from stretto.ports.admission import (
    QueuedEnd,
    QueuedPause,
    TransactionScope,
    WorkflowDecision,
    WorkflowSnapshot,
)
from stretto.ports.commit import Decided
from stretto.ports.failures import Stale
from stretto.ports.hints import Hints
from stretto.ports.messages import FanOut, Fire, Hold, Letter, Log, Message, Signalled, Stop
from stretto.ports.rows import Phase, RunState
from stretto.ports.run_snapshot import read_run
from stretto.ports.signals import SignalWait, read_signal
from stretto.ports.store import Store
from stretto.sel import Limits
from stretto.triggers import satisfies

PAGE: Final = 500  # waits that are told of a signal in one commit
EXPRESSIONS: Final = Limits()


class MessageHandler:
    """Answers with the decision that consumes the message, or None if a transaction has consumed it."""

    def __init__(
        self,
        store: Store,
        hints: Hints,
        definitions: Definitions,
        page: int = PAGE,
        expressions: Limits = EXPRESSIONS,
        params: ParamLimits = DEFAULT_LIMITS,
    ) -> None:
        self._store = store
        self._definitions = definitions
        self._hints = hints
        self._page = page
        self._limits = params
        self._evaluate = evaluator_within(expressions, params)

    async def handle(self, message: Message) -> Decided | None:
        match message.body:
            case FanOut() as body:
                return await self._fan_out(message.id, body)
            case Fire() as body:
                return await self._fire(message.id, body)
            case Log() as body:
                return Decided(consumed=(message.id,), events=await self._log(body))
            case Stop() as body:
                return await end_queued(self._store, message.id, body.event, hints=self._hints)
            case Hold() as body:
                return await hold_queued(self._store, message.id, body.event, hints=self._hints)
            case _:
                raise TypeError(f"a message {message.body.kind} concerns a run")

    async def _fan_out(self, message_id: int, body: FanOut) -> Decided:
        """Tell who waits for a signal, a page at a time; after the last the triggers have their turn. What is
        read here is younger than the announcement: whoever is not among it looks for the signal himself.
        """
        signal = await read_signal(self._store, body.name, body.seq)
        if signal is None:  # forgotten, because of its age
            return Decided(consumed=(message_id,))
        waits = await self._store.signal_waits(body.name, after=body.after, most=self._page)
        sent = tuple(_told(wait, body.seq) for wait in waits if satisfies(signal.params, wait.match_params))
        if len(waits) == self._page:
            last = waits[-1]
            further = FanOut(name=body.name, seq=body.seq, after=(last.attempt, last.index))
            return Decided(sent=sent, continued={message_id: further})
        await match_signal(self._store, signal, hints=self._hints)
        return Decided(sent=sent, consumed=(message_id,))

    async def _fire(self, message_id: int, body: Fire) -> Decided | None:
        found = await fire_trigger(
            self._store, message_id, body, hints=self._hints, evaluate=self._evaluate, limits=self._limits
        )
        return Decided(consumed=(message_id,)) if isinstance(found, Dropped) else None

    async def _log(self, body: Log) -> tuple[ChangeEvent, ...]:
        """What changed outside of a commit. A run that goes on was only to be looked at."""
        run, status = body.run, body.status
        if run is None or status is None or not body.has_status:
            return body.events
        row = await read_run(self._store, run)
        record = None if row is None else row.record
        label = NO_LABEL if record is None else await self._label(record)
        changed = InstanceStatusChanged(
            workflow_id=run.workflow_id,
            workflow_instance_id=run.instance_id,
            workflow_run_id=run.run_id,
            workflow_uuid=None if record is None else record.uuid,
            correlation_id=None if record is None else record.correlation_id,
            depth=None if record is None else record.initiator.depth,
            workflow_name=label.workflow_name,
            tags=label.tags,
            sync_time=body.at,
            old_status=InstanceStatus(body.old.value),
            new_status=InstanceStatus(status.value),
            event_time=body.at,
        )
        return (changed, *body.events)

    async def _label(self, record: RunRecord) -> Label:
        """What the event of a run says beside its ids; its workflow may be deleted."""
        try:
            known = await self._definitions.find(record.key.workflow_id, record.version_id)
        except NotFound:
            return label_of_root(record, None)
        return label_of_root(record, known.workflow)


def _told(wait: SignalWait, seq: int) -> Letter:
    event = SignalCame(attempt=wait.attempt, index=wait.index, signal_id=seq)
    ref = f"{wait.attempt}:{wait.index}:{seq}"
    return Letter(ref=ref, body=Signalled(event=event), to_group=wait.group)


# ----------------------------------------------------------------------------------------------- queued runs
async def end_queued(store: Store, message_id: int, stop: RunActed, *, hints: Hints) -> Decided | None:
    """End a queued run, with the message that asks for it; None: that is done.

    One that has ended, or never was, needs nothing: the answer consumes the message. Stale: it was admitted
    meanwhile, and its owner has to do it.
    """
    return await _change(store, message_id, stop, lambda state, now: _end(state, now, stop.user), hints)


async def hold_queued(store: Store, message_id: int, hold: RunHeld, *, hints: Hints) -> Decided | None:
    """Hold a queued run, or let it go, with the run whose step waits for it; answers as `end_queued`."""
    return await _change(store, message_id, hold, lambda state, now: _hold(state, now, hold), hints)


async def _change(
    store: Store,
    message_id: int,
    event: RunActed | RunHeld,
    decision: Callable[[RunState, int], WorkflowDecision[None]],
    hints: Hints,
) -> Decided | None:
    def decide(snapshot: WorkflowSnapshot) -> WorkflowDecision[None]:
        state = snapshot.runs.get(event.run)
        if state is None or state.phase is Phase.ENDED:
            return WorkflowDecision(answer=None)
        if state.phase is not Phase.QUEUED:
            raise Stale(f"{event.run} is {state.phase}")
        return decision(state, snapshot.now)

    workflow_id = event.run.workflow_id
    try:
        done = await store.transact(
            workflow_id, TransactionScope(runs=(event.run,), consumes=(message_id,)), decide
        )
    except NotFound:
        return Decided(consumed=(message_id,))
    hints.hint(done.hints)
    if done.queued:  # it may go on itself, or no longer be in the way of others
        await dequeue(store, workflow_id, hints=hints)
    return None


def _end(state: RunState, now: int, user: str) -> WorkflowDecision[None]:
    event = LogEvent(timestamp=now, message=f"Stopped by {user} before it could begin")
    return WorkflowDecision(
        answer=None, ended=(QueuedEnd(run=state.key, status=RunStatus.STOPPED, event=event),)
    )


def _hold(state: RunState, now: int, hold: RunHeld) -> WorkflowDecision[None]:
    if state.held is hold.held:
        return WorkflowDecision(answer=None)
    event = LogEvent(timestamp=now, message=held_line(hold.parent, held=hold.held))
    held = QueuedPause(run=state.key, paused=state.paused, held=hold.held, event=event)
    return WorkflowDecision(answer=None, paused=(held,))
