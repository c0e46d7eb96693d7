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


class ReleasePermits(Effect, frozen=True, kw_only=True):
    """The attempt has ended: its permits are gone, others may have them."""

    attempt: AttemptKey
    tags: tuple[str, ...]


class WatchSignals(Effect, frozen=True, kw_only=True):
    """Look for instances of the signals that the attempt waits for, now and later."""

    attempt: AttemptKey
    dependencies: SignalDependencies


class AnnounceSignals(Effect, frozen=True, kw_only=True):
    """Announce the signals of a step whose work is done, once for this attempt; then it has succeeded."""

    attempt: AttemptKey
    outputs: tuple[Mapping[str, Any], ...]


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
    again: ChildRestart | None = None


class StopChild(Effect, frozen=True, kw_only=True):
    """The step that waits for a child is being ended: so must the child be."""

    attempt: AttemptKey
    child: RunKey | None  # None: not known yet; look it up by the attempt
    user: str


class RunEnded(Effect, frozen=True, kw_only=True):
    """A run that is not an iteration has ended: its workflow's queue and its parent want to know."""

    run: RunKey
    status: RunStatus


class ResumeLoop(Effect, frozen=True, kw_only=True):
    """A loop has more to do than one decision may: bring `Resumed` back after the commit."""

    attempt: AttemptKey
