"""Group commits that need no answer on their way: most of those that are made while functions are called.

Usually a commit asks for the phases of its runs, and goes on with the answer. Where all that it would find is
what it expects, the rows can go along with the expectation, in one way to the server and back. What is not as
expected is then not written, and the usual way says why.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from stretto.engine.permits import PermitUse
from stretto.engine.records import RunKey
from stretto.ports.rows import Lease, Phase
from stretto.store.sql.plan import Plan, by_key
from stretto.store.sql.statement import RUN_KEY, Row, ints, texts

EXPECTED: Final = (*RUN_KEY, *texts("phase"), *ints("due_at", "is_checked"))
"""A run, the phase that it must be in, and when it must be due, if that is to be checked."""

TAKEN: Final = (*texts("tag"), *ints("peak", "max_allowed"))
"""A tag that was taken: `PermitUse.peak`, and the limit that an attempt brings along."""

NO_TAGS: Final[Mapping[str, PermitUse]] = {}
GOES_ALONG: Final = frozenset(
    {
        *("group", "steps", "updates", "attempts", "attempts_on", "log", "records", "bases", "large"),
        *("returned", "released", "takes", "uses"),
    }
)


class AtOnce(NamedTuple):
    """What must be so, and what is written then. The rows of all groups are sorted by their keys."""

    expected: list[Row]
    tags: list[Row]  # rows of `TAKEN`: permits are not counted under their locks
    updates: list[Row]
    attempts: list[Row]
    attempts_on: list[Row]
    returned: list[Row]  # attempts that have ended: their permits go
    released: list[Row]  # of these, those whose waits and work go, too
    takes: list[Row]
    logs: list[Row]


class Answer(NamedTuple):
    """Whether everything was written, or nothing; when; the groups whose leases are the current ones; and of
    each tag how many permits were left before, None: there is no limit.
    """

    is_written: bool
    now: int
    held: frozenset[int]
    room: Sequence[int | None] = ()


class OneWay(Protocol):
    """What the database of a server may have besides: a simple group commit in one way there and back."""

    async def at_once(self, leases: Sequence[Lease], rows: AtOnce) -> Answer | None:
        """None: it was refused, and nothing is written. The usual way says why."""
        ...


def at_once_of(plans: Sequence[Plan], taken: Mapping[str, PermitUse] = NO_TAGS) -> AtOnce | None:
    """None: something else must be known first, or be written, too.

    `taken` are the tags that were taken. How many more may hold a tag with a limit is known only under its
    lock. Where attempts take no more than others returned before in the same commit, as the steps of a chain
    do, nobody needs to know.
    """
    if not all(map(_is_plain, plans)):
        return None
    if any(use.limit is not None and not use.is_handed_over for use in taken.values()):
        return None
    expected: list[Row] = []
    updates: list[Row] = []
    for plan in plans:
        due = _due_of(plan, expected)
        if due is None or not due.keys() >= plan.updates.keys():
            return None
        updates += [(*row, due[key]) for key, row in plan.updates.items()]
    if not expected:
        return None
    return AtOnce(
        expected=by_key([expected], 3),
        tags=[(tag, use.peak, use.limit) for tag, use in taken.items()],
        updates=by_key([updates], 3),
        attempts=by_key((plan.attempts for plan in plans), 5),
        attempts_on=by_key((plan.attempts_on for plan in plans), 5),
        returned=by_key((plan.returned for plan in plans), 5),
        released=by_key((plan.released for plan in plans), 5),
        takes=by_key((plan.takes for plan in plans), 6),
        logs=sorted(plan.log for plan in plans if plan.log is not None),
    )


def _is_plain(plan: Plan) -> bool:
    """Whether it has but runs that go on, their attempts, and a line of the log; all that `Plan` may have
    besides goes the usual way.
    """
    others = (found for name, found in vars(plan).items() if name not in GOES_ALONG)
    return not any(others) and not plan.large.sorted_rows()


def _due_of(plan: Plan, expected: list[Row]) -> dict[RunKey, int | None] | None:
    """When its runs are due after it; what is expected of them before it is added."""
    first: dict[RunKey, Phase] = {}
    due: dict[RunKey, int | None] = {}
    for step in plan.steps:
        root = step.root
        if root is None or (step.launch and root in first) or any(key != root for key, _over in step.runs):
            return None
        first.setdefault(root, Phase.ADMITTED if step.launch else Phase.LIVE)
        if step.launch and root not in plan.updates:
            return None
        if step.launch or not step.keeps_due:
            due[root] = step.due_at
    for root, phase in first.items():
        is_checked = root in due and root not in plan.updates
        expected.append((*root, phase, due[root] if is_checked else None, int(is_checked)))
    return due
