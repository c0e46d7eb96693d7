"""STRICT_SEQUENTIAL: one at a time and in order; a failure holds up the rest until a user deals with it."""

from typing import ClassVar

from stretto.model.properties import RunStrategyRule
from stretto.strategies.rule import Crowd, Joins, Rule, Verdict
from stretto.strategies.runs import RunKey


class StrictSequential(Rule):
    """Only raw FAILED blocks: a stopped or timed out run does not, a killed one does, even if only queued."""

    name: ClassVar[RunStrategyRule] = RunStrategyRule.STRICT_SEQUENTIAL
    when_paused: ClassVar[str] = "in its place, so that those behind it wait"
    keeps_order: ClassVar[bool] = True

    def receive(self, run: RunKey, crowd: Crowd) -> Verdict:  # noqa: ARG002 - everybody may queue
        return Joins()

    def is_blocked(self, crowd: Crowd) -> bool:
        return crowd.failed > 0

    def barrier(self, crowd: Crowd) -> str | None:
        """Old failures were no obstacle so far; suddenly they would be one."""
        if crowd.failed == 0:
            return None
        return f"{crowd.failed} failed run{'s' if crowd.failed > 1 else ''} would block the queue at once"
