"""What the outside must do, after the commit. Each may be repeated after a crash."""

from collections.abc import Mapping
from typing import Any

import msgspec

from stretto.engine.records import AttemptKey, RunKey, WakeReason
from stretto.model.param import ParamDefinition, Parameter
from stretto.model.run_config import RestartConfig, RunPolicy
from stretto.model.signal_instance import SignalDependencies
from stretto.model.status import RunStatus
from stretto.model.step import AnyStep
from stretto.model.workflow import Criticality


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all effects."""


class StartWork(Effect, frozen=True, kw_only=True):
    """Ask the runtime to launch the attempt's work."""

    attempt: AttemptKey
    launch: int
    step: AnyStep
    params: Mapping[str, Parameter]


class LookAtWork(Effect, frozen=True, kw_only=True):
    """Ask the runtime how the work goes."""

    attempt: AttemptKey
    launch: int


class TerminateWork(Effect, frozen=True, kw_only=True):
    """Ask the runtime to end the work; its next answer ends the attempt."""

    attempt: AttemptKey
    launch: int


class SetTimer(Effect, frozen=True, kw_only=True):
    """Bring the event back when the time has come."""

    attempt: AttemptKey | None
    run: RunKey
    due: int
    reason: WakeReason | None  # None: the timeout


class AskPermits(Effect, frozen=True, kw_only=True):
    """Queue for all of these tags at once; the limit of a tag is its row's, else the one given here."""

    attempt: AttemptKey
    limits: Mapping[str, int | None]
    criticality: str | None
    since: int
    rates: Mapping[str, str] = {}  # of tags that have one by the definition
    taken: bool = False  # the attempt goes on at once; the commit refuses the decision if there is no room


class UsePermits(Effect, frozen=True, kw_only=True):
    """Attempts took these tags one after the other, and each ended at once; the commit checks the room."""

    limits: Mapping[str, int | None]
    attempts: int = 1


class ReleasePermits(Effect, frozen=True, kw_only=True):
    """The attempt has ended: its permits are gone, others may have them."""

    attempt: AttemptKey
    tags: tuple[str, ...]


class WatchSignals(Effect, frozen=True, kw_only=True):
    """Look for instances of the signals that the attempt waits for, now and later."""

    attempt: AttemptKey
    dependencies: SignalDependencies


class AnnounceSignals(Effect, frozen=True, kw_only=True):
    """Announce the signals of a step whose work is done; then it has succeeded. The same name with the same
    parameters is the same signal, whoever announces it: it is announced once.
    """

    attempt: AttemptKey
    outputs: tuple[Mapping[str, Any], ...]  # each with its name, params and payload
    step_instance_id: int
    carries_payload: bool = True  # False: the signals tell where they come from, and nothing else


class Fetch(Effect, frozen=True, kw_only=True):
    """Read what an evaluation is missing."""

    attempt: AttemptKey
    keys: tuple[object, ...]


class EvaluateElsewhere(Effect, frozen=True, kw_only=True):
    """An expression is too long for a decision: evaluate `elsewhere.question_of` where it can be killed."""

    attempt: AttemptKey


class LookForBreakpoint(Effect, frozen=True, kw_only=True):
    """The attempt is PAUSED: does a breakpoint (still) stand?"""

    attempt: AttemptKey


class ChildRestart(msgspec.Struct, frozen=True, kw_only=True):
    """How a child is restarted. With INCOMPLETE and nothing incomplete it runs from the beginning."""

    child: RunKey  # the instance; of its runs the newest that is known here
    policy: RunPolicy
    config: RestartConfig | None  # None: it is not on the path of the restart


class StartChild(Effect, frozen=True, kw_only=True):
    """Start the workflow that a subworkflow step names, once for this attempt; or restart one that it had.

    If that instance is not there any more, a new one is started; one that nobody waits for and that has not
    ended goes on beside the new one.
    """

    attempt: AttemptKey
    workflow_id: str
    version: str
    sync: bool
    params: Mapping[str, ParamDefinition]
    tree_limit: int = 0  # leaf steps of the whole tree at once; 0: no limit
    criticality: Criticality | None = None  # of the run that asks for it
    held: bool = False  # the run that asks for it is paused: it does not begin until it is let go
    again: ChildRestart | None = None
    undo: RunKey | None = None  # start nothing but the run that undoes this one


class StopChild(Effect, frozen=True, kw_only=True):
    """The step that waits for a child is being ended: so must the child be."""

    attempt: AttemptKey
    child: RunKey | None  # None: not known yet; look it up by the attempt
    user: str


class HoldChild(Effect, frozen=True, kw_only=True):
    """The run whose step waits for a child is paused, or goes on: so must the child."""

    attempt: AttemptKey
    child: RunKey
    held: bool


class RunEnded(Effect, frozen=True, kw_only=True):
    """A run that is not an iteration has ended: its workflow's queue and its parent want to know."""

    run: RunKey
    status: RunStatus


class ResumeLoop(Effect, frozen=True, kw_only=True):
    """A loop has more to do than one decision may: bring `Resumed` back after the commit."""

    attempt: AttemptKey


AnyEffect = (
    StartWork
    | LookAtWork
    | TerminateWork
    | SetTimer
    | AskPermits
    | UsePermits
    | ReleasePermits
    | WatchSignals
    | AnnounceSignals
    | Fetch
    | EvaluateElsewhere
    | LookForBreakpoint
    | StartChild
    | StopChild
    | HoldChild
    | RunEnded
    | ResumeLoop
)
"""`node.effects` says what becomes of each."""
