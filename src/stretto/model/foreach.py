"""How far a foreach step is: counters and ranges of iterations, never a list of all of them."""

from typing import Annotated, Any, ClassVar

import msgspec

from stretto.model.problem import Place
from stretto.model.rollup import RollupOverview
from stretto.model.status import InstanceStatus
from stretto.model.wire.codec import Own, Shape, Sink, wrong_type


class RangesCodec:
    """`[1, [3, 7]]`: an iteration alone is a number, a row of them is a pair."""

    def __init__(self, _tp: Any) -> None:
        pass

    def blank(self) -> list[tuple[int, int]]:
        return []

    def decode(self, value: Any, at: Place, sink: Sink, /) -> list[tuple[int, int]]:
        if not isinstance(value, list):
            sink.append(wrong_type(at, "a list", value))
            return self.blank()
        return [_read_range(each, (at, i), sink) for i, each in enumerate(value)]

    def encode(self, ranges: list[tuple[int, int]], /) -> list[int | list[int]]:
        return [first if first == last else [first, last] for first, last in ranges]


def _read_range(value: Any, at: Place, sink: Sink) -> tuple[int, int]:
    if type(value) is int:
        return value, value
    if isinstance(value, list) and len(value) == 2 and all(type(each) is int for each in value):
        return value[0], value[1]
    sink.append(wrong_type(at, "an iteration, or a pair of the first and the last of a row", value))
    return 0, 0


Ranges = Annotated[list[tuple[int, int]], Own(RangesCodec)]  # first and last, both included


class ForeachOverview(msgspec.Struct, kw_only=True):
    """Iterations below the checkpoint have ended and are only counted; those above are `running_*`."""

    wire: ClassVar[Shape] = Shape(lean=("stats", "running_stats", "restart_info"))

    checkpoint: int = 0
    stats: dict[InstanceStatus, int] = {}
    running_stats: dict[InstanceStatus, int] = {}
    rollup: RollupOverview | None = None
    running_rollup: RollupOverview | None = None
    details: dict[InstanceStatus, Ranges] | None = None
    restart_info: list[int] = []  # iterations that were started again
