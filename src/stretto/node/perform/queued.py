"""A run that must end while it is still in its queue: nobody owns it there; its workflow's lock decides."""

from stretto.engine.events import RunActed
from stretto.engine.records import RunKey
from stretto.model.errors import NotFound
from stretto.model.status import RunStatus
from stretto.model.timeline import LogEvent
from stretto.ports.admission import Question, QueuedEnd, Standing, Verdict
from stretto.ports.commit import Decided
from stretto.ports.failures import Stale
from stretto.ports.rows import Phase
from stretto.ports.store import Store


async def end_queued(store: Store, message_id: int, stop: RunActed) -> Decided | None:
    """End a queued run, with the message that asks for it; None: that is done.

    One that has ended, or never was, needs nothing: the answer consumes the message. Stale: it was admitted
    meanwhile, and its owner has to do it.
    """
    question = Question(runs=(stop.run,), consumes=(message_id,))
    try:
        await store.transact(stop.run.workflow_id, question, lambda standing: _ended(standing, stop))
    except NotFound:
        return Decided(consumed=(message_id,))
    return None


def _ended(standing: Standing, stop: RunActed) -> Verdict[None]:
    state = standing.runs.get(stop.run)
    if state is None or state.phase is Phase.ENDED:
        return Verdict(answer=None)
    if state.phase is not Phase.QUEUED:
        raise Stale(f"{stop.run} is {state.phase}")
    return Verdict(answer=None, ended=(_end(stop.run, standing.now, stop.user),))


def _end(run: RunKey, now: int, user: str) -> QueuedEnd:
    event = LogEvent(timestamp=now, message=f"Stopped by {user} before it could begin")
    return QueuedEnd(run=run, status=RunStatus.STOPPED, event=event)
