"""SERIAL_LATEST_ONLY: one at a time; the running one is left alone, and only the newest waits behind it."""

from typing import ClassVar

from stretto.model.properties import RunStrategyRule
from stretto.strategies.rule import Crowd, Replaces, Rule, Verdict
from stretto.strategies.runs import RunKey


class SerialLatestOnly(Rule):
    """For work where only the newest state counts, but that must not be interrupted."""

    name: ClassVar[RunStrategyRule] = RunStrategyRule.SERIAL_LATEST_ONLY
    when_paused: ClassVar[str] = "there until a newer run takes its place"
    replaces_queued: ClassVar[bool] = True

    def receive(self, run: RunKey, crowd: Crowd) -> Verdict:  # noqa: ARG002 - whoever is queued goes
        return Replaces(self.because_of(run, "stopped it before it started"))
