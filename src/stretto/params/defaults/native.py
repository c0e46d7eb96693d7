"""What every run knows about itself: what Maestro computes with some twenty expressions, computed natively.

Each row has both: the expression, which a user may read and copy and which decides what is right, and a
function that gives the same much faster, and only when somebody asks. The function counts while everything
the row reads is itself a default (RUN_TS may be given as a number, as time triggers do); otherwise the
expression does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Any, Final

from stretto.model.param import ParamType
from stretto.params.context import RunFacts, StepFacts
from stretto.sel.dates.calendar import date_of, days_of
from stretto.sel.dates.zones import UTC, zone

MINUTE: Final = 60_000
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
LOS_ANGELES: Final = "America/Los_Angeles"
WHOLE_MINUTES: Final = days_of(1972, 2, 1) * DAY

# What other rows read. A row whose inputs somebody changed is left to its expression.
ZONES: Final = frozenset({"DSL_DEFAULT_TZ", "WORKFLOW_CRON_TIMEZONE"})
TIMED: Final = ZONES | {"RUN_TS"}
DERIVED: Final = TIMED | {"TARGET_RUN_DATE", "TARGET_RUN_HOUR", "DERIVED_RUN_TS"}


class Origin:
    """What all defaults follow from: the facts of the run, its time stamp, and the step if it is a step's."""

    def __init__(self, run: RunFacts, run_ts: int, step: StepFacts | None = None) -> None:
        self.run = run
        self.run_ts = run_ts
        if step is not None:  # the facts themselves may lead back to the run that keeps this
            self.step_id = step.step_id
            self.step_attempt_id = step.step_attempt_id
            self._uuid = step.uuid
        self.default_zone = run.first_trigger_timezone or UTC.id
        self.cron_zone = run.initiator_timezone or self.default_zone

    @property
    def step_instance_uuid(self) -> str | None:
        return self._uuid if self._uuid is None or isinstance(self._uuid, str) else self._uuid()

    @cached_property
    def derived_ts(self) -> int:
        """The beginning of the run's local hour; where clocks skip it, the first moment after the gap."""
        local = zone(self.cron_zone)
        wall = self.run_ts + local.offset_at(self.run_ts)
        return local.instant_of(wall - wall % HOUR)


@dataclass(frozen=True, slots=True)
class NativeDefault:
    """One row: a parameter as an expression and as a function of the origin."""

    name: str
    type: ParamType
    expression: str
    native: Callable[[Origin], str | int]
    inputs: frozenset[str] = frozenset()
    is_reserved: bool = False  # a fact that nobody may change; dates may be changed at the start


def _text_of(pattern: str, wall: int) -> str:
    if pattern == "HH":
        return f"{wall % DAY // HOUR:02}"
    year, month, day = date_of(wall // DAY)
    return f"{year:04}{month:02}{day:02}"


def _local(pattern: str, where: str, moment: int, days: int) -> str:
    """Since 1972 clocks differ by whole minutes, everywhere: what runs of one minute ask for is the same."""
    if moment < WHOLE_MINUTES:
        return _shifted(pattern, where, moment, days)
    return _of_minute(pattern, where, moment // MINUTE, days)


def _shifted(pattern: str, where: str, moment: int, days: int) -> str:
    return _text_of(pattern, moment + zone(where).offset_at(moment) + days * DAY)


@lru_cache(maxsize=4_096)
def _of_minute(pattern: str, where: str, minute: int, days: int) -> str:
    return _shifted(pattern, where, minute * MINUTE, days)


def _row(name: str, time: str, where: str, pattern: str, *, days: int = 0, hours: int = 0) -> NativeDefault:
    """A local date or hour: of RUN_TS or DERIVED_RUN_TS, in a zone, some days or hours away."""
    in_cron_zone = where == "WORKFLOW_CRON_TIMEZONE"
    shift = "".join(
        f".{'plus' if count > 0 else 'minus'}{unit}({abs(count)})"
        for unit, count in (("Days", days), ("Hours", hours))
        if count
    )
    expression = (
        f"DateTime utcNow = new DateTime({time}); "
        f"DateTime localNow = utcNow.withZone(DateTimeZone.forID({where if in_cron_zone else repr(where)})); "
        f"localNow{shift}.toString('{pattern}');"
    )

    def native(origin: Origin) -> str:
        moment = (origin.run_ts if time == "RUN_TS" else origin.derived_ts) + hours * HOUR
        return _local(pattern, origin.cron_zone if in_cron_zone else where, moment, days)

    inputs = (TIMED if in_cron_zone else frozenset({"RUN_TS"})) if time == "RUN_TS" else DERIVED
    return NativeDefault(name, ParamType.STRING, expression, native, inputs)


def _first_of(field: str, otherwise: str) -> str:
    return (
        f"String timezone = params.getFromInstance('{field}'); "
        f"return timezone != null && !timezone.isEmpty() ? timezone : {otherwise};"
    )


def _fact(kind: ParamType, name: str, source: str, native: Callable[[Origin], Any]) -> NativeDefault:
    expression = f"return params.{source}('{name}');"
    return NativeDefault(name, kind, expression, native, is_reserved=True)


def _step_fact(kind: ParamType, name: str) -> NativeDefault:
    return _fact(kind, name, "getFromStep", attrgetter(name))


CRON, LA, _UTC = "WORKFLOW_CRON_TIMEZONE", LOS_ANGELES, UTC.id

NATIVE_DEFAULTS: Final[tuple[NativeDefault, ...]] = (
    NativeDefault(
        "DSL_DEFAULT_TZ",
        ParamType.STRING,
        _first_of("FIRST_TIME_TRIGGER_TIMEZONE", "'UTC'"),
        lambda origin: origin.default_zone,
    ),
    NativeDefault(
        "WORKFLOW_CRON_TIMEZONE",
        ParamType.STRING,
        _first_of("INITIATOR_TIMEZONE", "DSL_DEFAULT_TZ"),
        lambda origin: origin.cron_zone,
        frozenset({"DSL_DEFAULT_TZ"}),
    ),
    NativeDefault(
        "RUN_TS",
        ParamType.LONG,
        "return System.currentTimeMillis();",
        lambda origin: origin.run_ts,
    ),
    _row("TARGET_RUN_DATE", "RUN_TS", CRON, "yyyyMMdd"),
    _row("TARGET_RUN_HOUR", "RUN_TS", CRON, "HH"),
    NativeDefault(
        "DERIVED_RUN_TS",
        ParamType.LONG,
        "return Util.dateIntHourToTs(TARGET_RUN_DATE, TARGET_RUN_HOUR, WORKFLOW_CRON_TIMEZONE, 0, 0);",
        lambda origin: origin.derived_ts,
        DERIVED - {"DERIVED_RUN_TS"},
    ),
    _row("DERIVED_RUN_DATE_US_PACIFIC", "DERIVED_RUN_TS", LA, "yyyyMMdd"),
    _row("DERIVED_RUN_DATE_US_PACIFIC_MINUS_ONE", "DERIVED_RUN_TS", LA, "yyyyMMdd", days=-1),
    _row("DERIVED_RUN_DATE_UTC", "DERIVED_RUN_TS", _UTC, "yyyyMMdd"),
    _row("DERIVED_RUN_DATE_UTC_MINUS_ONE", "DERIVED_RUN_TS", _UTC, "yyyyMMdd", days=-1),
    _row("DERIVED_RUN_DATE_UTC_PLUS_ONE", "DERIVED_RUN_TS", _UTC, "yyyyMMdd", days=1),
    _row("DERIVED_RUN_DATE_UTC_MINUS_ONE_HOUR", "DERIVED_RUN_TS", _UTC, "yyyyMMdd", hours=-1),
    _row("DERIVED_RUN_DATE_UTC_PLUS_ONE_HOUR", "DERIVED_RUN_TS", _UTC, "yyyyMMdd", hours=1),
    _row("DERIVED_RUN_HOUR_US_PACIFIC", "DERIVED_RUN_TS", LA, "HH"),
    _row("DERIVED_RUN_HOUR_UTC", "DERIVED_RUN_TS", _UTC, "HH"),
    _row("DERIVED_RUN_HOUR_UTC_MINUS_ONE_HOUR", "DERIVED_RUN_TS", _UTC, "HH", hours=-1),
    _row("DERIVED_RUN_HOUR_UTC_PLUS_ONE_HOUR", "DERIVED_RUN_TS", _UTC, "HH", hours=1),
    _row("LOCAL_RUN_DATE", "RUN_TS", CRON, "yyyyMMdd"),
    _row("RUN_DATE", "RUN_TS", _UTC, "yyyyMMdd"),
    _row("RUN_DATE_MINUS_1", "RUN_TS", _UTC, "yyyyMMdd", days=-1),
    _row("RUN_DATE_MINUS_7", "RUN_TS", _UTC, "yyyyMMdd", days=-7),
    _fact(ParamType.STRING, "owner", "getFromInstance", lambda origin: origin.run.owner or ""),
    _fact(ParamType.STRING, "workflow_id", "getFromInstance", lambda origin: origin.run.workflow_id),
)

STEP_FACTS: Final[tuple[NativeDefault, ...]] = (
    _fact(ParamType.LONG, "workflow_instance_id", "getFromInstance", lambda origin: origin.run.instance_id),
    _step_fact(ParamType.STRING, "step_instance_uuid"),
    _step_fact(ParamType.LONG, "step_attempt_id"),
    _step_fact(ParamType.STRING, "step_id"),
)

STEP_BY_NAME: Final = {row.name: row for row in STEP_FACTS}
BY_NAME: Final = {row.name: row for row in NATIVE_DEFAULTS}
INPUTS: Final[frozenset[str]] = frozenset().union(*(row.inputs for row in NATIVE_DEFAULTS))
EARLIEST_TS: Final = days_of(1, 1, 3) * DAY  # years of four digits, with room for a zone and a shift
LATEST_TS: Final = days_of(9999, 12, 1) * DAY
