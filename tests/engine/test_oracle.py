"""Random workflows against an interpreter that is slow and obvious: both must come to the same end."""

from collections.abc import Mapping
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engine.driver import Driver, Work
from tests.engine.shapes import computed, foreach, noop, number, numbers, step, while_, workflow

from stretto.engine.effects import StartWork
from stretto.model.param import ParamDefinition
from stretto.model.retry import FixedBackoff, RetryPolicy
from stretto.model.step import AnyStep, FailureMode, ForeachStep, TypedStep, WhileStep

STATES = ("DONE", "USER_ERROR", "PLATFORM_ERROR", "FATAL_ERROR", "STOPPED", "TIMED_OUT")
LIMITS = {"USER_ERROR": "error_retry_limit", "PLATFORM_ERROR": "platform_retry_limit"}
ENDS = {"STOPPED": "STOPPED", "TIMED_OUT": "TIMED_OUT"}
COMPLETE = {"SUCCEEDED", "UNSATISFIED", "COMPLETED_WITH_ERROR"}
RUN_OF = (("FATALLY_FAILED", "FAILED"), ("TIMED_OUT", "TIMED_OUT"), ("STOPPED", "STOPPED"))
STEP_OF = {"SUCCEEDED": "DONE", "FAILED": "FATAL_ERROR", "STOPPED": "STOPPED", "TIMED_OUT": "TIMED_OUT"}

Script = Mapping[str, tuple[str, ...]]
"""What a step's work says in its attempts; in every iteration the same."""


# --------------------------------------------------------------------------------- the obvious interpreter
class Interpreter:
    """Steps in topological order, one after the other. No time, no events: only what the rules say."""

    def __init__(self, script: Script) -> None:
        self.script = script

    def run(self, steps: tuple[AnyStep, ...]) -> tuple[dict[str, str], str]:
        statuses: dict[str, str] = {}
        taken: dict[tuple[str, str], bool] = {}
        left = list(steps)
        while left:
            ready = next((each for each in left if self._is_ready(each, steps, statuses)), None)
            if ready is None:
                statuses |= {each.id: "NOT_CREATED" for each in left}
                break
            left.remove(ready)
            before = [other.id for other in steps if ready.id in other.transition.successors]
            satisfied = not before or any(taken[other, ready.id] for other in before)
            statuses[ready.id] = self._end_of(ready) if satisfied else "UNSATISFIED"
            for target, condition in ready.transition.successors.items():
                taken[ready.id, target] = satisfied and condition == "true"
        worst = (run for status, run in RUN_OF if status in statuses.values())
        return statuses, next(worst, "SUCCEEDED")

    @staticmethod
    def _is_ready(each: AnyStep, steps: tuple[AnyStep, ...], statuses: dict[str, str]) -> bool:
        before = [other.id for other in steps if each.id in other.transition.successors]
        return all(statuses.get(other) in COMPLETE for other in before)

    def _end_of(self, each: AnyStep) -> str:
        state = self._state_of(each)
        if state == "DONE":
            return "SUCCEEDED"
        if state in ENDS:
            return ENDS[state]
        ignored = each.failure_mode is FailureMode.IGNORE_FAILURE
        return "COMPLETED_WITH_ERROR" if ignored else "FATALLY_FAILED"

    def _state_of(self, each: AnyStep) -> str:
        if isinstance(each, TypedStep):
            return "DONE" if each.type == "NoOp" else self._work_of(each)
        assert isinstance(each, ForeachStep | WhileStep)
        rounds = (
            len((each.params or {})["loop_params"].value["i"].value) if isinstance(each, ForeachStep) else 2
        )
        _, end = self.run(each.steps)  # every iteration is the same
        return STEP_OF[end] if rounds else "DONE"

    def _work_of(self, each: TypedStep) -> str:
        used: dict[str, int] = {}
        attempt = 0
        while True:
            said = self.script[each.id]
            state = said[min(attempt, len(said) - 1)]
            attempt += 1
            if state not in LIMITS:
                return state
            if used.get(state, 0) >= getattr(each.retry_policy, LIMITS[state]):
                return "FATAL_ERROR"
            used[state] = used.get(state, 0) + 1


# ------------------------------------------------------------------------------------------ the generator
MODES = st.sampled_from([None, FailureMode.FAIL_AFTER_RUNNING, FailureMode.IGNORE_FAILURE])
CONDITIONS = st.sampled_from(["true", "true", "1 > 2"])


@st.composite
def level(draw: Any, prefix: str, depth: int) -> tuple[AnyStep, ...]:
    """Some steps, with edges from earlier to later ones."""
    size = draw(st.integers(1, 6 if depth == 0 else 3))
    ids = [f"{prefix}{index}" for index in range(size)]
    steps: list[AnyStep] = []
    for index, step_id in enumerate(ids):
        targets = (
            draw(st.lists(st.sampled_from(ids[index + 1 :]), unique=True, max_size=3))
            if ids[index + 1 :]
            else []
        )
        after = tuple((target, draw(CONDITIONS)) for target in targets)
        steps.append(draw(one_step(step_id, after, depth)))
    return tuple(steps)


@st.composite
def one_step(draw: Any, step_id: str, after: tuple[tuple[str, str], ...], depth: int) -> AnyStep:
    kind = draw(
        st.sampled_from(
            ["work", "work", "work", "noop", "foreach", "while"] if depth < 2 else ["work", "noop"]
        )
    )
    mode = draw(MODES)
    if kind == "noop":
        return noop(step_id, *after)
    if kind == "work":
        backoff = FixedBackoff(error_retry_backoff_in_secs=1, platform_retry_backoff_in_secs=1)
        policy = RetryPolicy(
            error_retry_limit=draw(st.integers(0, 2)),
            platform_retry_limit=draw(st.integers(0, 2)),
            backoff=backoff,
        )
        return step(step_id, *after, retry_policy=policy, failure_mode=mode)
    body = draw(level(f"{step_id}_", depth + 1))
    if kind == "foreach":
        loop: dict[str, ParamDefinition] = {"i": numbers(*range(draw(st.integers(0, 3))))}
        return foreach(
            step_id, loop, *body, after=after, failure_mode=mode, concurrency=draw(st.integers(1, 3))
        )
    count = noop(f"{step_id}_count", params={"n": computed("n + 1")})
    return while_(step_id, "n < 2", {"n": number(0)}, *body, count, after=after, failure_mode=mode)


def leaves(steps: tuple[AnyStep, ...]) -> list[str]:
    found = []
    for each in steps:
        found += leaves(each.steps) if isinstance(each, ForeachStep | WhileStep) else [each.id]
    return found


@st.composite
def scenario(draw: Any) -> tuple[tuple[AnyStep, ...], dict[str, tuple[str, ...]]]:
    steps = draw(level("s", 0))
    # Success is the rule, so that runs get somewhere.
    says = st.lists(st.sampled_from([*["DONE"] * 6, *STATES]), min_size=1, max_size=4).map(tuple)
    return steps, {name: draw(says) for name in leaves(steps)}


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenario(), st.randoms(use_true_random=False), st.booleans())
def test_the_engine_comes_to_the_same_end(made: Any, dice: Any, slow: bool) -> None:
    steps, script = made
    wanted, run = Interpreter(script).run(steps)

    def work(effect: StartWork) -> Work:
        said = script[effect.attempt.step_id]
        state = said[min(effect.attempt.number, len(said)) - 1]
        return Work(state, dice.randrange(0, 5_000) if slow else 0)

    driver = Driver(workflow(*steps), runtime=work).finish()
    assert driver.statuses() == wanted
    assert driver.status == run
