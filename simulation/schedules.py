"""The schedules of a world: after the trouble they go on for a while, must be punctual, and then rest."""

from random import Random
from typing import TYPE_CHECKING, Final

from simulation.invariants.triggers import overdue
from simulation.troubles import Fault, Trouble
from stretto.ports import places

if TYPE_CHECKING:
    from simulation.process import Process
    from simulation.world import World

SETTLED: Final = 40_000  # milliseconds after the trouble: every moment that was due before has fired
TRIAL: Final = 20_000  # milliseconds: one node is lost meanwhile, and the others fire what it should
LOOK_EVERY: Final = 500  # milliseconds


class Schedules:
    """Time triggers of all workflows. They would go on for ever, and so would their world."""

    def __init__(self, world: "World") -> None:
        self._world = world
        timed = [each.workflow for each in world.scenario.definitions if each.workflow.time_triggers]
        self._ids = [each.id for each in timed]
        self.at_rest = not timed

    def stop_later(self) -> None:
        """The trouble is over."""
        if not self.at_rest:
            self._world.scheduler.after(SETTLED, self._try)

    def _try(self) -> None:
        """The owner of a time trigger is lost, where others are left. The dice are its own."""
        dice = Random(f"schedules {self._world.scenario.order}")  # noqa: S311 - dice, not secrets
        process = self._owner_of(dice.choice(self._ids))
        kinds = [Trouble.CRASH, Trouble.OUTAGE, Trouble.FREEZE]
        if self._world.scenario.retention is not None:
            kinds.pop()  # calls of a process that wakes would be later than such a world can bear
        kind, wait = dice.choice(kinds), dice.randrange(LOOK_EVERY)
        if process is not None and len(self._world.alive()) > 1:
            self._world.scheduler.after(wait, lambda: self._lose(process, kind))
        self._look(self._world.scheduler.now + TRIAL)

    def _owner_of(self, workflow_id: str) -> "Process | None":
        owner = self._world.db.groups[places.group_of_workflow(workflow_id)].owner
        return next((each for each in self._world.alive() if each.node.id == owner), None)

    def _lose(self, process: "Process", kind: Trouble) -> None:
        if kind is Trouble.CRASH:
            process.crash(Fault(kind=kind, lasts=TRIAL))
        elif kind is Trouble.FREEZE:
            process.freeze(TRIAL)
        else:
            self._world.story.note(f"{process.who} does not reach the database")
            self._world.sky.cut_off[process.who] = self._world.scheduler.now + TRIAL

    def _look(self, until: int) -> None:
        world = self._world
        overdue(world.db, world.clock.now(), world.complain)
        if world.scheduler.now < until:
            world.scheduler.after(LOOK_EVERY, lambda: self._look(until))
        else:
            world.users.stop_the_clocks()
            self.at_rest = True
