"""Graphs: which steps come after which."""

from collections.abc import Sequence
from random import Random


def chain(_dice: Random, ids: Sequence[str]) -> dict[str, list[str]]:
    return {step_id: list(ids[place + 1 : place + 2]) for place, step_id in enumerate(ids)}


def fan(_dice: Random, ids: Sequence[str]) -> dict[str, list[str]]:
    """From the first to all, and from those to the last."""
    after = {step_id: [ids[-1]] for step_id in ids}
    after[ids[0]] = list(ids[1:-1]) or list(ids[1:])
    return {**after, ids[-1]: []}


def anyhow(dice: Random, ids: Sequence[str]) -> dict[str, list[str]]:
    return {
        step_id: [each for each in ids[place + 1 :] if dice.random() < 0.4]
        for place, step_id in enumerate(ids)
    }


def apart(_dice: Random, ids: Sequence[str]) -> dict[str, list[str]]:
    return {step_id: [] for step_id in ids}
