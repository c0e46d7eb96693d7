"""What a request to start or restart may contain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from stretto.model.param import ParamDefinition, Parameter
from stretto.model.wire import encode, to_json
from stretto.params.errors import Fault, ParamError
from stretto.params.values import is_evaluated

SEPARATOR: Final = "__"  # between step and parameter
CASINGS: Final = (str.lower, str.capitalize, str.upper)

RESERVED_NAMES: Final = frozenset(
    {
        *(style(word) for word in ("maestro", "scheduler", "util", "params") for style in CASINGS),
        "AUTH_BLOB",
        "AUTH_DATA",
        "AUTH_ACTING_ON_BEHALF_OF_BLOB",
        "AUTH_TRIGGERING_ON_BEHALF_OF_BLOB",
        "AUTHORIZED_MANAGERS",
    }
)


@dataclass(frozen=True, slots=True)
class ParamLimits:
    """How much a request and a run may carry. Maestro's own size limit is 750,000.

    `visits` and `memory` are those of all expressions of a run's parameters together: whoever starts a run
    waits for them, and so does everybody else in that process.
    """

    entries: int = 128  # parameters of one request
    size: int = 4 * 1024 * 1024  # bytes of JSON of all evaluated parameters of a run or a step attempt
    visits: int = 1_000_000  # steps of evaluation: well under 0.1 s
    memory: int = 40_000_000  # 32 for each value made, and 2 for each character


DEFAULT_LIMITS: Final = ParamLimits()
MOST_SIZE: Final = 16 * 1024 * 1024  # that `size` may be: stores and worker processes take as much


def check_request(params: Mapping[str, ParamDefinition], limits: ParamLimits = DEFAULT_LIMITS) -> None:
    """Refuse run or restart parameters that no user may send. Problems of all names come in one error."""
    if len(params) > limits.entries:
        message = f"A request can carry {limits.entries} parameters, this one has {len(params)}"
        raise ParamError(Fault.TOO_MANY, "", message)
    reserved = sorted(RESERVED_NAMES & params.keys())
    if reserved:
        names = ", ".join(f"[{name}]" for name in reserved)
        raise ParamError(
            Fault.RESERVED_NAME, reserved[0], f"Reserved parameter names can not be set: {names}"
        )
    sourced = [name for name, param in params.items() if param.source is not None]
    if sourced:
        names = ", ".join(f"[{name}]" for name in sourced)
        raise ParamError(Fault.SYSTEM_FIELD, sourced[0], f"The source of a parameter can not be set: {names}")


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
