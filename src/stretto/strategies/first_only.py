"""FIRST_ONLY: while a run is unfinished, new ones are dropped."""

from typing import ClassVar

from stretto.model.properties import RunStrategyRule
from stretto.strategies.rule import Crowd, Drops, Joins, Refuses, Rule, Verdict
from stretto.strategies.runs import RunKey


class FirstOnly(Rule):
    """A dropped run keeps its ids and is seen as STOPPED."""

    name: ClassVar[RunStrategyRule] = RunStrategyRule.FIRST_ONLY
    when_paused: ClassVar[str] = "the first, so that new runs are dropped"

    def receive(self, run: RunKey, crowd: Crowd) -> Verdict:
        if crowd.unfinished > 1:
            return Refuses(f"finding more than 1 non-terminal runs beside {run}: {self.name} allows one")
        if crowd.unfinished == 1:
            return Drops(f"The run strategy {self.name} dropped it, because another run has not ended.")
        return Joins()

    def barrier(self, crowd: Crowd) -> str | None:
        if crowd.unfinished <= 1:
            return None
        return f"{crowd.unfinished} runs have not ended, and it allows one"
