"""Transitions in Maestro's YAML DSL: `job`, `IF expr THEN job`, `OTHERWISE job`."""

from typing import Any, NamedTuple

from stretto.definition.reading.located import gather
from stretto.model.problem import Code, Place, problem_at
from stretto.model.wire import Sink
from stretto.model.wire.codec import wrong_type


class _Edge(NamedTuple):
    job: str
    condition: str
    branch: str | None = None  # the condition of an IF, which OTHERWISE negates
    last: bool = False


def successors_of(entries: Any, at: Place, sink: Sink) -> dict[str, Any]:
    """A list of transitions -> successors with their conditions."""
    if isinstance(entries, str):
        entries = [entries]
    if not isinstance(entries, list):
        sink.append(wrong_type(at, "a list of transitions", entries))
        return {}
    made: dict[str, Any] = {}
    branches: list[str] = []
    ended = False
    for index, entry in enumerate(entries):
        place = (at, index)
        edge = _edge(entry, branches, place, sink)
        if edge is None:
            continue
        if ended:
            message = "OTHERWISE must be the last transition"
            sink.append(problem_at(place, Code.BAD_TRANSITION, message, "move it to the end"))
        elif edge.job in made:
            message = f"the transition to `{edge.job}` is given twice"
            sink.append(problem_at(place, Code.BAD_TRANSITION, message, "join the conditions with `||`"))
        else:
            made = gather(made, edge.job, edge.condition, entries, index)
            branches += [edge.branch] if edge.branch else []
            ended = edge.last
    return made


def _edge(entry: Any, branches: list[str], at: Place, sink: Sink) -> _Edge | None:
    """One transition; None for a blank one and for what is none. Split by hand: no text is slow here."""
    if not isinstance(entry, str):
        sink.append(wrong_type(at, "text", entry))
        return None
    parts = entry.rsplit(maxsplit=2)
    keywords = [part.lower() for part in parts]
    if len(parts) == 1:
        return _Edge(parts[0], "true")
    if len(parts) == 2 and keywords[0] == "otherwise":
        joined = " || ".join(f"({branch})" for branch in branches)
        return _Edge(parts[1], f"!({joined})" if branches else "true", last=True)
    if len(parts) == 3 and keywords[1] == "then":
        head = parts[0].split(maxsplit=1)
        if len(head) == 2 and head[0].lower() == "if":
            return _Edge(parts[2], head[1], head[1].removesuffix(";"))
    if parts:
        hint = "write `job`, `IF expression THEN job` or `OTHERWISE job`"
        message = f"`{entry.strip()}` is not a transition"
        sink.append(problem_at(at, Code.BAD_TRANSITION, message, hint))
    return None
