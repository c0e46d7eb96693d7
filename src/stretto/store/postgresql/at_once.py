"""A group commit as one statement, which is a transaction by itself.

Whether it may write is found in it: the groups are locked as in any commit, and each part writes only if all
generations and runs are as expected. The runs are seen as they were when it began, maybe before it waited for
a lock: if the generations are still the same, nobody else has written them since. Permits are taken only of
tags without a row, which have no limit.
"""

from collections.abc import Sequence
from typing import Any, Final

from stretto.ports.rows import Lease
from stretto.store.postgresql.binding import arrays_of
from stretto.store.postgresql.dialect import CLOCK, array, spell, width
from stretto.store.sql.at_once import EXPECTED, AtOnce
from stretto.store.sql.commits import LOG, RELEASES
from stretto.store.sql.rows.attempts import PUT_ATTEMPT, PUT_ATTEMPT_ON
from stretto.store.sql.rows.permits import TAKE
from stretto.store.sql.rows.runs import UPDATE_RUN
from stretto.store.sql.statement import RUN_KEY, Bulk, Row, ints, names_of, same

LEASE: Final = ints("group_id", "generation")
_NUMBERS: Final = len(LEASE) + len(EXPECTED) + 3  # that are bound before the rows
_texts: Final[dict[tuple[bool, ...], str]] = {}


def said(leases: Sequence[Lease], rows: AtOnce, ahead: int) -> tuple[str, list[Any]]:
    """The statement, and what is bound to it. It answers with the fields of an `Answer`."""
    parts = parts_of(rows)
    present = tuple(bool(rows) for _bulk, rows in parts)
    if present not in _texts:
        _texts[present] = spelled([bulk for bulk, rows in parts if rows])
    bound = [*arrays_of(LEASE, leases), *arrays_of(EXPECTED, rows.expected)]
    bound += [len(rows.expected), ahead, rows.free]
    for bulk, each in parts:
        if each:
            bound += arrays_of(bulk.fields, each)
    return _texts[present], bound


def parts_of(rows: AtOnce) -> tuple[tuple[Bulk, list[Row]], ...]:
    return (
        (UPDATE_RUN, rows.updates),
        (PUT_ATTEMPT, rows.attempts),
        (PUT_ATTEMPT_ON, rows.attempts_on),
        *((release, rows.released) for release in RELEASES),
        (TAKE, rows.takes),
        (LOG, rows.logs),
    )


def spelled(bulks: Sequence[Bulk]) -> str:
    """The statement that writes rows of these."""
    groups, generations = (array(field.kind, place) for place, field in enumerate(LEASE, 1))
    expected = ", ".join(array(field.kind, place) for place, field in enumerate(EXPECTED, 1 + len(LEASE)))
    leases = f"unnest({groups}, {generations}) AS lease ({names_of(LEASE)})"
    # A lease that is out of date locks nothing: whoever claims the group passes over what is locked.
    held = (
        f"SELECT flow_group.group_id FROM {leases} JOIN flow_group ON {same(LEASE, 'flow_group', 'lease')} "
        "ORDER BY flow_group.group_id FOR SHARE OF flow_group"
    )
    runs = (
        f"SELECT count(*) FROM unnest({expected}) AS named ({names_of(EXPECTED)}) JOIN run "
        f"ON {same(RUN_KEY, 'run', 'named')} AND run.phase = named.phase "
        "AND (named.is_checked = 0 OR run.due_at IS NOT DISTINCT FROM named.due_at)"
    )
    guard = (
        f"SELECT (SELECT count(*) FROM held) = cardinality({groups}) "
        f"AND ({runs}) = ${_NUMBERS - 2}::bigint "
        f"AND NOT EXISTS (SELECT 1 FROM tag WHERE tag = ANY(${_NUMBERS}::text[])) AS fine, "
        f"{CLOCK} + ${_NUMBERS - 1}::bigint AS now"
    )
    parts, first = [f"held AS MATERIALIZED ({held})", f"guard AS MATERIALIZED ({guard})"], 1 + _NUMBERS
    for place, bulk in enumerate(bulks):
        parts.append(f"part_{place} AS ({spell(bulk, first, guard='guard')})")
        first += width(bulk) - len(bulk.common)
    return f"WITH {', '.join(parts)} SELECT fine, now, ARRAY(SELECT group_id FROM held) FROM guard"
