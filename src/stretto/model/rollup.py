"""How far a run is: counts of its own steps, and of the leaf steps of the whole tree under it."""

from collections.abc import Iterable
from typing import Any, ClassVar

import msgspec

from stretto.model.errors import Internal
from stretto.model.problem import Place
from stretto.model.status import RunStatus, StepStatus
from stretto.model.wire.codec import Own, Shape, Sink, wrong_type


class StepInfo(msgspec.Struct, frozen=True):
    """A step of a run, by its place in the run's graph (from 1); in JSON a list of three."""

    wire: ClassVar[Own] = Own(lambda tp: StepInfoCodec(tp))  # noqa: PLW0108 - defined below

    ordinal: int
    start_time: int | None = None
    end_time: int | None = None


class StepInfoCodec:
    """`[3, 1647977244273, null]`: large graphs are listed often, so the names of fields are left out."""

    def __init__(self, _tp: Any) -> None:
        pass

    def blank(self) -> StepInfo:
        return StepInfo(0)

    def decode(self, value: Any, at: Place, sink: Sink, /) -> StepInfo:
        if not isinstance(value, list) or len(value) != 3 or value[0] is None:
            sink.append(wrong_type(at, "a list of ordinal, start time and end time", value))
            return self.blank()
        for place, item in enumerate(value):
            if item is not None and type(item) is not int:
                sink.append(wrong_type((at, place), "a whole number", item))
                return self.blank()
        return StepInfo(*value)

    def encode(self, info: StepInfo, /) -> list[int | None]:
        return [info.ordinal, info.start_time, info.end_time]


class StepCount(msgspec.Struct, kw_only=True):
    """The steps of a run in one status; a bare number is the short form."""

    wire: ClassVar[Shape] = Shape(
        lean=("steps",), short=lambda value: {"cnt": value} if type(value) is int else None
    )

    cnt: int
    steps: list[StepInfo] = []


class RollupCount(msgspec.Struct, kw_only=True):
    """The leaf steps of a tree in one status.

    `ref` names them where the status is of interest (`StepStatus.is_overview`):
    `workflow:run` -> `instance:step:attempt`.
    """

    wire: ClassVar[Shape] = Shape(lean=("ref",))

    cnt: int
    ref: dict[str, list[str]] = {}


class RollupOverview(msgspec.Struct, kw_only=True):
    """All leaf steps of a tree."""

    wire: ClassVar[Shape] = Shape(lean=("overview",))

    total_leaf_count: int = 0
    overview: dict[StepStatus, RollupCount] = {}


class RuntimeOverview(msgspec.Struct, kw_only=True):
    """How far one run is. `run_status` is there only where it differs from the instance's status."""

    total_step_count: int = 0
    step_overview: dict[StepStatus, StepCount] = {}
    rollup_overview: RollupOverview | None = None
    run_status: RunStatus | None = None

    def steps_of(self, step_ids: Iterable[str]) -> dict[str, tuple[StepStatus, StepInfo]]:
        """The steps listed here, by id; `step_ids` are those of the run's graph, in its order."""
        ids = list(step_ids)
        found: dict[str, tuple[StepStatus, StepInfo]] = {}
        for status, count in self.step_overview.items():
            for info in count.steps:
                if not 1 <= info.ordinal <= len(ids):
                    msg = f"cannot find the step of ordinal {info.ordinal} in a graph of {len(ids)} steps"
                    raise Internal(msg)
                found[ids[info.ordinal - 1]] = (status, info)
        return found
