"""I10, of rates: in any time of the length of a rate no more attempts start than it says."""

from collections.abc import Iterable, Iterator

from stretto.engine.permits import rate_tag
from stretto.engine.records import AttemptKey
from stretto.model.permit import Rate, parse_rate
from stretto.model.step import AnyStep, ForeachStep, WhileStep
from stretto.model.workflow import Workflow
from stretto.testing.simulation.watch import Complain, Rule, Touched


def rates_of(workflows: Iterable[Workflow]) -> Rule:
    """Counts the starts of steps that have a rate, over all nodes, on the clock of the database: an attempt
    that stands in line starts when its permits are granted, any other with the commit that shows its start.
    """
    rates = {rate_tag(each.id, step): rate for each in workflows for step, rate in _rated(each.steps)}
    starts: dict[str, list[int]] = {tag: [] for tag in rates}
    counted: set[AttemptKey] = set()

    def rule(touched: Touched, complain: Complain) -> None:
        for tag, attempt in _started(touched):
            if tag not in rates or attempt in counted:
                continue
            counted.add(attempt)
            rate, begun = rates[tag], starts[tag]
            begun[:] = [at for at in begun if at > touched.now - rate.millis]
            begun.append(touched.now)
            if len(begun) > rate.starts:
                complain(f"I10: {attempt} is start {len(begun)} under {tag}, within {rate.millis} ms")

    return rule


def _started(touched: Touched) -> Iterator[tuple[str, AttemptKey]]:
    for (attempt, tag), before, after in touched.of("permits"):
        if after is not None and after.granted and not (before is not None and before.granted):
            yield tag, attempt
    for key, before, after in touched.of("attempts"):
        began = after is not None and after.record.start_time is not None
        if began and (before is None or before.record.start_time is None):
            run = touched.db.runs.get(key.run)
            if run is not None:
                yield rate_tag(run.root.workflow_id, key.step_id), key


def _rated(steps: Iterable[AnyStep]) -> Iterator[tuple[str, Rate]]:
    for step in steps:
        rate = None if step.rate is None else parse_rate(step.rate)
        if rate is not None:
            yield step.id, rate
        if isinstance(step, ForeachStep | WhileStep):
            yield from _rated(step.steps)
