"""The schedules of a world: after the trouble they go on for a while, must be punctual, and then rest."""

from typing import TYPE_CHECKING, Final

from stretto.testing.simulation.invariants.triggers import overdue

if TYPE_CHECKING:
    from stretto.testing.simulation.world import World

PUNCTUAL: Final = 40_000  # milliseconds after the trouble: by then every moment that was due has fired


class Schedules:
    """Time triggers of all workflows. They would go on for ever, and so would their world."""

    def __init__(self, world: "World") -> None:
        self._world = world
        definitions = world.scenario.definitions
        self.at_rest = not any(definition.workflow.time_triggers for definition in definitions)

    def stop_later(self) -> None:
        """The trouble is over."""
        if not self.at_rest:
            self._world.scheduler.after(PUNCTUAL, self._stop)

    def _stop(self) -> None:
        overdue(self._world.db, self._world.clock.now(), self._world.complain)
        self._world.users.stop_the_clocks()
        self.at_rest = True
