"""Parts that runs and steps have in common: parameters and timelines."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from stretto.actions.reading.step_params import SATISFIED
from stretto.cli import style
from stretto.cli.address import readable
from stretto.model.param import Parameter, ParamSource, ParamType
from stretto.model.timeline import ActionEvent, DetailsEvent, LogEvent, StatusEvent, TimelineEvent
from stretto.model.wire import to_json
from stretto.params import is_null, result_text

WIDEST: Final = 100  # characters of a value
MOST_LINES: Final = 40  # of a timeline
OURS: Final = frozenset({ParamSource.SYSTEM_DEFAULT, ParamSource.SYSTEM_INJECTED, ParamSource.SYSTEM})


def titled(title: str, lines: Iterable[str]) -> list[str]:
    """Lines below a title; nothing at all without lines."""
    found = [f"  {line}".rstrip() for line in lines]
    return [style.paint(title, None, bold=True), *found] if found else []


def param_lines(params: Mapping[str, Parameter]) -> list[str]:
    """`table  sales`; those that the system brings along are left out."""
    own = {name: param for name, param in params.items() if param.source not in OURS and name != SATISFIED}
    longest = max(map(style.width_of, own), default=0)
    lines = []
    for name, param in own.items():
        output = "  (output)" if param.source is ParamSource.OUTPUT_PARAMETER else ""
        room = (style.columns() or longest + WIDEST + 4) - longest - 4 - len(output)
        value = style.cut(style.one_line(value_text(param)), max(style.NARROWEST, min(WIDEST, room)))
        lines.append(f"{style.padded(name, longest)}  {value}{output}")
    return lines


def value_text(param: Parameter) -> str:
    """The result of a parameter in a line."""
    value: Any = param.evaluated_result
    if value is None:
        return "(no value)" if is_null(param) else "(not evaluated)"
    if param.type in {ParamType.MAP, ParamType.STRING_MAP}:
        return to_json(value).decode()
    return result_text(param) or ""


def timeline_lines(timeline: Iterable[TimelineEvent]) -> list[str]:
    """`12:03:07  a sentence`; of a long one the end."""
    told = [f"{style.clock_time(event.timestamp)}  {_text(event)}" for event in timeline]
    # A failure is an event with its details and a line with its message: that is one thing for a reader.
    lines = [line for line, before in zip(told, ["", *told], strict=False) if line != before]
    hidden = len(lines) - MOST_LINES
    return lines if hidden <= 0 else [f"{style.plain('…')} {hidden} more before", *lines[-MOST_LINES:]]


def _text(event: TimelineEvent) -> str:
    match event:
        case StatusEvent(status=status):
            return status
        case LogEvent(message=message) | DetailsEvent(message=message):
            return readable(style.one_line(message))
        case ActionEvent():
            return readable(style.one_line(event.message or event.action))
        case _:
            return event.status
