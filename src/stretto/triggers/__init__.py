"""Time triggers: cron expressions, time zones, and the moments at which a workflow starts by itself."""

from stretto.triggers.cron import Cron, parse_cron, parse_predefined
from stretto.triggers.errors import CronError, TriggerError, UnsupportedTriggerError, ZoneError
from stretto.triggers.firing import fires, next_fire, next_gap, next_two_apart
from stretto.triggers.jitter import fuzzy_delay
from stretto.triggers.zones import parse_zone

__all__ = [
    "Cron",
    "CronError",
    "TriggerError",
    "UnsupportedTriggerError",
    "ZoneError",
    "fires",
    "fuzzy_delay",
    "next_fire",
    "next_gap",
    "next_two_apart",
    "parse_cron",
    "parse_predefined",
    "parse_zone",
]
