"""Ghosts: events that come too late, twice, or to the wrong one. A run must not heed them.

A timer may ring just before what it was for has gone, an answer may be lost and given again, a message may
outlive what it is about. What of that comes by itself depends on luck. So in some worlds ghosts are put into
the inbox of a run, in front of what is there, right after it was decided about: whatever status an attempt is
in, sooner or later each kind of event meets it.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

from simulation.counters import label_of
from stretto.engine import events as happened
from stretto.engine.decide import COMMANDS, Decision
from stretto.engine.early_answers import is_early
from stretto.engine.events import Event
from stretto.engine.flow import Flow
from stretto.engine.plan import Kind
from stretto.engine.records import AttemptKey, AttemptRecord, RunKey, WakeReason
from stretto.model.actions import StepAction
from stretto.model.artifact import DefaultArtifact
from stretto.model.errors import StrettoError
from stretto.model.rollup import RollupOverview
from stretto.model.status import RunStatus, StepStatus
from stretto.node.entry import Entry, Item

S = StepStatus
Asked = tuple[AttemptKey, AttemptRecord | None, Kind]
Make = Callable[[Random, Asked], Event | None]
AT_ONCE: Final = 3  # kinds that are tried at one attempt
SELDOM: Final = frozenset(  # here all are tried
    {
        *("CREATED", "PAUSED", "WAITING_FOR_SIGNALS", "UNSATISFIED", "SKIPPED", "COMPLETED_WITH_ERROR"),
        *("TIMEOUT_FAILED", "INTERNALLY_FAILED", "TIMED_OUT"),
    }
)
STRIKES: Final = 4  # in a harsh world
ALWAYS: Final = ("PAUSED", "WAITING_FOR_SIGNALS")  # it strikes there, too
LONG_AGO: Final = 1  # a moment that nothing is due at
NOBODY: Final = RunKey("nobody", 1, 1)
NEEDED: Final = ("unique", "ghost")  # a value that can be fetched, and that nobody needs
# After these a run looks again at what it waits for; others must leave no trace.
LOOKS: Final = (happened.Fetched, happened.Evaluated, happened.Resumed, happened.BreakpointGone)
HARSH: Final = (happened.Faulted, happened.RunFaulted)
# Where a harsh world strikes: what is seldom met is chosen more often.
VICTIMS: Final[Mapping[str, int]] = {
    "CREATED": 16,
    "EVALUATING_PARAMS": 3,
    "WAITING_FOR_PERMITS": 2,
    "STARTING": 1,
    "RUNNING": 1,
    "FINISHING": 10,
    "USER_FAILED": 8,
    "PLATFORM_FAILED": 4,
    "TIMEOUT_FAILED": 20,
    "run IN_PROGRESS": 1,
    "run PAUSED": 10,
}


class GhostlyError(Exception):
    """A fault of our own, in the middle of a decision."""


class Ghosts:
    """Those of one world. In a harsh one an attempt, or a run, is told that it can not go on."""

    def __init__(
        self,
        dice: Random,
        entry_of: Callable[[Flow], Entry | None],
        complain: Callable[[str], None],
        *,
        harsh: bool,
    ) -> None:
        self._dice = dice
        self._entry_of = entry_of
        self._complain = complain
        self._sent: dict[int, Event] = {}
        self._met: dict[str, int] = {}  # how often they came to each status
        chosen = dice.choices(list(VICTIMS), list(VICTIMS.values()), k=STRIKES)
        self._victims = {*ALWAYS, *chosen} if harsh else set()
        self._breaks_in = dice.randrange(120) if harsh else -1  # decisions
        self.count = 0

    def haunting(self, decide: Callable[..., Decision]) -> Callable[..., Decision]:
        """The same decisions, and ghosts between them."""

        def haunted(flow: Flow, event: Event, now: int) -> Decision:
            if self._sent.pop(id(event), None) is None:
                self._breaks_in -= 1
                if self._breaks_in == 0:
                    raise GhostlyError("a ghost was here")
                decision = decide(flow, event, now)
                self._haunt(flow, [each for each in decision.changes if isinstance(each, AttemptRecord)])
                return decision
            return self._meet(decide, flow, event, now)

        return haunted

    def _meet(self, decide: Callable[..., Decision], flow: Flow, event: Event, now: int) -> Decision:
        before = label_of(flow, event)
        fitting = self._still(flow, event)
        if fitting is None:
            return Decision([], [], [])
        ends = _has_end_to_come(flow, fitting)
        try:
            decision = decide(flow, fitting, now)
        except StrettoError:
            if isinstance(event, COMMANDS):
                raise
            self._complain(f"a ghost, {event}, was refused by {before}")
            raise
        heeded = decision.changes or decision.effects
        if heeded and not ends and not isinstance(event, (*LOOKS, *HARSH)):
            self._complain(f"{before} heeded a ghost: {event}")
        return decision

    def _still(self, flow: Flow, event: Event) -> Event | None:
        """Made again: since it was sent it may have become something that could be true."""
        key: AttemptKey | None = getattr(event, "attempt", None)
        found = None if key is None else flow.tree.live.get(key.run)
        if key is None or found is None:
            return event
        if isinstance(event, happened.Faulted):  # to what is being ended, it would say that the work is over
            attempt = found.attempt(key)
            return None if attempt is not None and attempt.ending is not None else event
        return MAKERS[type(event)](self._dice, _asked(found, key))

    # --------------------------------------------------------------------------------------------- choosing
    def _haunt(self, flow: Flow, changed: list[AttemptRecord]) -> None:
        entry = self._entry_of(flow)
        if entry is None:
            return
        live = flow.tree.live
        keys = [each.key for each in changed if each.key.run in live]
        found = self._dice.choice(list(live.values()))
        if found.plan.steps:
            step = self._dice.choice(found.plan.steps)
            record = found.attempts[step.index]
            keys.append(AttemptKey(found.run.key, step.id, 1) if record is None else record.key)
        for key in keys:
            for event in self._at_attempt(live[key.run], key):
                self._put(entry, event)
        for event in self._at_run(flow):
            self._put(entry, event)

    def _put(self, entry: Entry, event: Event) -> None:
        self.count += 1
        self._sent[id(event)] = event
        entry.inbox.appendleft(Item(event))

    def _comes(self, label: str) -> bool:
        """Often to a status that was not met yet in this world, and then less and less."""
        times = self._met.get(label, 0)
        if self._dice.random() * (1 + times) > 0.8:
            return False
        self._met[label] = times + 1
        return True

    def _at_attempt(self, flow: Flow, key: AttemptKey) -> list[Event]:
        asked = _asked(flow, key)
        label = label_of(flow, happened.Resumed(attempt=key))
        made: list[Event] = []
        if label in self._victims and self._dice.random() < 0.7:
            self._victims.discard(label)
            made.append(happened.Faulted(attempt=key, message="a ghost was here"))
        if self._comes(label):
            most = len(MAKERS) if label in SELDOM else AT_ONCE
            events = [MAKERS[each](self._dice, asked) for each in self._dice.sample(list(MAKERS), most)]
            made += [each for each in events if each is not None]
        return made

    def _at_run(self, flow: Flow) -> list[Event]:
        run = flow.run
        label = f"run {run.status}"
        made: list[Event] = []
        if flow.is_over or (label in self._victims and self._dice.random() < 0.5):
            self._victims.discard(label)
            made.append(happened.RunFaulted(run=run.key, message="a ghost was here"))
        if run.start_time is not None or flow.is_over:
            made.append(happened.Launched(run=run.key))
        action = happened.RunAction.PAUSE if run.paused else happened.RunAction.RESUME
        made.append(happened.RunActed(run=run.key, action=action, user="a ghost"))
        made.append(happened.RunHeld(run=run.key, held=run.held, parent=run.key))
        made.append(happened.RunTimeDue(run=run.key, due=LONG_AGO))
        return made if self._comes(label) or made[0].__class__ in HARSH else []


# --------------------------------------------------------------------------------------------------- events
def _asked(flow: Flow, key: AttemptKey) -> Asked:
    plan = flow.plan.steps[flow.plan.numbers[key.step_id]]
    return key, flow.attempts[plan.index], plan.kind


def _old_launch(record: AttemptRecord | None) -> int:
    """Of a launch that is not the recorded one."""
    return 0 if record is None or record.launch is None else record.launch - 1


def _status(asked: Asked) -> StepStatus:
    return S.NOT_CREATED if asked[1] is None else asked[1].status


def _reported(dice: Random, asked: Asked) -> Event:
    state = dice.choice(list(happened.ResultState))
    return happened.Reported(attempt=asked[0], launch=_old_launch(asked[1]), state=state)


def _output_told(_dice: Random, asked: Asked) -> Event | None:
    """What is told of work under way is kept, whoever tells it."""
    works = asked[1] is not None and asked[1].launch is not None
    return None if works else happened.OutputTold(attempt=asked[0], artifacts={"told": DefaultArtifact()})


def _work_lost(_dice: Random, asked: Asked) -> Event:
    return happened.WorkLost(attempt=asked[0], launch=_old_launch(asked[1]))


def _functions_missing(_dice: Random, asked: Asked) -> Event:
    return happened.FunctionsMissing(attempt=asked[0], launch=_old_launch(asked[1]), functions=("f0",))


def _functions_found(_dice: Random, asked: Asked) -> Event:
    return happened.FunctionsFound(attempt=asked[0], launch=_old_launch(asked[1]))


def _woken(dice: Random, asked: Asked) -> Event:
    return happened.Woken(attempt=asked[0], reason=dice.choice(list(WakeReason)), due=LONG_AGO)


def _step_time_due(_dice: Random, asked: Asked) -> Event:
    return happened.StepTimeDue(attempt=asked[0], due=LONG_AGO)


def _granted(_dice: Random, asked: Asked) -> Event | None:
    return None if _status(asked) is S.WAITING_FOR_PERMITS else happened.Granted(attempt=asked[0])


def _signal_came(dice: Random, asked: Asked) -> Event:
    """Who waits is told of a signal that it does not wait for."""
    index = 99 if _status(asked) is S.WAITING_FOR_SIGNALS else dice.randrange(2)
    return happened.SignalCame(attempt=asked[0], index=index, signal_id=1)


def _fetched(_dice: Random, asked: Asked) -> Event:
    return happened.Fetched(attempt=asked[0], values={})


def _evaluated(_dice: Random, asked: Asked) -> Event:
    """Who waits for a value is told that another one is missing, too."""
    waits = asked[1] is not None and asked[1].asked_at is not None
    return happened.Evaluated(attempt=asked[0], missing=(NEEDED,) if waits else ())


def _announced(_dice: Random, asked: Asked) -> Event | None:
    return None if _status(asked) is S.FINISHING else happened.SignalsAnnounced(attempt=asked[0])


def _breakpoint_gone(_dice: Random, asked: Asked) -> Event:
    return happened.BreakpointGone(attempt=asked[0])


def _may_be_for_it(asked: Asked) -> bool:
    """Whether news of a child would be believed, because the attempt does not know its own yet."""
    return _status(asked) is S.RUNNING and (asked[1] is None or asked[1].child is None)


def _child_started(_dice: Random, asked: Asked) -> Event | None:
    if _may_be_for_it(asked):
        return None
    return happened.ChildStarted(attempt=asked[0], child=NOBODY, version_id=1, uuid="a ghost")


def _child_refused(_dice: Random, asked: Asked) -> Event | None:
    if _may_be_for_it(asked):
        return None
    return happened.ChildRefused(attempt=asked[0], message="a ghost")


def _child_ended(_dice: Random, asked: Asked) -> Event | None:
    if _may_be_for_it(asked):
        return None
    return happened.ChildEnded(attempt=asked[0], child=NOBODY, status=RunStatus.FAILED)


def _child_counted(_dice: Random, asked: Asked) -> Event:
    rollup = RollupOverview(total_leaf_count=1)
    return happened.ChildCounted(attempt=asked[0], child=NOBODY, version=1 << 60, rollup=rollup)


def _called_back(dice: Random, asked: Asked) -> Event | None:
    """An answer counts while a Wait step asks, and is kept for one that will."""
    key, record, kind = asked
    if kind is Kind.WAIT and (_status(asked) is S.RUNNING or is_early(record, key.number)):
        return None
    return happened.CalledBack(attempt=asked[0], approved=dice.random() < 0.5)


def _step_acted(_dice: Random, asked: Asked) -> Event:
    """Nobody can pause an attempt by itself: it is refused in every status."""
    return happened.StepActed(attempt=asked[0], action=StepAction.PAUSE, user="a ghost")


def _resumed(_dice: Random, asked: Asked) -> Event:
    return happened.Resumed(attempt=asked[0])


def _faulted(_dice: Random, asked: Asked) -> Event | None:
    """Where it does no harm: before an attempt was made, and after it has ended for good."""
    status = _status(asked)
    over = status is S.NOT_CREATED or (status.is_terminal and not status.is_retryable)
    return happened.Faulted(attempt=asked[0], message="a ghost was here") if over else None


MAKERS: Final[Mapping[type[Event], Make]] = {
    happened.Reported: _reported,
    happened.OutputTold: _output_told,
    happened.WorkLost: _work_lost,
    happened.FunctionsMissing: _functions_missing,
    happened.FunctionsFound: _functions_found,
    happened.Woken: _woken,
    happened.StepTimeDue: _step_time_due,
    happened.Granted: _granted,
    happened.SignalCame: _signal_came,
    happened.Fetched: _fetched,
    happened.Evaluated: _evaluated,
    happened.SignalsAnnounced: _announced,
    happened.BreakpointGone: _breakpoint_gone,
    happened.ChildStarted: _child_started,
    happened.ChildRefused: _child_refused,
    happened.ChildEnded: _child_ended,
    happened.ChildCounted: _child_counted,
    happened.CalledBack: _called_back,
    happened.StepActed: _step_acted,
    happened.Resumed: _resumed,
    happened.Faulted: _faulted,
}


def _has_end_to_come(flow: Flow, event: Any) -> bool:
    """Whether what is told to a run ends it first, or a run around it, because an end is on its way there.
    A run that is being undone is not reached by an end, and a run around it may be.
    """
    key: RunKey = event.attempt.run if hasattr(event, "attempt") else event.run
    found = flow.tree.live.get(key)
    while found is not None and found.end_to_come is None:
        around = found.loop_around
        found = None if around is None else around[0]
    return found is not None
