"""Who: a caller, an owner, an author."""

from typing import Any, ClassVar

import msgspec

from stretto.model.wire.codec import Shape


class User(msgspec.Struct, frozen=True, kw_only=True):
    """A user by name, with whatever else the caller's systems attach to it.

    Written as bare text when it came as bare text (`extra` is None), else as an object.
    """

    wire: ClassVar[Shape] = Shape(
        rest="extra",
        short=lambda value: {"name": value} if isinstance(value, str) else None,
        shrink=lambda user: user.name if user.extra is None else None,
    )

    name: str
    extra: dict[str, Any] | None = None
