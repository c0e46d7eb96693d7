"""I10: permits are never granted above the limit, come all or not at all, and go with the attempt."""

from collections.abc import Mapping

from simulation.watch import Complain, Rule, Touched
from stretto.engine.records import AttemptKey
from stretto.model.status import StepStatus
from stretto.model.workflow import Criticality
from stretto.ports.permits import PermitRow

AT_WORK = frozenset({StepStatus.STARTING, StepStatus.RUNNING})
ORDER = {criticality: place for place, criticality in enumerate(Criticality)}


def permits_of(limits: Mapping[str, int]) -> Rule:
    """`limits` are those that definitions say; what a user set goes before them."""

    def permits(touched: Touched, complain: Complain) -> None:
        attempts: dict[AttemptKey, None] = {}
        for (attempt, tag), before, after in touched.of("permits"):
            attempts[attempt] = None
            if after is not None and after.granted and not (before is not None and before.granted):
                _limit(touched, after, limits.get(tag), complain)
            if after is not None and before is not None and before.granted and not after.granted:
                complain(f"I10: {attempt} lost the permit of {tag}")
        for attempt in attempts:
            granted = [touched.db.permits[at].granted for at in touched.db.permits_of[attempt]]
            if any(granted) and not all(granted):
                complain(f"I10: {attempt} holds only some of its permits")
        for key, _, after in touched.of("attempts"):
            if after is not None:
                _held(touched, key, after, complain)

    return permits


def _limit(touched: Touched, row: PermitRow, said: int | None, complain: Complain) -> None:
    """Holders, and those who stand before this one and still wait, must all have had room."""
    db = touched.db
    own = db.tags.get(row.tag)
    limit = said if own is None else own.max_allowed
    if limit is None:
        return
    holders = len(db.holders[row.tag])
    if holders > limit:
        complain(f"I10: {holders} hold {row.tag}, and {limit} may")
    before = [at for at in db.waiters[row.tag] if rank(db.permits[at]) < rank(row)]
    if holders + len(before) > limit:
        complain(f"I10: {row.attempt} was granted {row.tag} past {before[0][0]}")


def rank(row: PermitRow) -> tuple[int, int]:
    """Its place in line. Of those who came in the same decision the decision itself says who is first."""
    return ORDER[row.criticality or Criticality.MEDIUM], row.since


def _held(touched: Touched, key: AttemptKey, after: object, complain: Complain) -> None:
    """Who works holds all its permits, and who waits for them stands in line."""
    db, record = touched.db, after.record  # type: ignore[attr-defined]
    if not record.permits:
        return
    rows = [db.permits.get((key, tag)) for tag in record.permits]
    if any(row is None for row in rows):
        complain(f"I10: {key} is {record.status}, and a row of its permits {record.permits} is missing")
    elif record.status in AT_WORK and not all(row is not None and row.granted for row in rows):
        complain(f"I10: {key} is {record.status} without its permits")
