"""More workflows, for the storm: launches that wait for a slot, a schedule, runs that are restarted."""

from typing import Final

from chaos.deadly import DEADLY
from chaos.effects import QUEUED, WATCHED
from chaos.plays import Play, command, defined, work
from stretto.model.trigger import CronTrigger
from stretto.testing.shapes import noop, subworkflow

CROWDS: Final = ("crowd", "press")  # few slots, many steps
TICK: Final = "tick"  # whom nobody starts but its schedule
TICK_EVERY: Final = 3_000  # milliseconds
WIDTH: Final = 8
KIN_OF_CLAN: Final = "kin"  # whom nobody starts but its parent


def storm_plays(effects: str) -> list[Play]:
    """In the order in which they can be published."""
    commands = [f"crowd{place}" for place in range(WIDTH)]
    queued = [f"press{place}" for place in range(WIDTH)]
    tick = CronTrigger(cron=f"*/{TICK_EVERY // 1_000} * * * * ?", timezone="UTC")
    redo = defined("redo", work("redo1", "redo2"), work("redo2", "redo3", kind=WATCHED), work("redo3"))
    kin = defined(KIN_OF_CLAN, work("kin1", "kin2"), work("kin2"))
    clan = defined("clan", subworkflow("clan1", KIN_OF_CLAN, "clan2", sync=True), work("clan2"))
    return [
        Play(
            defined("crowd", *(command(each, effects=effects) for each in commands)),
            dict.fromkeys(commands, 1),
        ),
        Play(
            defined("press", *(work(each, kind=QUEUED, millis=400) for each in queued)),
            dict.fromkeys(queued, 1),
        ),
        Play(defined(TICK, work("tick1"), time_triggers=(tick,)), {"tick1": 1}),
        Play(redo, {"redo1": 1, "redo2": 1, "redo3": 1}),
        Play(kin, {"kin1": 1, "kin2": 1}),
        Play(defined(DEADLY, noop("deadly1")), {}),
        Play(clan, {"clan1": 1, "clan2": 1}),
    ]
