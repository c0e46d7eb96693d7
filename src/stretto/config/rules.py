"""What must hold between two settings."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from stretto.config.catalogue import SETTINGS
from stretto.config.problems import BadValue, Origin, SettingProblem, Source, problem_of
from stretto.model.problem import Code


class Rule(NamedTuple):
    """`less` must be less than `more`, or at most the same; otherwise what `why` says would happen."""

    less: str
    more: str
    why: str
    may_equal: bool = False


RULES: Final = (
    Rule("node.beat_every", "node.trust", "a node would lose its trust between two beats"),
    Rule("node.beat_every", "node.watch", "a beat would seem to stand still between two beats"),
    Rule("node.trust", "node.expiry", "others could take what a node still trusts to be its own"),
    Rule("node.watch", "node.watch_longer", "the longer watch would come first"),
    Rule("node.expiry", "node.watch_longer", "a node would be buried before its beat has expired"),
    Rule(
        "database.idle_in_transaction",
        "node.expiry",
        "a frozen node would still hold locks when others take over",
    ),
    Rule(
        "database.lock_within",
        "database.statement_within",
        "a statement would end before its wait",
        may_equal=True,
    ),
    Rule(
        "database.connection_idle",
        "database.connection_lifetime",
        "no connection would ever be idle for so long",
        may_equal=True,
    ),
    Rule("node.fetch_soon", "node.fetch_late", "a node would hurry when nothing comes", may_equal=True),
    Rule(
        "node.retry_first",
        "node.retry_most",
        "the first pause would be longer than the longest",
        may_equal=True,
    ),
    Rule(
        "engine.loop_concurrency",
        "limits.foreach_concurrency",
        "the default would be more than an author may ask for",
        may_equal=True,
    ),
    Rule(
        "limits.text",
        "server.body",
        "a definition would be accepted from a file that can not be sent to a server",
        may_equal=True,
    ),
    Rule(
        "server.body",
        "server.bodies",
        "no body of the largest size could ever be taken",
        may_equal=True,
    ),
    Rule(
        "limits.iterations", "engine.iterations", "a loop would be accepted that can not run", may_equal=True
    ),
)
_ORDER: Final = list(Source)


def broken_rules(values: Mapping[str, Any], origins: Mapping[str, Origin]) -> Iterator[SettingProblem]:
    """Every rule that values break, at the place of whoever had the last word. A value that is missing breaks
    none: it could not be read.
    """
    for less, more, why, may_equal in RULES:
        if less not in values or more not in values:
            continue
        if values[less] < values[more] or (may_equal and values[less] == values[more]):
            continue
        late = less if rank(origins[less]) > rank(origins[more]) else more
        other = more if late == less else less
        than = (
            ("at most" if may_equal else "less than")
            if late == less
            else "at least"
            if may_equal
            else "more than"
        )
        message = (
            f"it is {_shown(late, values)}, and must be {than} "
            f"`{other}`, which is {_shown(other, values)} ({origins[other]})"
        )
        yield problem_of(origins[late], late, BadValue(Code.CONFLICT, message, f"else {why}"))


def rank(origin: Origin) -> int:
    """The higher, the later its word."""
    return _ORDER.index(origin.source)


def _shown(name: str, values: Mapping[str, Any]) -> str:
    return SETTINGS[name].kind.show(values[name])
