"""Functions of values that are not known yet, where Python's own need them now: `size` and `text`."""

from collections.abc import Sized
from typing import Any, cast

from stretto.flow.convert import value_in
from stretto.flow.errors import TraceError
from stretto.flow.operators import joined_text, length
from stretto.flow.refs import Ref


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
