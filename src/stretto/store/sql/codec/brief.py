"""Parameters with their results, in brief: of a default that nobody changed only the result is written.

    {"RUN_TS": 1763280000000, "RUN_DATE": "20251116", "x": {"type": "LONG", ...}, "~1": 1763280000001}

The mark says when the bare ones were evaluated, and which edition of `ports.default_params` has the rest of
them. Whatever differs in anything else, or has no mark around it, is written whole.
"""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final

from stretto.model.errors import Internal
from stretto.model.param import ParamDefinition, Parameter
from stretto.ports.default_params import DEFAULT_PARAMS, EDITION
from stretto.store.sql.codec.exact import MARK, pack_param, unpack_param

Stored = dict[str, Parameter | str | int]

EVALUATED: Final = f"{MARK}{EDITION}"
_BARE: Final = (str, int)
_rest_of: Final = attrgetter(*ParamDefinition.__struct_fields__)  # all but the result and its time
_RESTS: Final[Mapping[str, Any]] = {name: _rest_of(each) for name, each in DEFAULT_PARAMS.items()}


def pack_params(params: Mapping[str, Parameter]) -> Mapping[str, Any]:
    """As they are written; all bare ones have the same time."""
    if EVALUATED in params:  # somebody's parameter is called so
        return pack_whole(params)
    packed: dict[str, Any] = {}
    time: int | None = None
    for name, param in params.items():
        if name not in _RESTS or _RESTS[name] != _rest_of(param) or type(param.evaluated_result) not in _BARE:
            packed[name] = pack_param(param)
            continue
        if time is None:
            time = param.evaluated_time
        is_bare = time is not None and time == param.evaluated_time
        packed[name] = param.evaluated_result if is_bare else pack_param(param)
    if time is not None:
        packed[EVALUATED] = time
    return packed


def pack_whole(params: Mapping[str, Parameter]) -> Mapping[str, Any]:
    """The same, nothing left out."""
    return {name: pack_param(param) for name, param in params.items()}


def unpack_params(stored: Stored) -> dict[str, Parameter]:
    """The parameters that were written."""
    time = stored.get(EVALUATED)
    return {
        name: unpack_param(each) if isinstance(each, Parameter) else _whole(name, each, time)
        for name, each in stored.items()
        if name != EVALUATED or isinstance(each, Parameter)
    }


def _whole(name: str, result: str | int, time: Any) -> Parameter:
    known = DEFAULT_PARAMS.get(name)
    if known is None or time is None:
        raise Internal(
            f"the stored parameter {name} can not be read: it is none of the defaults",
            hint="it was damaged, or written by a newer version of Stretto",
        )
    return Parameter(
        type=known.type,
        expression=known.expression,
        tags=known.tags,
        mode=known.mode,
        source=known.source,
        evaluated_result=result,
        evaluated_time=time,
    )
