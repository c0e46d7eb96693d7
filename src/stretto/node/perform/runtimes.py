"""The work of steps: a runtime is called, and whatever comes of that is an event."""

from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property

import msgspec

from stretto.engine.events import Reported, ResultState
from stretto.model.error_text import text_of_error
from stretto.model.param import Parameter
from stretto.model.step import AnyStep, TypedStep
from stretto.node.asks import CallRuntime, Untrusted, Verb
from stretto.node.perform.results import failed, reported
from stretto.ports.runtime import StepContext, StepResult, StepRuntime, current_task, is_for_task

Heard = Callable[[Reported], None]
Lacks = Callable[[AnyStep, Mapping[str, Parameter]], tuple[str, ...]]  # see `ports.runtime.FunctionRuntime`


class Runtimes:
    """The runtimes of a node, by the type of the steps that they carry out; `heard` is told what one of them
    reports by itself.
    """

    def __init__(self, by_kind: Mapping[str, StepRuntime], heard: Heard | None = None) -> None:
        self.heard = heard
        self._by_kind = by_kind

    @cached_property
    def _folded(self) -> Mapping[str, StepRuntime]:
        """Known types are read in any case; who makes a step in Python may spell them as he likes, too."""
        return {kind.casefold(): runtime for kind, runtime in self._by_kind.items()}

    def of(self, step: AnyStep) -> StepRuntime | None:
        """Who does the work of a step."""
        kind = kind_of(step)
        return self._by_kind.get(kind) or self._folded.get(kind.casefold())

    def lacks(self, step: AnyStep, params: Mapping[str, Parameter]) -> tuple[str, ...]:
        """The functions that the work of a step calls by name, if its runtime does not know all of them."""
        lacks: Lacks | None = getattr(self.of(step), "lacks", None)
        return () if lacks is None else lacks(step, params)

    @property
    def functions(self) -> frozenset[str]:
        """All functions that the runtimes know by name."""
        at_hand = getattr(self._by_kind, "at_hand", self._by_kind)  # packages are not looked for
        return frozenset().union(*(getattr(each, "functions", ()) for each in at_hand.values()))

    async def call(self, ask: CallRuntime) -> Reported:
        """Ask a runtime. Only that the call was cancelled is nobody's answer. Raises Untrusted."""
        context = ask.context
        kind, runtime = kind_of(context.step), self.of(context.step)
        if runtime is None:
            known = ", ".join(sorted(self._by_kind)) or "none"
            text = f"there is no runtime for steps of type {kind} on this node; the registered ones: {known}"
            return failed(context.launch, ResultState.FATAL_ERROR, text)

        async def report(result: StepResult) -> None:
            if self.heard is not None:
                self.heard(reported(context.launch, kind, result))

        if ask.verb is Verb.START and not ask.fence.is_open:
            raise Untrusted(f"{context.launch} is not started: this node does not trust its leases")
        told = msgspec.structs.replace(context, report=report, fence=ask.fence)
        task = current_task()
        try:
            said = await _call(runtime, ask.verb, told)
        except BaseException as error:  # also `exit()` of a user's must not end us
            if is_for_task(error, task):
                raise
            text = f"the runtime of {kind} failed to {ask.verb.value.lower()}: {text_of_error(error)}"
            return failed(context.launch, ResultState.PLATFORM_ERROR, text)
        return reported(context.launch, kind, said)


def _call(runtime: StepRuntime, verb: Verb, context: StepContext) -> Awaitable[StepResult]:
    if verb is Verb.START:
        return runtime.start(context)
    return runtime.execute(context) if verb is Verb.EXECUTE else runtime.terminate(context)


def kind_of(step: AnyStep) -> str:
    """The type of a step, as its definition says it."""
    return step.type if isinstance(step, TypedStep) else str(type(step).__struct_config__.tag)
