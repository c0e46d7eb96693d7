"""What was tried: which events met which statuses, which trouble came, which constructs were used."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from stretto.engine.flow import Flow
from stretto.model.status import StepStatus


class Counters:
    """Plain counts, which can be added up over seeds and processes."""

    def __init__(self) -> None:
        self.pairs: Counter[tuple[str, str]] = Counter()  # status of the attempt, or run, and event
        self.troubles: Counter[str] = Counter()
        self.constructs: Counter[str] = Counter()
        self.figures: Counter[str] = Counter()

    def add(self, other: "Counters") -> None:
        self.pairs += other.pairs
        self.troubles += other.troubles
        self.constructs += other.constructs
        self.figures += other.figures

    def counting(self, decide: Callable[..., Any]) -> Callable[..., Any]:
        """The same decisions, counted."""

        def counted(flow: Flow, event: Any, now: int) -> Any:
            self.pairs[label_of(flow, event), type(event).__name__] += 1
            return decide(flow, event, now)

        return counted


def label_of(flow: Flow, event: Any) -> str:
    """In which status an event finds what it is about."""
    attempt = getattr(event, "attempt", None)
    if attempt is None:
        found = flow.tree.live.get(event.run)
        return f"run {found.run.status}" if found is not None else "no run"
    inner = flow.tree.live.get(attempt.run)
    if inner is None:
        return "no run"
    index = inner.plan.numbers.get(attempt.step_id)
    record = None if index is None else inner.attempts[index]
    if record is None:
        return StepStatus.NOT_CREATED.value
    if attempt.number not in {0, record.key.number}:
        return "an older attempt"
    return f"{record.status} (ending)" if record.ending is not None else record.status.value
