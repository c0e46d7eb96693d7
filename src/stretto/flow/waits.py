"""Steps that only wait: for a time, or for somebody's answer."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, TypeVar, cast, overload

from stretto.definition.durations import duration_millis
from stretto.flow.convert import setting, value_in
from stretto.flow.durations import MOST, Duration, duration
from stretto.flow.errors import TraceError
from stretto.flow.leaves import Output
from stretto.flow.nodes import Node, idle
from stretto.flow.places import here
from stretto.flow.refs import NoResult, Ref
from stretto.flow.trace import Trace, Value, required
from stretto.model.param import RESULT, ParamDefinition, ParamType
from stretto.runtimes.python.values import Kind, empty, kind_of

T = TypeVar("T")


def sleep(seconds: Duration, *, id: str | None = None) -> Any:  # noqa: A002 - as in a definition
    """A step that waits for so long: seconds, also parts of them, a `timedelta`, or text such as `5 minutes`.
    Nothing is held meanwhile, not even over a restart.
    """
    trace = required("sleep")
    known = value_in(seconds)
    given: Any = seconds if known is not None else _seconds(seconds)
    is_whole = isinstance(given, int) if known is None else known.kind.type is not ParamType.DOUBLE
    node = _waiting(trace, "Sleep", "sleep", id)
    if is_whole:
        node.params["sleep_seconds"] = setting(trace, given, Kind(ParamType.LONG), "seconds")
    else:
        node.params["sleep_millis"] = setting(trace, given * 1_000.0, Kind(ParamType.DOUBLE), "seconds")
    return NoResult(node, f"the result of `{node.id}`")


@overload
def wait(
    *,
    id: str | None = None,
    returns: type[T],
    prompt: str | None = None,
    assignees: Sequence[str] | None = None,
    timeout: Duration | None = None,
    description: str | None = None,
) -> T: ...
@overload
def wait(
    *,
    id: str | None = None,
    prompt: str | None = None,
    assignees: Sequence[str] | None = None,
    timeout: Duration | None = None,
    description: str | None = None,
) -> Any: ...


def wait(
    *,
    id: str | None = None,  # noqa: A002 - as in a definition
    returns: Any = None,
    prompt: str | None = None,
    assignees: Sequence[str] | None = None,
    timeout: Duration | None = None,
    description: str | None = None,
) -> Any:
    """A step that ends when somebody answers. `returns`: the type of the value that the answer brings along;
    `prompt`: what is asked, where the description does not say it; `assignees`: who is to answer, users or
    `role:x`.

    A refusal fails the step.
    """
    trace = required("wait")
    node = _waiting(trace, "Wait", "wait", id)
    if prompt is not None:
        node.params["prompt"] = setting(trace, prompt, Kind(ParamType.STRING), "prompt")
    if assignees is not None:
        node.params["assignees"] = setting(trace, assignees, Kind(ParamType.STRING_ARRAY), "assignees")
    limit = duration(timeout, "timeout")
    if limit is not None:
        node.fields["timeout"] = limit
    if description is not None:
        node.fields["description"] = description
    label = f"the answer to `{node.id}`"
    if returns is None:
        return NoResult(node, label)
    kind = kind_of(returns)
    node.params[RESULT] = ParamDefinition(type=kind.type, value=empty(kind), meta=kind.meta)
    return cast("T", Ref(Value(trace, Output(node, RESULT, kind.type), kind, returns, label), node))  # type: ignore[valid-type]


def _seconds(given: Duration) -> int | float:
    """A time that is known, in whole seconds where it has no parts of one."""
    found: Any = given
    if isinstance(given, str):
        millis = duration_millis(given)
        found = None if millis is None else millis / 1_000
    elif isinstance(given, timedelta):
        found = given.total_seconds()
    if type(found) not in {int, float}:
        found = None
    if found is None or not 0 <= found <= MOST:
        raise TraceError(f"`sleep` is given {given!r}", "give seconds from 0 to 120 days, or `5 minutes`")
    return int(found) if found == int(found) else float(found)


def _waiting(trace: Trace, kind: str, name: str, step_id: str | None) -> Node:
    place = here()
    made = idle(trace.step_id(step_id or name, place, exact=step_id is not None), trace.region, place, kind)
    return trace.add(made)
