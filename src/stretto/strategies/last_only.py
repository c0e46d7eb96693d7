"""LAST_ONLY: the newest run replaces the queued one at once, and the running one once that has stopped."""

from typing import ClassVar

from stretto.model.properties import RunStrategyRule
from stretto.strategies.rule import Crowd, Refuses, Replaces, Rule, Verdict
from stretto.strategies.runs import RunKey


class LastOnly(Rule):
    """At most one runs, being stopped if it is not the newest, and at most the newest is queued."""

    name: ClassVar[RunStrategyRule] = RunStrategyRule.LAST_ONLY
    when_paused: ClassVar[str] = "there until a newer run takes its place"
    replaces_queued: ClassVar[bool] = True

    def receive(self, run: RunKey, crowd: Crowd) -> Verdict:
        for count, kind in ((crowd.pending, "pending"), (crowd.running, "running")):
            if count > 1:
                return Refuses(f"finding more than 1 {kind} runs beside {run}: {self.name} allows one")
        return Replaces(self.because_of(run, "stopped it"), stops_running=crowd.running > 0)

    def barrier(self, crowd: Crowd) -> str | None:
        if crowd.unfinished <= 1:
            return None
        return f"{crowd.unfinished} runs have not ended, and it would have to choose one"
