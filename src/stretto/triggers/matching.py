"""Do signals fit? What a step or a trigger wants of a signal, and which signals a trigger joins."""

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from operator import eq, ge, gt, le, lt
from typing import Any, Final

from stretto.model.signal_instance import SignalInstance
from stretto.model.trigger import SignalOperator, SignalParam, SignalParamValue, SignalTrigger

COMPARE: Final[Mapping[SignalOperator, Callable[[Any, Any], bool]]] = {
    SignalOperator.EQUALS_TO: eq,
    SignalOperator.GREATER_THAN: gt,
    SignalOperator.GREATER_THAN_EQUALS_TO: ge,
    SignalOperator.LESS_THAN: lt,
    SignalOperator.LESS_THAN_EQUALS_TO: le,
}
LONGEST_KEY: Final = 128  # characters; a longer key would fit into no index


def satisfies(
    params: Mapping[str, SignalParam] | None, wanted: Mapping[str, SignalParamValue] | None
) -> bool:
    """Whether a signal brings all that is wanted. A text and a number are never alike, whatever they say."""
    given = params or {}
    return all(
        name in given
        and isinstance(given[name], str) is isinstance(match.value, str)
        and COMPARE[match.operator](given[name], match.value)
        for name, match in (wanted or {}).items()
    )


def join_key_of(trigger: SignalTrigger, signal: SignalInstance) -> str | None:
    """The values by which a trigger joins this signal with others, as one text; None: it wants another one.

    The keys of a trigger go by their place, whatever their names are in each signal. Without keys all its
    signals go together, under an empty text.
    """
    entry = trigger.definitions.get(signal.name)
    if entry is None or not satisfies(signal.params, entry.match_params):
        return None
    given, names = signal.params or {}, entry.join_keys or ()
    if not given.keys() >= set(names):
        return None
    if not names:
        return ""
    text = json.dumps([given[name] for name in names])
    return text if len(text) <= LONGEST_KEY else sha256(text.encode()).hexdigest()


def joined_by(trigger: SignalTrigger, key: str) -> Callable[[str, SignalInstance], bool]:
    """What a match of the trigger under a key asks of each signal, under the name it was found by."""

    def fits(_name: str, signal: SignalInstance) -> bool:
        return join_key_of(trigger, signal) == key

    return fits
