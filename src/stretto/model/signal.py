"""Signals as steps use them: what a step waits for, and what it announces when it ends."""

from typing import Any

import msgspec

from stretto.model.param import ParamDefinition, Params
from stretto.model.trigger import SignalOperator
from stretto.model.wire import decode


class SignalMatchParam(msgspec.Struct, frozen=True, kw_only=True):
    """A wanted value that is evaluated when the step is made."""

    param: ParamDefinition
    operator: SignalOperator


class SignalDependencyDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """A signal that a step waits for; the name may hold `${param}`."""

    name: str
    match_params: dict[str, SignalMatchParam] | None = None


class SignalOutputDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """A signal that a step announces when it has succeeded. A value of the payload is a parameter of any
    type, or plain JSON, which stands for itself.
    """

    name: str
    params: Params | None = None
    payload: dict[str, Any] | None = None

    def payload_params(self) -> Params:
        """Those values of the payload that are parameters. One that can not be read is a plain value: a push
        refuses it, but earlier releases did not.
        """
        found: Params = {}
        for key, value in (self.payload or {}).items():
            if is_param(value):
                param, problems = decode(ParamDefinition, value)
                if not problems:
                    found[key] = param
        return found


def is_param(value: Any) -> bool:
    """Whether a value of a payload is a parameter: it has a type, and a value or an expression."""
    return isinstance(value, dict) and "type" in value and ("value" in value or "expression" in value)
