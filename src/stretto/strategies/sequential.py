"""SEQUENTIAL: one at a time and in order, however the one before it ended."""

from typing import ClassVar

from stretto.model.properties import RunStrategyRule
from stretto.strategies.rule import Crowd, Joins, Rule, Verdict
from stretto.strategies.runs import RunKey


class Sequential(Rule):
    """The default."""

    name: ClassVar[RunStrategyRule] = RunStrategyRule.SEQUENTIAL

    def receive(self, run: RunKey, crowd: Crowd) -> Verdict:  # noqa: ARG002 - everybody may queue
        return Joins()
