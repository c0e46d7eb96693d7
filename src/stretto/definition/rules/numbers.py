"""Numbers in their ranges: concurrency, timeouts, retries."""

from decimal import Decimal
from typing import Any, Final

import msgspec

from stretto.definition.durations import duration_millis
from stretto.definition.rules.visits import PROPERTIES, WORKFLOW, Scene
from stretto.model.permit import RATE_HINT, parse_rate
from stretto.model.problem import Code, Place
from stretto.model.properties import RunStrategyRule
from stretto.model.retry import Number, RetryPolicy
from stretto.model.step import ForeachStep, TypedStep, WhileStep
from stretto.model.wire.scalars import LONG_MAX, LONG_MIN

DAY_MILLIS: Final = 86_400_000
MOST_RETRIES: Final = 99
DAY_SECONDS: Final = 86_400
MOST_EXPONENT: Final = 2**31 - 1


def check_numbers(scene: Scene) -> None:
    check_property_numbers(scene)
    if scene.workflow.follows_maestro:
        _check_values(scene)
    workflow, limits = scene.workflow, scene.limits
    check_timeout(scene, workflow.timeout, (WORKFLOW, "timeout"))
    at = (WORKFLOW, "instance_step_concurrency")
    _range(scene, workflow.instance_step_concurrency, 1, limits.instance_step_concurrency, at)
    for visit in scene.visits:
        step = visit.step
        check_timeout(scene, step.timeout, (visit.at, "timeout"))
        if step.rate is not None and parse_rate(step.rate) is None:
            scene.report((visit.at, "rate"), Code.BAD_PARAM, f"`{step.rate}` is not a rate", RATE_HINT)
        if isinstance(step, ForeachStep):
            _range(scene, step.concurrency, 1, limits.foreach_concurrency, (visit.at, "concurrency"))
        elif isinstance(step, WhileStep):
            _range(scene, step.max_iterations, 1, limits.iterations, (visit.at, "max_iterations"))
        elif isinstance(step, TypedStep) and step.retry_policy is not None:
            _retries(scene, step.retry_policy, (visit.at, "retry_policy"))


def _check_values(scene: Scene) -> None:
    """Literals that Maestro's parameters do not have."""
    hint = "a workflow with `semantics: STRETTO` holds it"
    for _name, param, at in scene.params:
        values: list[tuple[Place, Any]] = [((at, "value"), param.value)]
        if param.type.is_array and param.value is not None:
            values = [(((at, "value"), index), each) for index, each in enumerate(param.value)]
        for place, each in values:
            if type(each) is int and not LONG_MIN <= each <= LONG_MAX:
                message = "the whole number does not fit into 64 bits"
                scene.report(place, Code.OUT_OF_RANGE, message, hint)
            elif isinstance(each, Decimal) and not each.is_finite():
                scene.report(place, Code.OUT_OF_RANGE, "the number is not finite", hint)


def check_property_numbers(scene: Scene, place: Place = PROPERTIES) -> None:
    """`place`: where the properties stand in what is checked."""
    properties = scene.definition.properties
    if properties is None:
        return
    _range(scene, properties.step_concurrency, 1, scene.limits.step_concurrency, (place, "step_concurrency"))
    strategy = properties.run_strategy
    if strategy is not None:
        at = ((place, "run_strategy"), "workflow_concurrency")
        count = strategy.workflow_concurrency
        _range(scene, count, 1, scene.limits.workflow_concurrency, at)
        if count > 1 and strategy.rule is not RunStrategyRule.PARALLEL:
            message = (
                "Only PARALLEL run strategy allows a workflow_concurrency greater than 1; "
                f"{strategy.rule} has {count}"
            )
            scene.report(at, Code.CONFLICT, message, "use PARALLEL, or leave the concurrency out")
    if properties.tags:
        message = "tags of the properties are not set by a push"
        hint = "add them one by one to the workflow's properties"
        scene.report((place, "tags"), Code.CONFLICT, message, hint)


def _range(scene: Scene, value: int | None, low: int, high: int, at: Place) -> None:
    if value is not None and not low <= value <= high:
        scene.report(at, Code.OUT_OF_RANGE, f"{value} is not between {low:,} and {high:,}")


def check_timeout(scene: Scene, timeout: Number | None, at: Place) -> None:
    """Text with a `$` in it is known only when the step is made. 0 is refused then, not now."""
    if timeout is None or (isinstance(timeout, str) and "$" in timeout):
        return
    millis = timeout * 1_000 if isinstance(timeout, int) else duration_millis(timeout)
    if millis is None:
        hint = "seconds, or text such as `1 day 2 hours 30 min`"
        scene.report(at, Code.BAD_DURATION, f"`{timeout}` is not a duration", hint)
    elif not 0 <= millis <= scene.limits.timeout_days * DAY_MILLIS:
        message = f"`{timeout}` is not between 0 and {scene.limits.timeout_days} days"
        scene.report(at, Code.OUT_OF_RANGE, message)


def _retries(scene: Scene, policy: RetryPolicy, at: Place) -> None:
    for name in ("error_retry_limit", "platform_retry_limit", "timeout_retry_limit"):
        _retry_number(scene, getattr(policy, name), 0, MOST_RETRIES, (at, name))
    if policy.backoff is None:
        return
    for field in msgspec.structs.fields(policy.backoff):
        value: Number | None = getattr(policy.backoff, field.name)
        place = ((at, "backoff"), field.name)
        if field.name.endswith("_exponent"):
            _retry_number(scene, value, 0, MOST_EXPONENT, place)
        else:
            _retry_seconds(scene, value, place)


def _retry_number(scene: Scene, value: Number | None, low: int, high: int, at: Place) -> None:
    if isinstance(value, str):
        text = value.strip()
        if "$" in text:
            return
        if not (text.isascii() and text.isdigit()):
            scene.report(
                at, Code.WRONG_TYPE, f"`{value}` is not a whole number", "or a reference such as `${param}`"
            )
            return
        value = int(text[:20])
    _range(scene, value, low, high, at)


def _retry_seconds(scene: Scene, value: Number | None, at: Place) -> None:
    if isinstance(value, str):
        if "$" in value:
            return
        millis = duration_millis(value)
        if millis is None:
            scene.report(
                at, Code.BAD_DURATION, f"`{value}` is not a duration", "seconds, or text such as `5 min`"
            )
            return
        value = millis // 1_000
    _range(scene, value, 1, DAY_SECONDS, at)
