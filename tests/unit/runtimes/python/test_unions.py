"""Values of annotations that mix classes that have a codec with others."""

import dataclasses
from collections.abc import Sequence
from typing import Any, TypedDict

import msgspec
import pytest

from stretto.runtimes.python.step_error import StepError
from stretto.runtimes.python.values import JSON_TEXT, JSON_TEXTS, Unreadable, decode, json_text

ERROR = StepError("ValueError", "three", "", "w/1:a")


@dataclasses.dataclass
class Report:
    rows: list[int | StepError]
    note: str = ""


class Row(msgspec.Struct):
    found: dict[str, int | StepError]


class Plain(TypedDict):
    one: int | StepError


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal, with errors compared by what they say."""
    return repr(left) == repr(right)


@pytest.mark.parametrize(
    ("value", "annotation"),
    [
        ([1, ERROR], list[int | StepError]),
        ([[1, ERROR], []], list[list[int | StepError]]),
        ({"a": [1], "b": ERROR}, dict[str, list[int] | StepError]),
        ({"a": {"b": [ERROR, 2]}}, dict[str, dict[str, list[int | StepError]]]),
        ([[ERROR], None], list[list[int | StepError] | None]),
        (None, list[list[int | StepError]] | None),
        ((1, ERROR), tuple[int, int | StepError]),
        ((ERROR, 1), tuple[int | StepError, ...]),
        (Report([1, ERROR], "x"), Report),
        ([Report([ERROR])], list[Report]),
        (Row({"a": ERROR}), Row),
        ({"one": ERROR}, Plain),
        ([1.5, ERROR, b"x"], list[float | bytes | StepError]),
        ([[1, "x", ERROR]], list[Sequence[int | str | StepError]]),
    ],
)
def test_errors_are_read_at_every_depth(value: Any, annotation: Any) -> None:
    text = json_text(value, "value")
    assert same(decode(text, JSON_TEXT, annotation, "value"), value)
    (found,) = decode((text,), JSON_TEXTS, list[annotation], "value")
    assert same(found, value)


@pytest.mark.parametrize(
    ("text", "annotation"),
    [
        ('[["x"]]', list[list[int | StepError]]),
        ('{"a": 1}', list[list[int | StepError]]),
        ("[1]", tuple[int, int | StepError]),
        ("{}", Report),
        ("[null]", list[list[int | StepError]]),
    ],
)
def test_another_value_is_refused(text: str, annotation: Any) -> None:
    with pytest.raises(Unreadable, match="can not be read as"):
        decode(text, JSON_TEXT, annotation, "value")
