"""Tags: names on workflows, steps and parameters; a tag with permits limits how many steps run at once."""

from collections.abc import Iterable
from typing import Any, ClassVar

import msgspec

from stretto.model.wire.codec import Shape
from stretto.model.words import Word


class TagNamespace(Word):
    SYSTEM = "SYSTEM"
    RUNTIME = "RUNTIME"
    JOB_TEMPLATE = "JOB_TEMPLATE"
    NOTEBOOK_TEMPLATE = "NOTEBOOK_TEMPLATE"
    USER_DEFINED = "USER_DEFINED"
    PLATFORM = "PLATFORM"


class Tag(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A bare name, or an object with a namespace and free attributes; always written as an object."""

    wire: ClassVar[Shape] = Shape(
        rest="attributes", short=lambda value: {"name": value} if isinstance(value, str) else None
    )

    name: str
    namespace: TagNamespace | None = None
    permit: int | None = None  # how many steps may hold the tag at once, where it says so itself
    attributes: dict[str, Any] = {}


def merge_tags(*groups: Iterable[Tag] | None) -> tuple[Tag, ...]:
    """The tags of all groups; of two with the same name, the one of the later group counts."""
    return tuple({tag.name: tag for group in groups for tag in group or ()}.values())
