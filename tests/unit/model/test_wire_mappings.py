"""Maps that nobody changes are written and read as any others."""

from collections.abc import Mapping

import msgspec

from stretto.model.status import RunStatus
from stretto.model.wire import decode, encode


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    counts: Mapping[RunStatus, int] = {}


def test_a_mapping_is_an_object() -> None:
    record = Counted(counts={RunStatus.FAILED: 2})
    assert encode(record) == {"counts": {"FAILED": 2}}
    assert decode(Counted, {"counts": {"failed": 2}}) == (record, [])
