"""Many rows in every table that grows, and a value for everything that a statement asks about: so that one
that looks at many more rows than it finds is found out.

Workflows `wf-0` to `wf-99` have the runs in turn; each run has ten attempts; few of them are alive.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.ports.test_sql_plans import PARTS

from stretto.store.sql.statement import INT, Bulk, Field, Statement, Way
from stretto.store.sql.workflow_lists import BY_STATUS
from stretto.store.sqlite.dialect import DIALECT

EPOCH = 1_700_000_000_000
SCRIPT = Path(__file__).with_name("many_rows.sql")
PAGE = 50
RUNS = [("wf-7", number, 1) for number in range(3, 20)]
ATTEMPTS = [(*run, "step-1", 1) for run in RUNS]
VALUES: dict[str, Any] = {
    "above": 3,
    "after": "wf-3",
    "asked_at": EPOCH + 900,
    "assignee": "user-7",
    "at": EPOCH + 500,
    "attempt_no": 1,
    "attempts": ATTEMPTS,
    "before": EPOCH + 500,
    "correlation_id": "corr-7",
    "create_time": EPOCH,
    "dependency": 0,
    "digest": "digest-3",
    "first": "maestro",
    "group": 5,
    "group_id": 5,
    "groups": [*range(32)],
    "has": "IN_PROGRESS",
    "logs": [(group,) for group in range(32)],
    "held": "step-1",
    "home": "wf-7",
    "id": 77,
    "ids": [*range(100, 140)],
    "initiator": "manual",
    "instance_id": 5,
    "instances": [*range(1, 20)],
    "job_id": "job-7",
    "job_type": "type-7",
    "key": "key-7",
    "keys": [(*run, "attempt", "step-1", 1) for run in RUNS],
    "kind": "log",
    "launches": PAGE,
    "lanes": [(f"wf-{number}", "LIVE") for number in range(10)],
    "last": "maestrp",
    "listed_at": EPOCH + 900,
    "loops": [("maestro_foreach_1", 1)],
    "most": PAGE,
    "name": "signal-3",
    "names": [f"signal-{number}" for number in range(10)],
    "node": "node-1",
    "node_id": "node-1",
    "now": EPOCH + 10,
    "number": 5,
    "owner": "user-3",
    "parent_attempt": 1,
    "parent_instance_id": 5,
    "parent_run_id": 1,
    "parent_step": "step-1",
    "parent_workflow_id": "wf-7",
    "part": "attempt",
    "place": 5,
    "places": [(group, 3) for group in range(32)],
    "pool": "pool-1",
    "prefix": "wf-1",
    "prefix_end": "wf-2",
    "properties": [(f"wf-{number}", number) for number in range(10)],
    "ranges": [(*run, 1) for run in RUNS],
    "reach": PAGE,
    "ref": "r77",
    "request_id": "uuid-7",
    "run_id": 1,
    "runs": RUNS,
    "seq": 3,
    "since": EPOCH,
    "sink": "sink-1",
    "status": "SUCCEEDED",
    "step_id": "step-1",
    "tag": "tag-3",
    "tags": [f"tag-{number}" for number in range(10)],
    "trigger_id": "trigger-7",
    "until": EPOCH + 1_000_000_000,
    "uuid": "uuid-7",
    "version": "v1",
    "version_id": 1,
    "versions": [(f"wf-{number}", 1) for number in range(10)],
    **{f"word_{number}": "%wf-1%" for number in range(3)},
    "width": 1_000,
    "workflow_end": "wf-7z",
    "workflow_id": "wf-7",
    "workflow_ids": [f"wf-{number}" for number in range(10)],
    "nodes": ["node-1"],
    "named": [(f"wf-{number}",) for number in range(10)],
    **{f"workflow_{number}": f"wf-{number}" for number in range(16)},
}
SPECIAL: dict[str, dict[str, Any]] = {
    "admitting.KNOWN.0": {"ids": [f"uuid-{number}" for number in range(7, 2_000, 100)]},
    "outbox.SAME.0": {"digest": 77},
    **{f"bulk.ITEMS_IN.{place}": {"state": "WAITING"} for place in range(6)},
    "pruning.NAMED.0": {"digest": 77},
    "pruning.NAMED.1": {"digest": 77},
    "retention.OLDEST.0": {"last": 5},
    "run_snapshots.STEPS.0": {"loops": RUNS},
    "triggers.NEXT_ANYWHERE.0": {"after": -1},
    "triggers.NEXT_DUE.0": {"after": -1},
    **{f"workflows by prefix0.{place}": {"cut_0": "wf-15"} for place in range(6)},  # within the prefix
}
# What these look at is what they were asked about: they count it, or nothing of it is what is wanted.
ALL_OF_IT = {
    "bulk.COUNTS.0",
    "loading.ENDED.0",
    "outbox.LEFT_OVER.0",  # who it is for is asked of each message to a node: there are few
    "outbox.LOST.0",
    "permits.USED.2",
    "permits.WAITED_FOR.0",
    "retention.PRUNABLE.0",
    "signals.WAIT_COUNTS.0",
    "triggers.NEXT_DUE.0",
    "triggers.NEXT_FIRES.0",
    "views.ALL_IN_BUCKETS.0",
    "views.COUNTED.0",
    "views.RUN_IN_BUCKETS.0",
    *(f"history.LONGEST.{place}" for place in range(6)),
    *(f"runs by since+tag+workflow_id.{place}" for place in range(6)),
    *(f"runs by initiator+nested+since+until.{place}" for place in range(6)),  # all in that time
    # Each workflow is asked, and few are as they are wanted.
    *(
        f"workflows by {name}.{place}"
        for name in ("1", "inactive0", "has_run0", *(f"{each}0" for each in BY_STATUS.values()))
        for place in range(6)
    ),
    *(f"workflows by active+has_failed+has_run+owner+prefix+tag3.{place}" for place in range(6)),
    *(f"signals.WAITED_FOR.{place}" for place in range(4)),  # the names of all that wait
}
CUT = re.compile(r"([\w.]+) [<>=]+ :(cut_\d)")
NAME = re.compile(r"(?<![:\w]):([a-z_][a-z_0-9]*)")
STATEMENTS = {
    name: part
    for name, part in PARTS.items()
    if isinstance(part, Statement) and not part.of(DIALECT).startswith("INSERT")
}
BULKS = {
    name: part
    for name, part in PARTS.items()
    if isinstance(part, Bulk) and part.way in {Way.UPDATE, Way.DELETE}
}


class Tried(NamedTuple):
    """What a statement did: rows that it looked at, rows that it found or changed, and its plan."""

    reads: int
    hits: int
    plan: list[Any]


def values_for(name: str, text: str) -> dict[str, Any]:
    cuts = {cut_name: VALUES[column.rpartition(".")[2]] for column, cut_name in CUT.findall(text)}
    missing = dict.fromkeys(NAME.findall(text), 0)
    return {**missing, **VALUES, **cuts, **SPECIAL.get(name, {})}


def row_for(table: str, field: Field, place: int) -> Any:
    """A value of a row that is there: see `many_rows.sql`."""
    match table, field.name:
        case _, "hour":
            return EPOCH + 3_600_000 * place
        case _, "result_key":
            return f"result-{place}"
        case "permit", "tag":
            return f"tag-{10 * (VALUES['instance_id'] - 1 + place)}"
        case "properties", "create_time":
            return place
        case "breakpoint", "step_id":
            return f"step-{place}"
        case "breakpoint", "version_id" | "instance_id" | "run_id" | "attempt_no":
            return 0
        case _, "id" | "instance_id" | "seq" | "place" | "version_id":
            return VALUES.get(field.name, 1) + place
        case _:
            return VALUES.get(field.name, 0 if field.kind is INT else "x")


def too_many(tried: dict[str, Tried]) -> dict[str, Tried]:
    """What looked at many more rows than it found."""
    return {
        name: each
        for name, each in tried.items()
        if each.reads > 12 * PAGE + 6 * each.hits and name not in ALL_OF_IT
    }


# ----------------------------------------------------------------------------------------------------- rows
def script(attempts: int, numbers: Callable[[int], str], *, mariadb: bool = False) -> str:
    """So many attempts, and rows in all other tables. `numbers`: how a database counts from 0 to a number."""
    text = SCRIPT.read_text(encoding="utf-8")
    counts = {"few": min(attempts // 10, 20_000) - 1, "runs": attempts // 10 - 1, "attempts": attempts - 1}
    for name, count in {**counts, "sinks": 255, "nodes": 3}.items():
        text = text.replace(f"FROM <{name}>", f"FROM {numbers(count)}")
    text = text.replace("<epoch>", str(EPOCH)).replace("<filler>", "x" * 200)
    return text if mariadb else _without_if(text.replace(" DIV ", " / "))


def _without_if(text: str) -> str:
    """`IF(a, b, c)` as everybody understands it."""
    while (begin := text.find(" IF(")) >= 0:
        places, depth, at = [begin + 3], 0, begin + 3
        while depth or at == begin + 3:
            depth += (text[at] == "(") - (text[at] == ")")
            if text[at] == "," and depth == 1:
                places.append(at)
            at += 1
        asked, yes, no = (
            text[left + 1 : right] for left, right in zip(places, [*places[1:], at - 1], strict=True)
        )
        text = f"{text[:begin]} CASE WHEN {asked} THEN {yes} ELSE {no} END{text[at:]}"
    return text
