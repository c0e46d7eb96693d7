"""Every rule by its name."""

from collections.abc import Mapping
from typing import Final

from stretto.model.properties import RunStrategy, RunStrategyRule
from stretto.strategies.first_only import FirstOnly
from stretto.strategies.last_only import LastOnly
from stretto.strategies.parallel import Parallel
from stretto.strategies.rule import Rule
from stretto.strategies.sequential import Sequential
from stretto.strategies.serial_latest_only import SerialLatestOnly
from stretto.strategies.strict_sequential import StrictSequential

MOST_ADMITTED: Final = 50  # in one pass: keeps the transaction, and so the lock, short

RULES: Final[Mapping[RunStrategyRule, Rule]] = {
    rule.name: rule
    for rule in (Sequential(), StrictSequential(), FirstOnly(), LastOnly(), Parallel(), SerialLatestOnly())
}


def paused_needed(strategy: RunStrategy) -> int | None:
    """How many of the queued runs that are paused `admit` looks at, the oldest first; None: all of them.

    Rules that pass paused runs over do not look at them. The rule that keeps the order must know the first,
    and the one that allows a single run whether there are more than one.
    """
    rule = RULES[strategy.rule]
    if rule.replaces_queued:
        return None
    return 2 if rule.keeps_order or rule.name is RunStrategyRule.FIRST_ONLY else 0


def queue_needed(strategy: RunStrategy) -> int | None:
    """How much of the front of the queue `admit` looks at; None: all of it.

    A backlog can be long, so it is read whole only by the rules that end queued runs, where it is short.
    The one more than a pass admits tells whether there is `more`.
    """
    return None if RULES[strategy.rule].replaces_queued else MOST_ADMITTED + 1
