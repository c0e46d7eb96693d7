"""The work of steps: whatever a runtime does, an event comes of it."""

import asyncio
from typing import Any

import pytest
from tests.unit.node.bench import context_of

from stretto.engine.events import Reported, ResultState
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.artifact import DefaultArtifact
from stretto.model.error_text import text_of_error
from stretto.model.step import AnyStep
from stretto.model.timeline import LogEvent
from stretto.node.asks import CallRuntime, Verb
from stretto.node.perform.runtimes import Runtimes
from stretto.ports.runtime import (
    Continue,
    Done,
    FatalError,
    Injected,
    PlatformError,
    StepContext,
    StepResult,
    Stopped,
    TimedOut,
    UserError,
    current_task,
)
from stretto.testing.shapes import foreach, result, step

ATTEMPT = AttemptKey(RunKey("w", 1, 1), "a", 2)
S = ResultState


class Scripted:
    """Answers with what it is given, or raises it."""

    outside = True

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.calls: list[tuple[str, StepContext]] = []

    def params(self, step: AnyStep) -> Injected:  # noqa: ARG002
        return Injected()

    async def _say(self, verb: str, ctx: StepContext) -> StepResult:
        self.calls.append((verb, ctx))
        if isinstance(self.answer, BaseException):
            raise self.answer
        answer: StepResult = self.answer
        return answer

    async def start(self, ctx: StepContext) -> StepResult:
        return await self._say("start", ctx)

    async def execute(self, ctx: StepContext) -> StepResult:
        return await self._say("execute", ctx)

    async def terminate(self, ctx: StepContext) -> StepResult:
        return await self._say("terminate", ctx)


def call(answer: Any, verb: Verb = Verb.START) -> Reported:
    runtimes = Runtimes({"Python": Scripted(answer)})
    return asyncio.run(runtimes.call(CallRuntime(verb=verb, context=context_of(step("a"), ATTEMPT, 7))))


RESULTS: list[tuple[StepResult, dict[str, Any]]] = [
    (Done(outputs={"p": result(1)}), {"state": S.DONE, "outputs": {"p": result(1)}}),
    (Continue(), {"state": S.CONTINUE}),
    (Continue(after=500), {"state": S.CONTINUE, "again_after": 500}),
    (UserError(message="u"), {"state": S.USER_ERROR, "message": "u"}),
    (PlatformError(message="p"), {"state": S.PLATFORM_ERROR, "message": "p"}),
    (FatalError(message="f"), {"state": S.FATAL_ERROR, "message": "f"}),
    (TimedOut(message="t"), {"state": S.TIMED_OUT, "message": "t"}),
    (Stopped(), {"state": S.STOPPED}),
    (Stopped(message="s"), {"state": S.STOPPED, "message": "s"}),
]


@pytest.mark.parametrize(("said", "fields"), RESULTS, ids=lambda each: type(each).__name__)
def test_every_result_becomes_the_event_that_it_means(said: StepResult, fields: dict[str, Any]) -> None:
    assert call(said) == Reported(attempt=ATTEMPT, launch=7, **fields)


def test_artifacts_and_lines_travel_with_any_result() -> None:
    artifact, line = DefaultArtifact(data={"a": 1}), LogEvent(timestamp=1, message="here")
    event = call(Continue(artifacts={"x": artifact}, timeline=(line,)))
    assert event.artifacts == {"x": artifact}
    assert event.timeline == (line,)


def test_added_steps_and_redirects_travel_with_the_end_of_the_work() -> None:
    event = call(Done(added=(step("b"),), tolerance=0.5))
    assert (event.added, event.tolerance, event.redirect) == ((step("b"),), 0.5, None)
    assert call(Done(redirect="a")).redirect == "a"


@pytest.mark.parametrize("verb", Verb)
def test_each_verb_is_its_own_call(verb: Verb) -> None:
    runtime = Scripted(Done())
    asyncio.run(
        Runtimes({"Python": runtime}).call(CallRuntime(verb=verb, context=context_of(step("a"), ATTEMPT)))
    )
    assert [said for said, _ctx in runtime.calls] == [verb.value.lower()]


def test_one_that_raises_is_a_platform_error_without_a_traceback() -> None:
    event = call(ValueError("no such host"), Verb.EXECUTE)
    assert event.state is S.PLATFORM_ERROR
    assert event.message == "the runtime of Python failed to execute: ValueError: no such host"


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError])
def test_user_code_that_exits_ends_its_step_only(error: type[BaseException]) -> None:
    assert call(error("3")).message == f"the runtime of Python failed to start: {error.__name__}: 3"


def test_a_cancelled_call_is_no_answer() -> None:
    async def work() -> None:
        runtime = Scripted(Done())
        runtime.start = lambda _context: asyncio.Event().wait()  # type: ignore[assignment,method-assign,return-value]
        ask = CallRuntime(verb=Verb.START, context=context_of(step("a"), ATTEMPT))
        task = asyncio.create_task(Runtimes({"Python": runtime}).call(ask))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())


def test_a_call_whose_loop_is_gone_is_closed() -> None:
    runtime = Scripted(Done())
    runtime.start = lambda _context: asyncio.sleep(0)  # type: ignore[assignment,method-assign,return-value]
    ask = CallRuntime(verb=Verb.START, context=context_of(step("a"), ATTEMPT))
    call = Runtimes({"Python": runtime}).call(ask)
    call.send(None)
    call.close()
    assert current_task() is None


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __str__


def test_the_text_of_an_error_can_always_be_stored() -> None:
    assert text_of_error(KeyError()) == "KeyError"
    assert text_of_error(ValueError("a\0b\ud800")) == "ValueError: a\\0b\\ud800"
    assert text_of_error(Mute()) == "Mute: its text can not be shown"
    assert text_of_error(ValueError("x" * 10_000)).endswith("xxx ...")
    assert len(text_of_error(ValueError("x" * 10_000))) < 5_000


@pytest.mark.parametrize(
    ("nonsense", "text"),
    [
        (None, "the runtime of Python answered None, and not one of Done, Continue, "),
        ({"state": "DONE"}, "answered {'state': 'DONE'}, and not"),
        (Mute, "answered <class 'tests.unit.node.test_perform_runtimes.Mute'>, and not"),
        (Done(outputs={"p": 5}), "answered Done with the output [p] 5"),  # type: ignore[dict-item]
        (Done(outputs=None), "answered Done with the outputs None"),  # type: ignore[arg-type]
        (Done(artifacts={"x": {}}), "answered Done with the artifact [x] {}"),  # type: ignore[dict-item]
        (Done(timeline=("a",)), "answered Done with the timeline line 'a'"),  # type: ignore[arg-type]
        (Done(timeline=None), "answered Done with the timeline None"),  # type: ignore[arg-type]
        (Done(added=({},)), "answered Done with the added step {}"),  # type: ignore[arg-type]
        (Done(added="ab"), "answered Done with the added steps 'ab'"),  # type: ignore[arg-type]
        (Done(tolerance="all"), "answered Done with the tolerance 'all'"),  # type: ignore[arg-type]
        (Done(redirect=5), "answered Done with the redirect 5"),  # type: ignore[arg-type]
        (Continue(after="soon"), "answered Continue with the after 'soon'"),  # type: ignore[arg-type]
        (UserError(message=ValueError("x")), "with the message ValueError('x')"),  # type: ignore[arg-type]
    ],
)
def test_nonsense_is_a_platform_error_that_shows_it(nonsense: Any, text: str) -> None:
    event = call(nonsense)
    assert event.state is S.PLATFORM_ERROR
    assert text in (event.message or "")


def test_nonsense_that_can_not_be_shown_is_named() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError

    assert "answered a Odd, and not" in (call(Odd()).message or "")


def test_an_unknown_kind_of_step_is_fatal_and_names_the_known_ones() -> None:
    ask = CallRuntime(verb=Verb.START, context=context_of(step("a", type="Spark"), ATTEMPT))
    event = asyncio.run(Runtimes({"Shell": Scripted(Done()), "Python": Scripted(Done())}).call(ask))
    assert event.state is S.FATAL_ERROR
    assert event.message == (
        "there is no runtime for steps of type Spark on this node; the registered ones: Python, Shell"
    )
    event = asyncio.run(Runtimes({}).call(ask))
    assert (event.message or "").endswith("the registered ones: none")


def test_kinds_are_found_in_any_case_but_the_exact_one_first() -> None:
    lower, upper = Scripted(Done()), Scripted(Done())
    runtimes = Runtimes({"spark": lower, "Spark": upper})
    assert runtimes.of(step("a", type="Spark")) is upper
    assert runtimes.of(step("a", type="spark")) is lower
    assert runtimes.of(step("a", type="SPARK")) is upper
    assert runtimes.of(foreach("l", {})) is None


def test_what_a_runtime_reports_by_itself_is_heard() -> None:
    heard: list[Reported] = []
    runtime = Scripted(Continue())
    runtimes = Runtimes({"Python": runtime})

    async def later() -> None:
        await runtimes.call(CallRuntime(verb=Verb.START, context=context_of(step("a"), ATTEMPT, 7)))
        ((_verb, ctx),) = runtime.calls
        await ctx.report(Done())  # nobody listens yet
        runtimes.heard = heard.append
        await ctx.report(UserError(message="late"))

    asyncio.run(later())
    assert heard == [Reported(attempt=ATTEMPT, launch=7, state=S.USER_ERROR, message="late")]
