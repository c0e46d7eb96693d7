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


def queue_needed(strategy: RunStrategy) -> int | None:
    """How much of the front of the queue `admit` looks at; None: all of it.

    A backlog can be long, so it is read whole only by the rules that end queued runs, where it is short.
    The one more than a pass admits tells whether there is `more`.
    """
    return None if RULES[strategy.rule].replaces_queued else MOST_ADMITTED + 1
