"""Conditions: boolean expressions on edges and loops."""

from typing import Annotated, Any

from stretto.model.problem import Place
from stretto.model.wire.codec import Own, Sink, wrong_type


class ConditionCodec:
    """Text; `true` and `false` without quotes; or `{"expression": text}` as a parameter would be written."""

    def __init__(self, _tp: Any) -> None:
        pass

    def blank(self) -> str:
        return "true"

    def decode(self, value: Any, at: Place, sink: Sink, /) -> str:
        if isinstance(value, dict) and value.keys() <= {"expression", "type"}:
            value = value.get("expression")
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, str):
            return value
        sink.append(wrong_type(at, "a condition (text)", value))
        return self.blank()

    def encode(self, value: str, /) -> str:
        return value


Condition = Annotated[str, Own(ConditionCodec)]
