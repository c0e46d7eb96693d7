"""Triggers: schedules that can be read and do not fire too often, signals that can be joined."""

from datetime import UTC, datetime, timedelta
from typing import Final

from stretto.definition.durations import duration_millis
from stretto.definition.rules.names import check_label
from stretto.definition.rules.visits import WORKFLOW, Scene
from stretto.model.problem import Code, Place
from stretto.model.retry import Number
from stretto.model.trigger import CatchUp, CronTrigger, IntervalTrigger, SignalTrigger, TimeTrigger
from stretto.triggers import (
    MOST_LIMIT,
    CronError,
    ZoneError,
    next_two_apart,
    parse_cron,
    parse_predefined,
    parse_zone,
)

# A fixed moment to look from: a rule that asked the clock would give other answers tomorrow.
LOOK_FROM: Final = datetime(2026, 1, 1, tzinfo=UTC)


def check_triggers(scene: Scene) -> None:
    for index, trigger in enumerate(scene.workflow.time_triggers or ()):
        _time_trigger(scene, trigger, ((WORKFLOW, "time_triggers"), index))
    for index, signal in enumerate(scene.workflow.signal_triggers or ()):
        _signal_trigger(scene, signal, ((WORKFLOW, "signal_triggers"), index))


def _time_trigger(scene: Scene, trigger: TimeTrigger, at: Place) -> None:
    _fuzzy_delay(scene, trigger.fuzzy_max_delay, (at, "fuzzy_max_delay"))
    _catch_up(scene, trigger, (at, "catch_up_limit"))
    zone = None
    try:
        zone = parse_zone(trigger.timezone or "")
    except ZoneError as error:
        scene.report((at, "timezone"), Code.BAD_TIMEZONE, error.message, error.hint)
    if isinstance(trigger, IntervalTrigger):
        message = "an INTERVAL trigger can not be planned"
        scene.report(at, Code.BAD_CRON, message, "use CRON or PREDEFINED")
        return
    place = (at, "cron" if isinstance(trigger, CronTrigger) else "expression")
    try:
        cron = (
            parse_cron(trigger.cron)
            if isinstance(trigger, CronTrigger)
            else parse_predefined(trigger.expression.value)
        )
    except CronError as error:
        scene.report(place, Code.BAD_CRON, error.message, error.hint)
        return
    least = timedelta(milliseconds=scene.limits.fire_gap_millis)
    if zone is not None and not next_two_apart(cron, LOOK_FROM, zone, least):
        message = f"two fires must be at least {least.total_seconds():g} s apart"
        scene.report(place, Code.TOO_FREQUENT, message)


def _fuzzy_delay(scene: Scene, delay: Number | None, at: Place) -> None:
    if isinstance(delay, str) and "$" not in delay and duration_millis(delay) is None:
        scene.report(at, Code.BAD_DURATION, f"`{delay}` is not a duration", "such as `30 s`")
    elif isinstance(delay, int) and delay < 0:
        scene.report(at, Code.OUT_OF_RANGE, "a delay can not be negative")


def _catch_up(scene: Scene, trigger: TimeTrigger, at: Place) -> None:
    limit = trigger.catch_up_limit
    if limit is None:
        return
    if not 1 <= limit <= MOST_LIMIT:
        message = f"{limit:,} is not between 1 and {MOST_LIMIT:,}"
        scene.report(at, Code.OUT_OF_RANGE, message, "missed fires above the limit are dropped")
    if trigger.catch_up not in {None, CatchUp.ALL}:
        message = f"`catch_up: {trigger.catch_up}` starts at most one missed fire, so it has no limit"
        scene.report(at, Code.CONFLICT, message, "write `catch_up: all`, or leave the limit out")


def _signal_trigger(scene: Scene, trigger: SignalTrigger, at: Place) -> None:
    place = (at, "definitions")
    count = len(trigger.definitions)
    if not count:
        scene.report(place, Code.EMPTY, "the trigger names no signal")
    if count > scene.limits.signals_per_trigger:
        message = f"{count} signals, the limit is {scene.limits.signals_per_trigger}"
        scene.report(place, Code.TOO_MANY, message)
    for name in trigger.definitions:
        check_label(scene, name, (place, name), "a signal's name")
    lengths = {len(entry.join_keys or ()) for entry in trigger.definitions.values()}
    if len(lengths) > 1:
        scene.report(place, Code.BAD_SIGNAL, "every signal must have the same number of `join_keys`")
    for name, entry in trigger.definitions.items():
        keys = entry.join_keys or ()
        if len(set(keys)) != len(keys):
            scene.report(((place, name), "join_keys"), Code.BAD_SIGNAL, "a join key is given twice")
        for key in keys:
            if key in (entry.match_params or {}):
                message = f"`{key}` is both matched and a join key"
                scene.report(((place, name), "join_keys"), Code.BAD_SIGNAL, message, "keep one of the two")
