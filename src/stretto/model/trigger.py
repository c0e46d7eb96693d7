"""What starts a workflow by itself: time triggers and signal triggers."""

from typing import Any

import msgspec

from stretto.model.param import Params
from stretto.model.retry import Number
from stretto.model.words import Word


class PredefinedSchedule(Word):
    """Named schedules; the `@` may be left out when reading."""

    HOURLY = "@hourly"
    DAILY = "@daily"
    WEEKLY = "@weekly"
    MONTHLY = "@monthly"
    YEARLY = "@yearly"

    @classmethod
    def _missing_(cls, value: object) -> Any:
        return super()._missing_(value if str(value).startswith("@") else f"@{value}")


class CatchUp(Word):
    """What becomes of fires that could not be started in time."""

    ALL = "all"  # each is started, the newest up to a limit; the default
    LATEST = "latest"  # the newest is started, unless one that is in time starts anyway
    NONE = "none"  # none is started

    @classmethod
    def noun(cls) -> str:
        return "catch-up mode"


class CronTrigger(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="CRON"):
    cron: str
    timezone: str | None = None
    fuzzy_max_delay: Number | None = None
    catch_up: CatchUp | None = None
    catch_up_limit: int | None = None


class PredefinedTrigger(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="PREDEFINED"):
    expression: PredefinedSchedule
    timezone: str | None = None
    fuzzy_max_delay: Number | None = None
    catch_up: CatchUp | None = None
    catch_up_limit: int | None = None


class IntervalTrigger(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="INTERVAL"):
    interval: str
    start: str | None = None
    timezone: str | None = None
    fuzzy_max_delay: Number | None = None
    catch_up: CatchUp | None = None
    catch_up_limit: int | None = None


TimeTrigger = CronTrigger | PredefinedTrigger | IntervalTrigger


class SignalOperator(Word):
    """How a signal's parameter is compared with the wanted value."""

    EQUALS_TO = "="
    GREATER_THAN = ">"
    GREATER_THAN_EQUALS_TO = ">="
    LESS_THAN = "<"
    LESS_THAN_EQUALS_TO = "<="


SignalParam = str | int  # what a signal may carry, and be matched by


class SignalParamValue(msgspec.Struct, frozen=True, kw_only=True):
    """A wanted value, known when the workflow is published."""

    value: SignalParam
    operator: SignalOperator


class SignalTriggerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One signal that a trigger waits for."""

    match_params: dict[str, SignalParamValue] | None = None
    join_keys: tuple[str, ...] | None = None


class SignalTrigger(msgspec.Struct, frozen=True, kw_only=True):
    """Starts a run when each of its signals has come, joined on equal values of their join keys."""

    definitions: dict[str, SignalTriggerEntry]
    params: Params | None = None
    condition: str | None = None
    dedup_expr: str | None = None
