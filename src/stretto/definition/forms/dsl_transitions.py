"""Transitions in Maestro's YAML DSL: `job`, `IF expr THEN job`, `OTHERWISE job`."""

import re
from typing import Any, Final

from stretto.model.problem import Code, Place, problem_at
from stretto.model.wire import Sink
from stretto.model.wire.codec import wrong_type

_IF: Final = re.compile(r"if\s+(?P<cond>.+)\s+then\s+(?P<job>\S+)", re.IGNORECASE | re.DOTALL)
_OTHERWISE: Final = re.compile(r"otherwise\s+(?P<job>\S+)", re.IGNORECASE)
_JOB: Final = re.compile(r"\S+")


def successors_of(entries: Any, at: Place, sink: Sink) -> dict[str, str]:
    """A list of transitions -> successors with their conditions."""
    if isinstance(entries, str):
        entries = [entries]
    if not isinstance(entries, list):
        sink.append(wrong_type(at, "a list of transitions", entries))
        return {}
    made: dict[str, str] = {}
    conditions: list[str] = []
    ended = False
    for index, entry in enumerate(entries):
        place = (at, index)
        if not isinstance(entry, str):
            sink.append(wrong_type(place, "text", entry))
        elif not entry.strip():
            continue
        elif ended:
            message = "OTHERWISE must be the last transition"
            sink.append(problem_at(place, Code.BAD_TRANSITION, message, "move it to the end"))
        else:
            ended = _entry(entry.strip(), made, conditions, place, sink)
    return made


def _entry(text: str, made: dict[str, str], conditions: list[str], at: Place, sink: Sink) -> bool:
    """Add one transition; True after OTHERWISE."""
    if found := _IF.fullmatch(text):
        condition = found["cond"].strip()
        conditions.append(condition)
        made[found["job"]] = condition
    elif found := _OTHERWISE.fullmatch(text):
        joined = " || ".join(f"({condition})" for condition in conditions)
        made[found["job"]] = f"!({joined})" if conditions else "true"
        return True
    elif _JOB.fullmatch(text):
        made[text] = "true"
    else:
        hint = "write `job`, `IF expression THEN job` or `OTHERWISE job`"
        sink.append(problem_at(at, Code.BAD_TRANSITION, f"`{text}` is not a transition", hint))
    return False
