"""What is stored of the functions of programs: enough to see later that one has changed, or is gone."""

from collections.abc import Sequence
from typing import Protocol

import msgspec


class FunctionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A function that was registered, by its name."""

    name: str
    module: str
    qualname: str
    params: dict[str, str] = {}  # name -> type, as its author wrote it
    source_hash: str


class Functions(Protocol):
    """Records of functions. The newest one counts; nothing refers to them."""

    async def function_record(self, name: str) -> FunctionRecord | None:
        """What is known of a function."""
        ...

    async def function_records(self) -> Sequence[FunctionRecord]:
        """All of them, by name."""
        ...

    async def put_function(self, record: FunctionRecord) -> FunctionRecord | None:
        """Remember a function; what was known of it before, if anything was."""
        ...
