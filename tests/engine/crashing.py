"""A run whose owner dies after a commit: another loads it from its rows and asks for everything once more."""

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Any

from simulation.flows import loaded
from tests.engine.driver import Driver, Work

from stretto.engine import effects as todo
from stretto.engine import events as happened
from stretto.engine.elsewhere import answer, question_of
from stretto.engine.records import AttemptRecord, RunRecord
from stretto.engine.recovery import recovery_of


class Death(Enum):
    """How far the owner came before it died."""

    BEFORE_EFFECTS = auto()  # none of them was carried out
    BEFORE_ANSWERS = auto()  # they were, and the answers are lost
    AFTER_ANSWERS = auto()  # the answers come, and those to the second asking, too


# What is kept in the database until it was dealt with: no owner takes it to the grave.
KEPT = (
    happened.Launched,
    happened.ChildEnded,
    happened.StepActed,
    happened.RunActed,
    happened.RunHeld,
    happened.CalledBack,
)
MOST_DEATHS = 15  # of one run: who dies whenever an answer comes gets nowhere
# Done in the transaction of the commit itself.
COMMITTED = (todo.ReleasePermits, todo.HoldChild)


class Mortal(Driver):
    """A driver that loses the run after some of its decisions."""

    def __init__(self, *args: Any, dies: Callable[[int], Death | None] = lambda _: None, **more: Any) -> None:
        self.dies = dies
        self.deaths = 0
        self.works: dict[Any, tuple[int, Work | None]] = {}
        self._recovering = False
        super().__init__(*args, **more)

    def act_on(self, effects: Sequence[todo.Effect]) -> None:
        spared = self._recovering or self.deaths == MOST_DEATHS
        death = None if spared else self.dies(self.decisions)
        if death is None:
            super().act_on(effects)
            return
        self.deaths += 1
        lost = death is Death.BEFORE_EFFECTS
        super().act_on([each for each in effects if not lost or isinstance(each, COMMITTED)])
        if death is not Death.AFTER_ANSWERS:
            self._lose_answers()
        self._load()
        self._recover()

    def _lose_answers(self) -> None:
        world = self.world
        kept = [each for each in world.queue if each[0] is not self or isinstance(each[1], KEPT)]
        world.queue.clear()
        world.queue.extend(kept)
        world.timers[:] = [each for each in world.timers if each[2] is not self or isinstance(each[3], KEPT)]
        world.timers.sort(key=lambda each: each[:2])

    def _load(self) -> None:
        breakpoints, generation = self.tree.breakpoints, self.tree.generation
        self.flow = loaded(self.flow)
        self.tree = self.flow.tree
        self.tree.breakpoints = breakpoints
        self.tree.generation = generation + 1

    def _recover(self) -> None:
        self._recovering = True
        recovery = recovery_of(self.flow)
        for event in recovery.events:
            self.send(event)
        super().act_on(recovery.effects)
        self._recovering = False

    # --------------------------------------------------------------------- those who may be asked twice
    def _StartWork(self, effect: todo.StartWork) -> None:  # noqa: N802 - named like the effect
        key = (effect.attempt, effect.launch)
        if key not in self.works:
            self.works[key] = (self.now, self.runtime(effect))
        self._LookAtWork(effect)

    def _LookAtWork(self, effect: todo.StartWork | todo.LookAtWork) -> None:  # noqa: N802
        began, work = self.works.get((effect.attempt, effect.launch), (0, None))
        if (effect.attempt, effect.launch) not in self.works:
            lost = happened.WorkLost(attempt=effect.attempt, launch=effect.launch)
            self.world.soon(self, lost)
        elif work is not None and work.after is not None:
            self.will_answer(effect, work, began + work.after)

    def _EvaluateElsewhere(self, effect: todo.EvaluateElsewhere) -> None:  # noqa: N802
        question = question_of(self.tree.live[effect.attempt.run], effect.attempt)
        if question is not None:
            self.world.soon(self, answer(question))

    def _StopChild(self, effect: todo.StopChild) -> None:  # noqa: N802
        child = self.child_of(effect.attempt)
        if effect.child is not None:
            super()._StopChild(effect)
        elif child is None:
            refused = happened.ChildRefused(attempt=effect.attempt, message="it was never started")
            self.world.soon(self, refused)
        else:
            key = child.flow.run.key
            self.world.soon(
                self, happened.ChildStarted(attempt=effect.attempt, child=key, version_id=1, uuid="u")
            )

    def later(self, millis: int, event: happened.Event) -> "Mortal":
        """Something that a user does after a while."""
        self.world.at(self.now + millis, self, event)
        return self


def ends(driver: Driver) -> dict[Any, str]:
    """How everything ended in a run, and in those that it started."""
    drivers = [driver, *driver.world.children.values()]
    return {
        record.key: record.status.value
        for each in drivers
        for record in each.records.values()
        if isinstance(record, RunRecord | AttemptRecord)
    }
