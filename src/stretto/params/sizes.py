"""How large parameters may be in all: as JSON, the form in which they are stored."""

from collections.abc import Mapping
from typing import Final

import msgspec

from stretto.model.param import Parameter
from stretto.model.wire import encode, to_json
from stretto.params.errors import Fault, ParamError

# Every field of the records, nulls included: never shorter than what is stored, and made in one go.
ROUGH: Final = msgspec.json.Encoder(enc_hook=repr)


def rough_size(params: Mapping[str, Parameter]) -> int:
    """At least as many bytes as parameters take."""
    return len(ROUGH.encode(params))


def check_size(params: Mapping[str, Parameter], limit: int, reserve: int = 0) -> None:
    """Refuse parameters that are too large to be stored; `reserve` counts what has no JSON yet."""
    if rough_size(params) + reserve <= limit:
        return
    size = len(to_json({name: encode(param) for name, param in params.items()})) + reserve
    if size > limit:
        message = f"The parameters have a total size of [{size}], which is over the limit of [{limit}]"
        raise ParamError(Fault.TOO_LARGE, "", message)
