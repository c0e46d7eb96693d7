"""PARALLEL: up to `workflow_concurrency` at once, admitted in order."""

from typing import ClassVar

from stretto.model.properties import RunStrategyRule
from stretto.strategies.rule import Crowd, Joins, Rule, Verdict
from stretto.strategies.runs import RunKey


class Parallel(Rule):
    """The only rule with more than one slot."""

    name: ClassVar[RunStrategyRule] = RunStrategyRule.PARALLEL

    def receive(self, run: RunKey, crowd: Crowd) -> Verdict:  # noqa: ARG002 - everybody may queue
        return Joins()

    def slots(self, concurrency: int) -> int:
        return concurrency
