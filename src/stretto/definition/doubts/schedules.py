"""Schedules that start no run."""

from collections.abc import Collection
from typing import Final

from stretto.definition.rules.triggers import LOOK_FROM
from stretto.definition.rules.visits import WORKFLOW, Scene
from stretto.model.problem import Code
from stretto.model.trigger import CronTrigger
from stretto.triggers import CronError, ZoneError, next_fire, parse_cron, parse_zone, starts_nothing

HINT: Final = "no month that it names has such a day"


def doubt_schedules(scene: Scene, _given: Collection[str]) -> None:
    """Of those that can be read. A year that is over is no error: the workflow may be old."""
    for index, trigger in enumerate(scene.workflow.time_triggers or ()):
        if not isinstance(trigger, CronTrigger):
            continue
        try:
            cron, zone = parse_cron(trigger.cron), parse_zone(trigger.timezone or "")
        except (CronError, ZoneError):
            continue
        at = (((WORKFLOW, "time_triggers"), index), "cron")
        if starts_nothing(cron):
            scene.report(at, Code.NEVER_FIRES, f"the cron `{trigger.cron}` never fires", HINT)
        elif next_fire(cron, LOOK_FROM, zone) is None:
            message = f"the cron `{trigger.cron}` never fires after {LOOK_FROM:%Y-%m-%d}"
            scene.report(at, Code.NEVER_FIRES, message, "its last year is over")
