"""Loops of which an iteration fails behind a step that can be undone: it undoes itself before the rest is."""

from random import Random
from typing import Final

from simulation.directing import Director
from simulation.plays import Play, Says
from simulation.policies import retries
from stretto.model.step import AnyStep
from stretto.testing.shapes import step

BREAKING: Final = 0.05  # of the loops; the dice are their own


def broken_steps(prefix: str, director: Director, dice: Random) -> tuple[AnyStep, AnyStep]:
    """The steps of such a loop: one that is undone, and one that fails for good in each second iteration."""
    first, second = f"{prefix}0", f"{prefix}1"
    policy = retries(dice, conditional=False)
    undo = step(f"{first}u", retry_policy=policy)
    director.play(first, ((Play(),),))
    director.play(undo.id, ((Play(),),))
    director.play(second, ((Play(),), (Play(says=Says.FATAL_ERROR),)))
    made = step(first, second, compensation=undo, retry_policy=policy)
    return made, step(second, retry_policy=policy)
