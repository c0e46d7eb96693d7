"""Users who are in a hurry: they end steps whose child is just being started, while that takes its time."""

from random import Random
from typing import TYPE_CHECKING, Any, Final

from simulation.handle import handle_of
from simulation.users import CALLER, all_steps
from simulation.watch import Touched
from stretto.actions.act_on_step import stop_step
from stretto.actions.resume_attempt import resume_attempt
from stretto.actions.set_breakpoint import set_breakpoint
from stretto.actions.stop import stop
from stretto.engine.effects import LookForBreakpoint, StartChild
from stretto.engine.records import AttemptKey
from stretto.model.request import BreakpointRequest
from stretto.model.status import StepStatus
from stretto.model.step import SubworkflowStep
from stretto.node.asks import Ask, Carry

if TYPE_CHECKING:
    from simulation.world import World

SHARE: Final = 0.7  # of the worlds in which runs have children
SLOW: Final = (0, 1_000, 3_000, 6_000)  # milliseconds that a start takes
LOOK: Final = 3_000  # that a look for a breakpoint takes: it is answered while the start is under way
START: Final = 6_000  # that a start takes after such a look


class Haste:
    """A step with a child may have a breakpoint, too, from which it is resumed while the look for that is on
    its way. The dice are its own.
    """

    def __init__(self, world: "World") -> None:
        self._world = world
        self._dice = Random(f"haste {world.scenario.order}")  # noqa: S311 - dice, not secrets
        self._steps = {
            step.id: definition.workflow.id
            for definition in world.scenario.definitions
            for step in all_steps(definition.workflow.steps)
            if isinstance(step, SubworkflowStep)
        }
        if self._dice.random() >= SHARE:
            self.end()
        self.interferes = bool(self._steps)
        self._breaks = self._dice.random() < 0.5

    def end(self) -> None:
        """The trouble is over, or there is none."""
        self._steps = {}

    def begin(self) -> None:
        self._store = handle_of(
            self._world.store,
            self._world.users,
            self._world.sky,
            self._world.scheduler,
            self._world.watch.note,
        )
        for step_id, workflow_id in self._steps.items():
            if self._breaks:
                request = BreakpointRequest(workflow_id=workflow_id, step_id=step_id)
                self._later(0, lambda request=request: set_breakpoint(self._store, CALLER, request))

    def delay(self, ask: Ask) -> int:
        """For how many milliseconds what a node asks for a step does not even begin."""
        effect = ask.effect if self._steps and isinstance(ask, Carry) else None
        if isinstance(effect, LookForBreakpoint):
            return LOOK
        if isinstance(effect, StartChild):
            return START if self._breaks else self._dice.choice(SLOW)
        return 0

    def seen(self, touched: Touched) -> None:
        """Look for steps that stand at a breakpoint, or are about to start a child."""
        for key, before, after in touched.of("attempts") if self._steps else ():
            if after is None or key.step_id not in self._steps:
                continue
            if before is not None and before.record.status is after.record.status:
                continue
            if after.record.status is StepStatus.PAUSED:
                self._later(
                    self._dice.randrange(100),
                    lambda key=key: resume_attempt(self._store, CALLER, key),
                )
            elif after.record.status is StepStatus.RUNNING and self._dice.random() < 0.8:
                wait = self._dice.randrange(1_500) + (LOOK - 500 if self._breaks else 0)
                self._later(wait, lambda key=key: self._end(key))

    def _end(self, key: AttemptKey) -> Any:
        if self._dice.random() < 0.5:
            return stop_step(self._store, CALLER, *key.run[:2], key.step_id)
        return stop(self._store, CALLER, *self._world.db.runs[key.run].root[:2])

    def _later(self, millis: int, make: Any) -> None:
        self._world.scheduler.after(millis, lambda: self._world.users.run(make(), "haste"))
