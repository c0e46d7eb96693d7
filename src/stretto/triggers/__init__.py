"""What starts a workflow by itself: moments (cron expressions, time zones), and signals that fit together."""

from stretto.triggers.catch_up import DEFAULT_LIMIT, MOST_LIMIT, Dropped, Due, due_fires
from stretto.triggers.cron import Cron, parse_cron, parse_predefined
from stretto.triggers.describe import describe
from stretto.triggers.errors import CronError, TriggerError, UnsupportedTriggerError, ZoneError
from stretto.triggers.firing import fires, next_fire, next_gap, next_two_apart, starts_nothing
from stretto.triggers.jitter import fuzzy_delay
from stretto.triggers.matching import join_key_of, joined_by, satisfies
from stretto.triggers.schedule import Planned, Schedule, Watch, cron_of, earliest_fire, plan
from stretto.triggers.zones import parse_zone

__all__ = [
    "DEFAULT_LIMIT",
    "MOST_LIMIT",
    "Cron",
    "CronError",
    "Dropped",
    "Due",
    "Planned",
    "Schedule",
    "TriggerError",
    "UnsupportedTriggerError",
    "Watch",
    "ZoneError",
    "cron_of",
    "describe",
    "due_fires",
    "earliest_fire",
    "fires",
    "fuzzy_delay",
    "join_key_of",
    "joined_by",
    "next_fire",
    "next_gap",
    "next_two_apart",
    "parse_cron",
    "parse_predefined",
    "parse_zone",
    "plan",
    "satisfies",
    "starts_nothing",
]
