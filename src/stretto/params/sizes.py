"""How large parameters may be in all: as JSON, each with its result and without the literal it came from."""

from collections.abc import Mapping
from typing import Final

import msgspec

from stretto.model.param import Parameter
from stretto.model.wire import encode, to_json
from stretto.params.errors import Fault, ParamError
from stretto.params.values import is_evaluated

SETTING: Final = "params.size"  # says how large they may be

# Every field of the records, nulls included: never shorter than what is counted, and made in one go.
ROUGH: Final = msgspec.json.Encoder(enc_hook=repr)


def rough_size(params: Mapping[str, Parameter]) -> int:
    """At least as many bytes as parameters take."""
    return len(ROUGH.encode(params))


def check_size(params: Mapping[str, Parameter], limit: int, reserve: int = 0) -> None:
    """Refuse parameters that are too large to be stored; `reserve` counts what has no JSON yet."""
    if rough_size(params) + reserve <= limit:
        return
    size = len(to_json({name: encode(_counted(param)) for name, param in params.items()})) + reserve
    if size > limit:
        message = (
            f"The parameters have a total size of [{size}], which is over the limit of [{limit}] "
            f"(setting `{SETTING}`)"
        )
        raise ParamError(Fault.TOO_LARGE, "", message)


def _counted(param: Parameter) -> Parameter:
    """A parameter without its literal, if it has a result: the two hold the same value."""
    return msgspec.structs.replace(param, value=None) if is_evaluated(param) else param
