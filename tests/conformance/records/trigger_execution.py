"""Messages by which triggers start runs: a signal came, all signals have come, a time has come."""

import msgspec

from stretto.model.param import Params
from stretto.model.retry import Number
from stretto.model.signal_instance import SignalInstance
from stretto.model.trigger import TimeTrigger


class SignalTriggerMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A signal came that a trigger listens to."""

    workflow_id: str
    trigger_uuid: str
    signal_instance: SignalInstance


class SignalTriggerExecution(msgspec.Struct, frozen=True, kw_only=True):
    """All signals of a trigger have come; the condition decides whether a run starts."""

    workflow_id: str
    trigger_uuid: str
    signal_ids: dict[str, int]
    condition: str | None = None
    dedup_expr: str | None = None
    params: Params | None = None


class TimeTriggerWatermark(msgspec.Struct, frozen=True, kw_only=True):
    """A time trigger and when it fired last, in seconds."""

    time_trigger: TimeTrigger
    last_trigger_timestamp: Number


class TimeTriggerExecution(msgspec.Struct, frozen=True, kw_only=True):
    """The time triggers of a version are to be looked at."""

    workflow_id: str
    workflow_version: str | None = None
    workflow_trigger_uuid: str | None = None
    time_triggers_with_watermarks: tuple[TimeTriggerWatermark, ...] = ()
