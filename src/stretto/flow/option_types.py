"""Types that options of steps and workflows take; another one is refused where it is written."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from stretto.flow.errors import TraceError
from stretto.model.signal import SignalDependencyDefinition, SignalOutputDefinition
from stretto.model.step import FailureMode
from stretto.model.tag import Tag
from stretto.model.trigger import CatchUp


class Wanted(NamedTuple):
    """What an option takes. `many`: a list of these, too; `call`: something to call, too."""

    words: str
    types: tuple[type, ...] = ()
    many: bool = False
    call: bool = False

    def accepts(self, value: Any) -> bool:
        if self.many and isinstance(value, list | tuple | set | frozenset):
            return all(map(self._is_one, value))
        return self._is_one(value)

    def _is_one(self, value: Any) -> bool:
        if isinstance(value, bool):
            return False
        return isinstance(value, self.types) or (self.call and callable(value))


TEXT: Final = Wanted("a text", (str,))
TAGS: Final = Wanted("a text, a `Tag`, or a list of them", (str, Tag), many=True)
HANDLERS: Final = Wanted("a function, or a list of them", many=True, call=True)
NUMBER: Final = Wanted("a number", (int, float))
WHOLE: Final = Wanted("a whole number", (int,))

OF_A_STEP: Final[Mapping[str, Wanted]] = {
    "id": TEXT,
    "retry_if": Wanted("an expression", (str,)),
    "tags": TAGS,
    "rate": Wanted("a text such as `10/minute`", (str,)),
    "failure_mode": Wanted("a failure mode, such as `IGNORE_FAILURE`", (str, FailureMode)),
    "waits_for": Wanted(
        "the name of a signal, or a list of them", (str, SignalDependencyDefinition), many=True
    ),
    "announces": Wanted("the name of a signal, or a list of them", (str, SignalOutputDefinition), many=True),
    "description": TEXT,
    "name": TEXT,
    "on_success": HANDLERS,
    "on_failure": HANDLERS,
    "on_timeout": HANDLERS,
    "cache_key": Wanted("a text, or a function", (str,), call=True),
    "pool": Wanted("the name of a pool", (str,)),
    "tolerance": Wanted("a number from 0 to 1", (int, float)),
    "required": Wanted("the name of a parameter, or a list of them", (str,), many=True),
}
OF_A_CRON: Final[Mapping[str, Wanted]] = {
    "expression": Wanted("a cron such as `0 6 * * *`", (str,)),
    "timezone": Wanted("a time zone such as `Europe/Berlin`", (str,)),
    "catch_up": Wanted(f"one of {', '.join(each.value for each in CatchUp)}", (str, CatchUp)),
    "catch_up_limit": WHOLE,
}


def check_types(
    options: Mapping[str, Any], wanted: Mapping[str, Wanted], *, never_none: Iterable[str] = ()
) -> None:
    """Raise TraceError for the first option of another type. None says that an option is left out."""
    for name, value in options.items():
        rule = wanted.get(name)
        if rule is None or (value is None and name not in never_none):
            continue
        if not rule.accepts(value):
            raise TraceError(f"`{name}` is {value!r:.100}", f"write {rule.words}")
