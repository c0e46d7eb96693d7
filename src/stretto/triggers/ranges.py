"""Numbers in a cron field: `5`, `MON`, `9-17`, `*/15`, `0-30/10`, and ranges that run over the end."""

import re
from typing import Final

from stretto.model.suggest import did_you_mean
from stretto.triggers.errors import CronError
from stretto.triggers.snippets import Snippet

_RANGE: Final = re.compile(r"(?P<start>\*|\w+)?(?:-(?P<end>\w+))?(?:/(?P<step>\w+))?", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,9}")  # no longer number is ever right
_DAY_MARK: Final = re.compile(r"\?|LW?|L-.*|\w+#.*|\d+[LW]", re.ASCII | re.IGNORECASE)


def read_range(item: Snippet) -> list[int]:
    """The numbers that one item of a list stands for, in the order in which it counts them."""
    match = _RANGE.fullmatch(item.text)
    if match is None or not item.text:
        raise _unreadable(item)
    field = item.field
    start, end, step = (item.group(match, name) for name in ("start", "end", "step"))
    stride = read_count(step, 1, field.size, "the step") if step else 1
    if start is None or start.text == "*":
        if end is not None:
            raise item.error(f"`{item.text}` has no number before the `-`", "a range is written 9-17")
        return list(range(field.low, field.high + 1, stride))
    first = read_number(start)
    if end is None:
        return list(range(first, field.high + 1, stride)) if step else [first]
    return _count_up(item, first, _last(first, end), stride)


def read_number(word: Snippet) -> int:
    """A number or a name of the field."""
    field = word.field
    if word.text.upper() in field.names:
        return field.low + field.names.index(word.text.upper())
    if not word.text.isdigit():
        raise _unreadable(word)
    return read_count(word, field.low, field.high, f"the {field.title}", field.hint)


def read_count(word: Snippet, low: int, high: int, what: str, hint: str | None = None) -> int:
    """A plain number between two bounds."""
    number = int(word.text) if _NUMBER.fullmatch(word.text) else None
    if number is None or not low <= number <= high:
        raise word.error(f"{what} must be {low}-{high}, not `{word.text}`", hint)
    return number


def _last(first: int, end: Snippet) -> int:
    """The end of a range. In a UNIX cron, where no range wraps, `FRI-SUN` ends on day 7."""
    last = read_number(end)
    if last < first and end.text.upper() == "SUN" and not end.field.wraps:
        return end.field.high
    return last


def _count_up(item: Snippet, first: int, last: int, stride: int) -> list[int]:
    field = item.field
    if first <= last:
        return list(range(first, last + 1, stride))
    if not field.wraps:
        raise item.error(f"the range `{item.text}` runs backwards", f"write {last}-{first}, or two ranges")
    # Counted on beyond the end and folded back, so that the step goes on over the seam.
    return [
        field.low + (number - field.low) % field.size
        for number in range(first, last + field.size + 1, stride)
    ]


def _unreadable(word: Snippet) -> CronError:
    field = word.field
    if not word.text:
        return word.error("a value is missing", f"allowed: {field.allowed}")
    if _DAY_MARK.fullmatch(word.text):
        return word.error(f"`{word.text}` has no meaning here, allowed: {field.allowed}", field.mark_hint)
    hint = did_you_mean(word.text, field.names)
    return word.error(f"`{word.text}` is not understood, allowed: {field.allowed}", hint)
