"""Runs of many kinds, with what happens to them: together they wait in every way in which a run can wait."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.engine.crashing import Mortal
from tests.engine.driver import FOREVER, Work, scripted
from tests.engine.shapes import (
    UNIQUE,
    computed,
    edges,
    foreach,
    noop,
    number,
    numbers,
    step,
    subworkflow,
    tag,
    while_,
    workflow,
)

from stretto.engine import events as happened
from stretto.engine.events import RunAction
from stretto.engine.inline_ids import Loop, inline_workflow_id
from stretto.engine.job_templates import TemplateKey
from stretto.engine.records import AttemptKey, RunKey
from stretto.engine.settings import EngineSettings
from stretto.model.actions import StepAction
from stretto.model.job_template import JobTemplateDefinition
from stretto.model.retry import FixedBackoff, RetryPolicy
from stretto.model.run_config import RestartConfig, RestartNode, RunPolicy
from stretto.model.signal import SignalDependencyDefinition, SignalMatchParam, SignalOutputDefinition
from stretto.model.step import AnyStep, FailureMode, TemplateStep
from stretto.model.trigger import SignalOperator

RUN = RunKey("w", 1, 1)
POLICY = RetryPolicy(
    error_retry_limit=1,
    platform_retry_limit=1,
    timeout_retry_limit=1,
    backoff=FixedBackoff(error_retry_backoff_in_secs=1, timeout_retry_backoff_in_secs=1),
)
GONE = "gone"  # a step with a breakpoint that is gone by the time somebody looks
LATE = "params.nextUniqueId() > 0"
LONG = "long s = 0; for (int i = 0; i < 400; i += 1) {s += i;} return s;"
LITTLE = EngineSettings(expression_visits=2_000)
SLOW = Work("DONE", 500)


@dataclass(frozen=True)
class Life:
    """A workflow, how its work goes, and what users do after so many milliseconds."""

    steps: Sequence[AnyStep]
    script: Mapping[str, Any] = field(default_factory=dict)
    events: Sequence[tuple[int, happened.Event]] = ()
    more: Mapping[str, Any] = field(default_factory=dict)


def acted(action: RunAction, *steps: str) -> happened.Event:
    return happened.RunActed(run=RUN, action=action, user="ann", steps=steps)


def step_acted(step_id: str, action: StepAction) -> happened.Event:
    return happened.StepActed(attempt=AttemptKey(RUN, step_id, 0), action=action, user="ann")


def _graph() -> Life:
    steps = (
        step("a", "b", ("c", LATE), params={"p": UNIQUE}),
        noop("b", "d", params={"q": computed("return params.getFromStep('a', 'p');")}),
        step("c", "d", retry_policy=POLICY),
        noop("d"),
    )
    return Life(steps, {"a": [SLOW], "c": ["USER_ERROR", "PLATFORM_ERROR", SLOW]})


def _timeouts() -> Life:
    steps = (step("a", "b", timeout=5, retry_policy=POLICY), step("b", timeout=5))
    return Life(steps, {"a": [FOREVER, "DONE"], "b": [Work("DONE", 10**6)]})


def _times() -> Life:
    steps = (
        step("a", "b", type="Sleep", params={"sleep_seconds": number(4)}),
        step("b", type="Wait"),
        step("c", type="Wait", timeout=3),
    )
    answer = happened.CalledBack(attempt=AttemptKey(RUN, "b", 1), approved=True)
    return Life(steps, {}, [(9_000, answer)])


def _loops() -> Life:
    inner = foreach("l", {"i": numbers(1, 2, 3)}, step("x", "y"), noop("y"), concurrency=2)
    steps = (
        foreach("o", {"j": numbers(1, 2)}, inner, after=("w",)),
        while_("w", f"n < 2 && {LATE}", {"n": number(0)}, step("z", params={"n": computed("n + 1")})),
        foreach("many", {"k": numbers(*range(7))}, noop("m"), concurrency=10),
    )
    return Life(steps, {"x": [SLOW]}, more={"settings": EngineSettings(records_per_decision=3)})


def _inside() -> Life:
    added = Work(added=(step("sub1", "sub2"), step("sub2")), tolerance=0.5)
    steps = (
        step("a", "t"),
        TemplateStep(id="t", sub_type="kid", transition=edges("b")),
        noop("b"),
        subworkflow("s", "kid", "u"),
        subworkflow("u", "kid", sync=False),
        subworkflow("nobody", "missing"),
    )
    library = {"kid": workflow(step("toil"), id="kid")}
    script = {"a": [added], "sub1": [SLOW], "sub2": ["FATAL_ERROR"], "toil": [SLOW]}
    return Life(steps, script, more={"library": library})


def _signals() -> Life:
    wanted = SignalDependencyDefinition(
        name="ready", match_params={"n": SignalMatchParam(operator=SignalOperator.EQUALS_TO, param=UNIQUE)}
    )
    steps = (
        step("a", signal_outputs=(SignalOutputDefinition(name="ready", params={"n": UNIQUE}),)),
        step("b", signal_dependencies=(wanted,)),
        step("c", signal_dependencies=(SignalDependencyDefinition(name="never"),)),
    )
    bypass = step_acted("c", StepAction.BYPASS_STEP_DEPENDENCIES)
    return Life(steps, {"a": [SLOW]}, [(5_000, bypass)])


def _permits() -> Life:
    steps = (
        step("s0", tags=(tag("t", 1),)),
        step("s1", tags=(tag("t", 1),), sub_type="ours"),
        step("s2", sub_type="ours"),
    )
    return Life(steps, {each.id: [SLOW] for each in steps})


def _breakpoints() -> Life:
    steps = (step("a", "b"), step("b"), step(GONE))
    return Life(
        steps, {}, [(1_000, step_acted("a", StepAction.RESUME))], {"breakpoints": frozenset({"a", GONE})}
    )


def _paused() -> Life:
    steps = (
        step("a", "b", retry_policy=POLICY),
        step("b"),
        foreach("l", {"i": numbers(1, 2, 3)}, step("x", "y"), step("y"), concurrency=1),
        step("d", "e"),
        noop("e"),
    )
    events = [
        (100, acted(RunAction.PAUSE, "e")),
        (300, acted(RunAction.PAUSE)),
        (9_000, acted(RunAction.RESUME)),
        (9_900, acted(RunAction.RESUME, "e")),
    ]
    return Life(steps, {"a": [Work("USER_ERROR", 200), "DONE"], "x": [SLOW], "d": [SLOW]}, events)


def _undone() -> Life:
    steps = (
        step("a", "b", compensation=step("undo_a")),
        step("b", "c", compensation=step("undo_b", retry_policy=POLICY)),
        step("c", "d"),
        noop("d"),
    )
    script = {"c": ["FATAL_ERROR"], "undo_b": ["USER_ERROR", SLOW], "undo_a": [SLOW]}
    return Life(steps, script)


def _stopped(action: RunAction = RunAction.STOP) -> Life:
    steps = (
        step("a", "b"),
        noop("b"),
        foreach("l", {"i": numbers(1, 2, 3)}, step("x"), concurrency=2),
        subworkflow("s", "kid"),
        subworkflow("u", "kid", sync=False),
        step("p", type="Wait"),
        step("r", retry_policy=POLICY),
    )
    script = {"a": [FOREVER], "x": [FOREVER], "toil": [FOREVER], "r": [Work("USER_ERROR", 900)]}
    library = {"kid": workflow(step("toil"), id="kid")}
    return Life(steps, script, [(1_000, acted(action))], {"library": library})


def _skipped() -> Life:
    mode = FailureMode.IGNORE_FAILURE
    steps = (
        step("a", ("z", LATE)),
        step("b", ("z", LATE), retry_policy=POLICY),
        step("c", ("z", LATE), type="Wait", failure_mode=mode),
        step("d", ("z", LATE), retry_policy=RetryPolicy(error_retry_limit=1, retry_if=LATE)),
        noop("z"),
    )
    events = [(700, step_acted(each, StepAction.SKIP)) for each in "ab"]
    refused = happened.CalledBack(attempt=AttemptKey(RUN, "c", 1), approved=False)
    script = {"a": [FOREVER], "b": [Work("USER_ERROR", 100)], "d": ["USER_ERROR", "DONE"]}
    return Life(steps, script, [*events, (800, refused)])


def _elsewhere() -> Life:
    steps = (
        step("a", ("b", f"{LONG[:-9]} return s > 0;"), params={"p": computed(LONG)}),
        noop("b"),
        while_(
            "w",
            f"{LONG[:-9]} return s > 0 && n < 2;",
            {"n": number(0)},
            noop("x", params={"n": computed("n + 1")}),
        ),
        step("r", retry_policy=RetryPolicy(error_retry_limit=1, retry_if=f"{LONG[:-9]} return s > 0;")),
        step("o", signal_outputs=(SignalOutputDefinition(name="out", params={"n": computed(LONG)}),)),
    )
    return Life(steps, {"r": ["USER_ERROR"]}, more={"settings": LITTLE})


def _redirected() -> Life:
    again = Work(after=200, redirect="a")
    return Life((step("a", "b"), step("b", "c"), noop("c")), {"b": [again, again, "DONE"]})


def _restarted() -> Life:
    """One iteration while the others go on, a loop, and a child; what is read is what earlier runs left."""
    read = {"w": computed("return params.getFromStep('x', 'v') + i;")}
    steps = (
        foreach(
            "l",
            {"i": numbers(1, 2, 3)},
            step("x", "y", params={"v": number(7)}),
            step("y", params=read),
            concurrency=2,
        ),
        foreach("m", {"j": numbers(1, 2)}, step("z", "q"), step("q"), concurrency=2),
        subworkflow("s", "kid"),
    )
    events = [
        (300, step_acted("m", StepAction.RESTART)),
        (600, step_acted("s", StepAction.RESTART)),
        (900, _inside_loop("m", 2, "q")),  # it has ended, and runs again for this iteration alone
        (1_200, _inside_loop("l", 1, "y")),
    ]
    script: dict[str, Sequence[Work | str]] = {"x": [SLOW], "y": [SLOW], "q": ["FATAL_ERROR"]}
    script["toil"] = ["FATAL_ERROR"]
    library = {"kid": workflow(step("toil"), id="kid")}
    return Life(steps, script, events, {"library": library})


def _inside_loop(loop: str, iteration: int, step_id: str) -> happened.Event:
    """A user restarts a step in an iteration."""
    inline = inline_workflow_id(Loop.FOREACH, 12345, "w", 1, loop, 1)
    inner = RestartNode(workflow_id=inline, instance_id=iteration, step_id=step_id)
    path = (inner, RestartNode(workflow_id="w", instance_id=1, step_id=loop))
    config = RestartConfig(restart_path=path, restart_policy=RunPolicy.RESTART_FROM_SPECIFIC)
    attempt = AttemptKey(RUN, loop, 0)
    return happened.StepActed(attempt=attempt, action=StepAction.RESTART, user="ann", restart=config)


LIVES: dict[str, Callable[[], Life]] = {
    "graph": _graph,
    "timeouts": _timeouts,
    "times": _times,
    "loops": _loops,
    "inside": _inside,
    "signals": _signals,
    "permits": _permits,
    "breakpoints": _breakpoints,
    "paused": _paused,
    "undone": _undone,
    "stopped": _stopped,
    "killed": lambda: _stopped(RunAction.KILL),
    "skipped": _skipped,
    "elsewhere": _elsewhere,
    "redirected": _redirected,
    "restarted": _restarted,
}
TEMPLATE = JobTemplateDefinition(
    job_type="ours", step_type="Python", version="default", tags=(tag("more", 1),)
)


def alive(life: Life, kind: type[Mortal] = Mortal, **more: Any) -> Mortal:
    """A run to whom all this will happen."""
    driver = kind(workflow(*life.steps), runtime=scripted(**life.script), **life.more, **more)
    driver.templates = {TemplateKey("ours", "default"): TEMPLATE}
    driver.standing = driver.standing - {GONE}
    for millis, event in life.events:
        driver.later(millis, event)
    return driver
