"""Signals as steps use them: what a step waits for, and what it announces when it ends."""

from typing import Any

import msgspec

from stretto.model.param import ParamDefinition, Params
from stretto.model.trigger import SignalOperator


class SignalMatchParam(msgspec.Struct, frozen=True, kw_only=True):
    """A wanted value that is evaluated when the step is made."""

    param: ParamDefinition
    operator: SignalOperator


class SignalDependencyDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """A signal that a step waits for; the name may hold `${param}`."""

    name: str
    match_params: dict[str, SignalMatchParam] | None = None


class SignalOutputDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """A signal that a step announces when it has succeeded."""

    name: str
    params: Params | None = None
    payload: dict[str, Any] | None = None
