"""The director: decides what the work of each step does, and what people answer."""

from random import Random
from typing import Final

from simulation.plays import Play, Row, Says, Script
from stretto.model.step import AnyStep, TypedStep

RETRIED: Final = (Says.USER_ERROR, Says.PLATFORM_ERROR)
ENDS: Final = (Says.DONE, *RETRIED, *RETRIED, Says.FATAL_ERROR, Says.STOPPED, Says.TIMED_OUT)
QUICK: Final = (1, 50, 400, 1_500, 4_000)  # milliseconds
SLOW: Final = (1_500, 4_000, 8_000, 12_000)
ODD: Final = (Says.RAISES, Says.NONSENSE)


class Director:
    """Writes the script. Success is the rule, so that runs get somewhere."""

    def __init__(self, dice: Random, *, slow: bool = False) -> None:
        self._dice = dice
        self._slow = slow  # work takes long: much can happen meanwhile
        self._rows: dict[str, tuple[Row, ...]] = {}
        self._approved: dict[str, bool] = {}

    def script(self) -> Script:
        """Everything that was decided so far."""
        return Script(dict(self._rows), dict(self._approved))

    def person(self, step_id: str) -> None:
        """Somebody will answer for a step."""
        self._approved[step_id] = self._dice.random() < 0.8

    def work(self, step: TypedStep, added: tuple[AnyStep, ...] = ()) -> None:
        """The plays of a step, for some iterations and for some attempts each."""
        dice = self._dice
        rows = dice.choice([1, 1, 1, 2])
        row: list[Row] = []
        for _ in range(rows):
            plays = tuple(self._play(step, last=False) for _ in range(dice.choice([0, 0, 1, 2])))
            row.append((*plays, self._play(step, last=True, added=added)))
        self._rows[step.id] = tuple(row)

    def play(self, step_id: str, rows: tuple[Row, ...]) -> None:
        """The plays of a step, as they are given."""
        self._rows[step_id] = rows

    def undo(self, step: TypedStep, dice: Random) -> None:
        """The plays of a step that undoes another, with dice of their own."""
        before, self._dice = self._dice, dice
        try:
            self.work(step)
        finally:
            self._dice = before

    def redirect(self, step_id: str, target: str) -> None:
        """The first time that a step runs, it goes back to an earlier one."""
        back = Play(redirect=target, takes=self._dice.randint(0, 500))
        self._rows[step_id] = tuple((back, *row) for row in self._rows[step_id])

    def _play(self, step: TypedStep, *, last: bool, added: tuple[AnyStep, ...] = ()) -> Play:
        dice = self._dice
        says = Says.DONE if last and dice.random() < 0.75 else dice.choice([*ENDS, *ODD])
        if step.timeout is not None and dice.random() < 0.3:
            says = Says.NEVER
        if added and says is Says.DONE:
            return Play(added=added, tolerance=dice.choice([0.0, 0.5, 1.0]), takes=self._time())
        way = dice.random()
        return Play(
            says=says,
            takes=self._time() if dice.random() < (0.7 if self._slow else 0.4) else 0,
            polls=tuple(self._time() for _ in range(dice.randint(1, 3))) if way < 0.2 else (),
            reports=self._time() if way > 0.7 else None,
            n=dice.randint(0, 5) if "n" in (step.params or {}) and dice.random() < 0.8 else None,
            twice=dice.random() < 0.3,
            stubborn=dice.choice([0, 0, 0, 1, 2]),
        )

    def _time(self) -> int:
        return self._dice.choice(SLOW if self._slow else QUICK)
