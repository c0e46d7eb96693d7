"""How the work of a step is done: the port for step kinds, ours and users'."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, NamedTuple, Protocol

import msgspec

from stretto.engine.records import AttemptKey
from stretto.model.artifact import Artifacts
from stretto.model.param import Parameter, Params
from stretto.model.step import AnyStep
from stretto.model.tag import Tag
from stretto.model.timeline import TimelineEvent
from stretto.ports.fence import OPEN, Fence

__all__ = [
    "Answer",
    "Continue",
    "Done",
    "Failure",
    "FatalError",
    "Injected",
    "Launch",
    "PlatformError",
    "StepContext",
    "StepResult",
    "StepRuntime",
    "Stopped",
    "TimedOut",
    "UserError",
]


class Launch(NamedTuple):
    """One start of an attempt's work: its idempotency key and fencing token. Launches of one attempt sort."""

    attempt: AttemptKey
    generation: int
    take: int = 0  # how often a pool has taken it

    def __str__(self) -> str:
        return f"{self.attempt}[{self.generation}][{self.take}]"


# --------------------------------------------------------------------------------------------------- results
class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What every result may carry: artifacts, merged into those of the attempt, and timeline lines."""

    artifacts: Artifacts = {}
    timeline: tuple[TimelineEvent, ...] = ()


class Done(Answer, frozen=True, kw_only=True):
    """The work is done; these are the values of the step's output parameters.

    It may ask for steps to be added under this one (all of them or none; the step ends after them, well if at
    most the part `tolerance` of them fails), or for the run to go on at another step.
    """

    outputs: Mapping[str, Parameter] = {}
    added: tuple[AnyStep, ...] = ()
    tolerance: float = 0.0
    redirect: str | None = None


class Continue(Answer, frozen=True, kw_only=True):
    """The work goes on. Look again after so many milliseconds; None: the runtime will report by itself."""

    after: int | None = None


class Failure(Answer, frozen=True, kw_only=True):
    """What all errors have."""

    message: str


class UserError(Failure, frozen=True, kw_only=True):
    """The user's code failed; tried again within the user's budget."""


class PlatformError(Failure, frozen=True, kw_only=True):
    """What runs the code failed; tried again within the platform's budget."""


class FatalError(Failure, frozen=True, kw_only=True):
    """Not worth another try."""


class Stopped(Answer, frozen=True, kw_only=True):
    """The work has ended because it was told to, or was never there."""

    message: str | None = None


class TimedOut(Failure, frozen=True, kw_only=True):
    """The work itself found that it took too long."""


StepResult = Done | Continue | UserError | PlatformError | FatalError | Stopped | TimedOut


# --------------------------------------------------------------------------------------------------- asking
class Injected(msgspec.Struct, frozen=True, kw_only=True):
    """What a kind of step brings along: defaults for its parameters, tags, and how they are described."""

    params: Params = {}
    tags: tuple[Tag, ...] = ()
    schema: Mapping[str, Any] | None = None  # JSON Schema of its parameters, for validation, CLI and UI


class StepContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime is told of the attempt that it is asked about."""

    launch: Launch
    step: AnyStep
    predecessors: tuple[str, ...] = ()  # the ids of the steps right before it
    params: Mapping[str, Parameter]
    artifacts: Artifacts = {}  # what it reported so far: where a later call finds the work again
    timeout_at: int | None = None  # milliseconds since 1970; the engine watches it, a runtime may pass it on
    correlation_id: str = ""
    owner: str | None = None
    report: Callable[[StepResult], Awaitable[None]]  # a result that nobody asked for; it may be called late
    fence: Fence = OPEN  # checked right before the effect, after all waiting


class StepRuntime(Protocol):
    """A kind of step. Stateless: everything it needs is in the context.

    Each call may be repeated after a crash, also by another node: key outside effects by `ctx.launch`; the
    highest wins, and a receiver that can keep it refuses older ones. A call that raises is a platform error.
    Calls for one attempt never overlap; `terminate` may follow a `start` whose answer was lost.

    A node that stands still or is cut off may lose its runs to another node while a launch waits. A runtime
    that lets a launch wait (for a slot, a pool, a process) awaits `ctx.fence.passed()` after the wait, right
    before the effect. `ctx.fence.is_revoked` in `terminate` means: another node does this work, end it now.
    """

    @property
    def outside(self) -> bool:
        """Whether the work lives outside of our processes (a cluster, a service). After a take-over such work
        is asked for again under the same launch; work of our own is launched anew, because it died with its
        node.
        """
        ...

    def params(self, step: AnyStep) -> Injected:
        """What this kind of step brings along. Pure; asked when a step is made and when one is validated."""
        ...

    async def start(self, ctx: StepContext) -> StepResult:
        """Launch the work, or do it at once. What lasts answers `Continue` and reports its end: work whose
        start has not been answered can not be terminated.
        """
        ...

    async def execute(self, ctx: StepContext) -> StepResult:
        """Look how the work goes, after a `Continue` with a time or a take-over."""
        ...

    async def terminate(self, ctx: StepContext) -> StepResult:
        """End the work and answer once it has ended. Work that is not there has ended.

        Whatever terminal result this gives, the attempt ends as it was asked to; `Continue` asks again.
        """
        ...


def current_task() -> "asyncio.Task[Any] | None":
    """The task that runs here; None where no event loop runs."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def is_for_task(error: BaseException, task: "asyncio.Task[Any] | None") -> bool:
    """Whether an exception comes from whoever ends the task in which the code of a user is called, and not
    from that code: the task was cancelled, or its coroutine is closed because its event loop is gone.
    """
    if isinstance(error, asyncio.CancelledError):
        return task is None or task.cancelling() > 0
    return isinstance(error, GeneratorExit) and (task is None or current_task() is not task)


class FunctionRuntime(StepRuntime, Protocol):
    """A kind of step whose work calls functions by name. A node that does not know the functions of a step
    sends the step to a node that advertises them.
    """

    @property
    def functions(self) -> Collection[str]:
        """The functions that this process knows now."""
        ...

    def lacks(self, step: AnyStep, params: Mapping[str, Parameter]) -> tuple[str, ...]:
        """All functions that a step with these evaluated parameters calls by name, sorted, if this process
        does not know all of them; else none.
        """
        ...
