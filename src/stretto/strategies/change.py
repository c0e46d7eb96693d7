"""Changing the run strategy of a workflow that has runs."""

from stretto.model.errors import PreconditionFailed
from stretto.model.properties import RunStrategy
from stretto.model.runs import RunCounts
from stretto.strategies.rules import RULES


def check_change(
    old: RunStrategy, new: RunStrategy, queued: int, running: int, failed: int, paused: int = 0
) -> None:
    """Refuse a new rule that could not work with the runs that are there.

    Another concurrency under the same rule is always possible. After the change a dequeue follows: the new
    strategy may have free slots.
    """
    if new.rule is old.rule:
        return
    reason = RULES[new.rule].barrier(RunCounts(queued, running, failed, paused))
    if reason is not None:
        message = f"The run strategy can not be changed from {old.rule} to {new.rule}: {reason}"
        raise PreconditionFailed(message)
