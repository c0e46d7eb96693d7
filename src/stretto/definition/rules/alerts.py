"""Alerting: a target completion time says exactly one thing."""

from stretto.definition.rules.visits import PROPERTIES, Scene
from stretto.model.problem import Code, Place
from stretto.triggers import ZoneError, parse_zone


def check_alerts(scene: Scene, place: Place = PROPERTIES) -> None:
    """`place`: where the properties stand in what is checked."""
    properties = scene.definition.properties
    tct = properties.alerting.tct if properties is not None and properties.alerting is not None else None
    if tct is None:
        return
    at = ((place, "alerting"), "tct")
    given = [
        name
        for name in ("completed_by_hour", "duration_minutes", "completed_by_ts")
        if getattr(tct, name) is not None
    ]
    if len(given) != 1:
        message = "give exactly one of completed_by_hour, duration_minutes and completed_by_ts"
        scene.report(at, Code.CONFLICT, message)
    try:
        parse_zone(tct.tz or "")
    except ZoneError as error:
        scene.report((at, "tz"), Code.BAD_TIMEZONE, error.message, error.hint)
