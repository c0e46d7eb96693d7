"""Functions of values that are not known yet, where Python's own need them now, and `run_time`."""

from collections.abc import Sized
from typing import Any, Final, cast

from stretto.flow.convert import value_in
from stretto.flow.errors import TraceError
from stretto.flow.leaves import RunParam
from stretto.flow.operators import joined_text, length
from stretto.flow.refs import Ref
from stretto.flow.trace import Value, required
from stretto.model.param import ParamType
from stretto.runtimes.python.values import Kind

RUN_TIME: Final = "RUN_TS"  # the parameter of each run that holds it


def size(given: Sized) -> int:
    """How many elements, entries or characters a value has: `len`, also of what is not known yet."""
    value = value_in(given)
    return len(given) if value is None else cast("int", Ref(length(value)))


def text(*parts: Any) -> str:
    """Texts, numbers and flags, one after the other, as one text: an f-string of what is not known yet."""
    values = [(part, value_in(part)) for part in parts]
    known = [value for _, value in values if value is not None]
    if not known:
        return "".join(map(str, parts))
    for part, value in values:
        if value is None and not isinstance(part, str | int | float):
            raise TraceError(
                f"`text` is given a {type(part).__name__}", "give texts, numbers and values of steps"
            )
    return cast(
        "str", Ref(joined_text([part if value is None else value for part, value in values], known[0]))
    )


def run_time() -> int:
    """The moment that the run is for, in milliseconds since 1970: of a scheduled run the time of its fire,
    however late it starts, of others their start.
    """
    leaf = RunParam(RUN_TIME, ParamType.LONG)
    value = Value(required("run_time"), leaf, Kind(leaf.type), int, "the time of the run")
    return cast("int", Ref(value))
