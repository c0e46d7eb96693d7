"""A group commit as one statement, which is a transaction by itself.

Whether it may write is found in it: the groups are locked as in any commit, and each part writes only if all
generations and runs are as expected. The runs are seen as they were when it began, maybe before it waited for
a lock: if the generations are still the same, nobody else has written them since.

The same holds for permits: no tag is locked. So they are taken of tags without a row, which have no limit, or
are handed over: an attempt takes what another holds that ends with this statement, and nobody waits. However
old the count is, no more hold the tag afterwards than did before.
"""

from collections.abc import Sequence
from typing import Any, Final

from stretto.ports.rows import Lease
from stretto.store.postgresql.binding import arrays_of
from stretto.store.postgresql.dialect import CLOCK, array, spell, width
from stretto.store.sql.at_once import EXPECTED, TAKEN, AtOnce
from stretto.store.sql.commits import LOG, RELEASES, RETURN
from stretto.store.sql.rows.attempts import PUT_ATTEMPT, PUT_ATTEMPT_ON
from stretto.store.sql.rows.permits import TAKE
from stretto.store.sql.rows.runs import UPDATE_RUN
from stretto.store.sql.statement import RUN_KEY, Bulk, Field, Row, ints, names_of, same

LEASE: Final = ints("group_id", "generation")
_NUMBERS: Final = len(LEASE) + len(EXPECTED) + 2  # that are bound before the tags and the rows
_texts: Final[dict[tuple[bool, ...], str]] = {}


def said(leases: Sequence[Lease], rows: AtOnce, ahead: int) -> tuple[str, list[Any]]:
    """The statement, and what is bound to it. It answers with the fields of an `Answer`."""
    parts = parts_of(rows)
    present = (bool(rows.tags), *(bool(rows) for _bulk, rows in parts))
    if present not in _texts:
        _texts[present] = spelled([bulk for bulk, rows in parts if rows], takes=bool(rows.tags))
    bound = [*arrays_of(LEASE, leases), *arrays_of(EXPECTED, rows.expected), len(rows.expected), ahead]
    if rows.tags:
        bound += arrays_of(TAKEN, rows.tags)
    for bulk, each in parts:
        if each:
            bound += arrays_of(bulk.fields, each)
    return _texts[present], bound


def parts_of(rows: AtOnce) -> tuple[tuple[Bulk, list[Row]], ...]:
    return (
        (UPDATE_RUN, rows.updates),
        (PUT_ATTEMPT, rows.attempts),
        (PUT_ATTEMPT_ON, rows.attempts_on),
        (RETURN, rows.returned),
        *((release, rows.released) for release in RELEASES),
        (TAKE, rows.takes),
        (LOG, rows.logs),
    )


def spelled(bulks: Sequence[Bulk], *, takes: bool) -> str:
    """The statement that writes rows of these; with `takes`, if permits can be taken."""
    groups, generations = (array(field.kind, place) for place, field in enumerate(LEASE, 1))
    expected = arrays(EXPECTED, 1 + len(LEASE))
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
        f"AND ({runs}) = ${_NUMBERS - 1}::bigint "
        f"{'AND NOT EXISTS (SELECT 1 FROM room WHERE NOT fits) ' if takes else ''}AS fine, "
        f"{CLOCK} + ${_NUMBERS}::bigint AS now"
    )
    parts, first = [f"held AS MATERIALIZED ({held})"], 1 + _NUMBERS
    if takes:
        parts.append(f"room AS MATERIALIZED ({spelled_room(first)})")
        first += len(TAKEN)
    parts.append(f"guard AS MATERIALIZED ({guard})")
    for place, bulk in enumerate(bulks):
        parts.append(f"part_{place} AS ({spell(bulk, first, guard='guard')})")
        first += width(bulk) - len(bulk.common)
    room = "ARRAY(SELECT spare FROM room ORDER BY place)" if takes else "'{}'::bigint[]"
    return f"WITH {', '.join(parts)} SELECT fine, now, ARRAY(SELECT group_id FROM held), {room} FROM guard"


def spelled_room(first: int) -> str:
    """Of each tag that is taken how many permits are left (`spare`), and whether it can be taken (`fits`)."""
    most = "COALESCE(tag.max_allowed, lowest, taken.max_allowed)"
    is_clear = "(tag.max_allowed IS NOT NULL OR lowest IS NOT DISTINCT FROM highest)"
    return (
        f"SELECT place, {most} - used AS spare, CASE WHEN tag.tag IS NULL THEN taken.max_allowed IS NULL "
        f"ELSE peak <= 0 AND waiting = 0 AND COALESCE(used + peak <= {most}, TRUE) AND {is_clear} "
        "AND rate IS NULL END AS fits "
        f"FROM unnest({arrays(TAKEN, first)}) WITH ORDINALITY AS taken ({names_of(TAKEN)}, place) "
        "LEFT JOIN tag ON tag.tag = taken.tag LEFT JOIN tag_rate ON tag_rate.tag = tag.tag "
        "CROSS JOIN LATERAL ("
        "SELECT count(*) AS used, count(*) FILTER (WHERE granted = 0) AS waiting, "
        "min(permit.max_allowed) AS lowest, max(permit.max_allowed) AS highest "
        "FROM permit WHERE permit.tag = tag.tag) AS had"
    )


def arrays(fields: Sequence[Field], first: int) -> str:
    """What is bound to these columns, from this number on."""
    return ", ".join(array(field.kind, number) for number, field in enumerate(fields, first))
