"""Random workflows under random commands: whatever is asked when, the invariants hold and the run can end."""

from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from simulation.flows import flows_of
from tests.engine.driver import Driver, Work
from tests.engine.shapes import (
    UNIQUE,
    computed,
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
from stretto.engine.effects import StartWork
from stretto.engine.events import ResultState, RunAction
from stretto.engine.records import AttemptKey
from stretto.model.actions import StepAction
from stretto.model.errors import StrettoError
from stretto.model.retry import RetryPolicy
from stretto.model.step import AnyStep, FailureMode

WORKS = [
    *[Work("DONE", 500)] * 4,
    Work("DONE"),
    Work("USER_ERROR", 200),
    Work("PLATFORM_ERROR"),
    Work("FATAL_ERROR", 300),
    Work(after=None),
    Work(added=(step("sub1", "sub2"), step("sub2")), tolerance=0.5),
    Work(after=700, redirect="a"),
    Work("FOO"),
]


def shapes() -> tuple[AnyStep, ...]:
    """A bit of everything."""
    policy = RetryPolicy(error_retry_limit=1, timeout_retry_limit=1, platform_retry_limit=1)
    back = step("undo_a")
    return (
        step(
            "a", "b", ("c", "params.nextUniqueId() > 0"), retry_policy=policy, timeout=20, compensation=back
        ),
        step("b", "d", tags=(tag("t", 1),), failure_mode=FailureMode.IGNORE_FAILURE),
        foreach("c", {"i": numbers(1, 2, 3)}, step("x", "y"), noop("y"), after=("d",), concurrency=2),
        step("d", "e", params={"p": UNIQUE}),
        noop("e"),
        while_("w", "n < 3", {"n": number(0)}, step("z", params={"n": computed("n + 1")})),
        step("f", failure_mode=FailureMode.FAIL_IMMEDIATELY, tags=(tag("t", 1),)),
        subworkflow("s", "kid"),
        step("p", type="Wait", timeout=60),
    )


@st.composite
def command(draw: Any) -> tuple[str, Any, str, int]:
    kind = draw(st.sampled_from(["step", "step", "run", "some", "iteration", "time", "report", "answer"]))
    actions: list[Any] = list(StepAction) if kind == "step" else list(RunAction)
    if kind == "run":  # ends come rarely, so that something happens before
        actions = [RunAction.PAUSE, RunAction.RESUME, RunAction.PAUSE, RunAction.RESUME, *RunAction]
    name = draw(st.sampled_from(["a", "b", "c", "d", "e", "w", "f", "s", "p", "x", "z", "sub1"]))
    return kind, draw(st.sampled_from(actions)), name, draw(st.integers(0, 70_000))


def carry_out(driver: Driver, kind: str, action: Any, name: str, number_: int) -> None:
    flows = flows_of(driver.flow)
    flow = flows[number_ % len(flows)]
    key = flow.run.key
    if kind == "time":
        driver.run(number_)
    elif kind == "run":
        driver.act(action)
    elif kind == "iteration":
        driver.act(action, run=key)
    elif kind == "some":
        driver.act(action, name)
    elif kind == "step":
        driver.step(name, action, run=key)
    elif name in flow.plan.numbers and (record := flow.attempts[flow.plan.numbers[name]]) is not None:
        if kind == "answer":
            driver.send(happened.CalledBack(attempt=record.key, approved=number_ % 2 == 0))
        else:
            state = list(ResultState)[number_ % len(ResultState)]
            driver.send(happened.Reported(attempt=record.key, launch=1, state=state))


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(command(), max_size=14), st.randoms(use_true_random=False), st.booleans())
def test_whatever_is_asked_when(commands: list[tuple[str, Any, str, int]], dice: Any, early: bool) -> None:
    def work(_effect: StartWork) -> Work:
        return dice.choice(WORKS)  # type: ignore[no-any-return]

    library = {"kid": workflow(step("toil"), id="kid")}
    driver = Driver(workflow(*shapes()), runtime=work, library=library)
    driver.stubborn = dice.random() < 0.2
    if not early:
        driver.start()
    for kind, action, name, number_ in commands:
        with suppress(StrettoError):
            carry_out(driver, kind, action, name, number_)
    driver.stubborn = False
    driver.start()
    for action in (RunAction.STOP, RunAction.STOP, RunAction.KILL):
        with suppress(StrettoError):  # ends the run, what undoes it, and an undo that waits for a retry
            driver.act(action)
        answer_all(driver)
    assert driver.flow.is_over, driver.statuses()
    for child in driver.world.children.values():
        with suppress(StrettoError):
            child.act(RunAction.STOP)
        answer_all(child)
    assert driver.world.no_permit_is_left


def answer_all(driver: Driver) -> None:
    """Work that was too stubborn to end when it was asked to ends now."""
    driver.run(0)
    for flow in flows_of(driver.flow):
        for record in flow.attempts:
            if record is not None and record.launch is not None:
                key = AttemptKey(*record.key)
                driver.send(happened.Reported(attempt=key, launch=record.launch, state=ResultState.STOPPED))
    driver.run(0)
