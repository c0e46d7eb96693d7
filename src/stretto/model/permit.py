"""Tag permits: how many steps may hold a tag at once."""

from typing import Any, ClassVar

import msgspec

from stretto.model.timeline import Timeline
from stretto.model.wire.codec import Shape


class TagPermitRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Sets the limit of a tag; unknown keys are kept with it."""

    wire: ClassVar[Shape] = Shape(rest="extra")

    tag: str
    max_allowed: int
    extra: dict[str, Any] = {}


class TagPermit(msgspec.Struct, kw_only=True):
    """The limit of a tag, and who changed it when."""

    wire: ClassVar[Shape] = Shape(rest="extra")

    tag: str
    max_allowed: int
    timeline: Timeline | None = None
    extra: dict[str, Any] = {}
