"""Functions that tasks of the tests of `/api/v1` call."""

from typing import Any

import msgspec

from stretto import StepContext
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.retry import FixedBackoff, RetryPolicy
from stretto.model.step import TypedStep


def echo(value: Any = "default") -> Any:
    """What it is given, of any type."""
    return value


def describe(value: Any = "default", **others: Any) -> dict[str, Any]:
    """The type of each value as Python sees it, beside the value."""
    return {name: [type(each).__name__, each] for name, each in {"value": value, **others}.items()}


def fail(reason: str = "no reason") -> None:
    raise ValueError(reason)


def spread(ctx: StepContext, reasons: list[str]) -> int:
    """Add a sub-task for each reason, and one that succeeds."""
    for number, reason in enumerate(reasons):
        ctx.add(_task("fail", reason=reason), id=f"part_{number}")
    ctx.add(_task("echo"), id="good")
    return len(reasons)


def spread_out(ctx: StepContext) -> None:
    """Add sub-tasks that fail, are tried again, and go on until they are ended."""
    again = RetryPolicy(error_retry_limit=3, backoff=FixedBackoff(error_retry_backoff_in_secs=0))
    ctx.add(_task("fail", reason="no disk"), id="failed")
    ctx.add(msgspec.structs.replace(_task("fail_once"), retry_policy=again), id="retried")
    ctx.add(_task("wait"), id="going_on")


def fail_once(ctx: StepContext) -> None:
    if ctx.attempt == 1:
        raise ValueError("no net")
    wait(ctx)


def wait(ctx: StepContext) -> None:
    """Until the step is ended."""
    ctx.sleep(3_600)


def _task(name: str, **texts: str) -> TypedStep:
    given = {"entrypoint": f"{__name__}:{name}", **texts}
    params = {key: ParamDefinition(type=ParamType.STRING, value=text) for key, text in given.items()}
    once = RetryPolicy(error_retry_limit=0)
    return TypedStep(id=name, type="Python", params=params, retry_policy=once)
