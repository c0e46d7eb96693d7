"""Many rows in every table that grows, so that a statement that looks at too many of them is found out.

What is in a column follows from its name; `i` is the number of the row. There are a hundred workflows, each
run has ten attempts, and few runs are alive.
"""

from tests.ports.postgresql_bench import connection_to

EPOCH = 1_700_000_000_000
LANE = "CASE i % 500 WHEN 0 THEN 'QUEUED' WHEN 1 THEN 'ADMITTED' WHEN 2 THEN 'LIVE' WHEN 3 THEN 'FAILED' END"
VALUES = {
    "instance_id": "1 + i / 100",
    "run_id": "1",
    "uuid": "'uuid-' || i",
    "group_id": "i % 128",
    "home_group": "i % 128",
    "to_group": "CASE WHEN i % 20 > 0 THEN i % 128 END",
    "to_node": "CASE WHEN i % 20 = 0 THEN 'node-' || i % 4 END",
    "phase": "CASE WHEN i % 500 < 3 THEN 'LIVE' ELSE 'ENDED' END",
    "lane": LANE,
    "status": "CASE WHEN i % 500 < 3 THEN 'IN_PROGRESS' WHEN i % 50 = 3 THEN 'FAILED' ELSE 'SUCCEEDED' END",
    "failure": "CASE WHEN i % 500 = 3 THEN 'FAILED' END",
    "ended_at": f"CASE WHEN i % 500 > 2 THEN {EPOCH} + i END",
    "listed_at": f"{EPOCH} + i",
    "create_time": f"{EPOCH} + i",
    "hour": f"{EPOCH} + i",
    "nested": "(i % 5 = 0)::int",
    "aside": "(i % 997 = 3)::int",
    "is_parked": "(i % 500 = 1)::int",
    "is_answered": "(i % 500 = 2)::int",
    "owner": "'user-' || i % 20",
    "correlation_id": "'correlation-' || i / 10",
    "root_workflow_id": "CASE WHEN i % 7 = 0 THEN 'wf-' || i % 100 END",
    "root_instance_id": "CASE WHEN i % 7 = 0 THEN 1 + i / 100 END",
    "root_run_id": "CASE WHEN i % 7 = 0 THEN 1 END",
    "parent_workflow_id": "CASE WHEN i % 5 = 0 THEN 'wf-' || i % 100 END",
    "parent_instance_id": "CASE WHEN i % 5 = 0 THEN 1 + i / 100 END",
    "parent_run_id": "CASE WHEN i % 5 = 0 THEN 1 END",
    "parent_step_id": "CASE WHEN i % 5 = 0 THEN 'step-1' END",
    "parent_attempt_no": "CASE WHEN i % 5 = 0 THEN 1 END",
    "state": "CASE WHEN i % 50 = 49 THEN 'DELETED' ELSE 'ALIVE' END",
    "queued": "(i % 97 = 0)::int",
    "pool": "'pool-' || i % 3",
    "taken_by": "CASE WHEN i % 2 = 0 THEN 'node-' || i % 4 END",
    "granted": "i % 2",
    "tag": "'tag-' || i % 50",
    "name": "'name-' || i % 50",
    "held": "CASE WHEN i % 1000 = 0 THEN 'step-' || i % 10 END",
    "is_limited": "1",
    "doc": "'{}'",
    "summary": "NULL",
    "next_fire_at": f"{EPOCH} + i",
}
OVERRIDES = {
    "workflow": {"workflow_id": "'wf-' || i"},
    "workflow_tag": {"workflow_id": "'wf-' || i"},
    "signal_name": {"name": "'name-' || i"},
    "counter": {"name": "'name-' || i"},
    "job_function": {"name": "'name-' || i"},
    "bulk_job": {"state": "CASE WHEN i % 100 = 0 THEN 'RUNNING' ELSE 'DONE' END"},
    "bulk_item": {
        "job_id": "'job_id-' || i % 100",
        "number": "i / 100",
        "state": "CASE WHEN i / 100 % 2 = 0 THEN 'WAITING' ELSE 'DONE' END",
    },
    "approval": {
        "assignee": "CASE WHEN i % 3 = 0 THEN '' ELSE 'user-' || i % 20 END",
        "home": "'wf-' || i % 100",
        "asked": "CASE WHEN i / 100 % 2 = 0 THEN 'OPEN' ELSE 'DONE' END",
        "asked_at": f"{EPOCH} + i",
        "step_id": "'step-1'",
        "attempt_no": "1",
    },
    "tag": {"tag": "'tag-' || i"},
    "tag_rate": {"tag": "'tag-' || i", "rate": "'10/minute'", "grants": "'[]'"},
    "node": {"node_id": "'node-' || i", "state": "'ALIVE'", "buried_at": "NULL"},
    "attempt": {
        "workflow_id": "'wf-' || i / 10 % 100",
        "instance_id": "1 + i / 1000",
        "step_id": "'step-' || i % 10",
        "attempt_no": "1",
        "status": "CASE WHEN i % 10 = 1 THEN 'RUNNING' ELSE 'SUCCEEDED' END",
        "doc": "repeat('x', 100)",
    },
}
COLUMNS = """
SELECT table_name, column_name, data_type, is_nullable = 'YES' FROM information_schema.columns
WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position
"""
FEW = {"node": 4, "beat": 4, "advertisement": 4, "work": 10_000}
LEFT_OUT = {"flow_group", "stretto_version"}


async def fill(url: str, rows: int, attempts: int, docs: dict[str, str] | None = None) -> None:
    """So many rows in each table, and of attempts; with these documents, by table."""
    async with connection_to(url) as connection:
        tables: dict[str, dict[str, str]] = {}
        for table, column, kind, nullable in await connection.fetch(COLUMNS):
            if table not in LEFT_OUT:
                doc = (docs or {}).get(f"{table}.{column}")
                value = _value(table, column, kind, nullable=nullable) if doc is None else f"'{doc}'"
                tables.setdefault(table, {})[column] = value
        for table, values in tables.items():
            count = attempts if table == "attempt" else FEW.get(table, rows)
            names, what = ", ".join(values), ", ".join(values.values())
            series = f"generate_series(0, {count - 1}) i"
            insert = f"INSERT INTO {table} ({names}) SELECT {what} FROM {series}"  # noqa: S608 - made here
            await connection.execute(insert)
        # Not those of others in the same database: whoever plans for empty tables would find them counted.
        await connection.execute(f"VACUUM ANALYZE {', '.join([*tables, *sorted(LEFT_OUT)])}")


def _value(table: str, column: str, kind: str, *, nullable: bool) -> str:
    known = OVERRIDES.get(table, {}).get(column) or VALUES.get(column)
    if known is not None:
        return known
    if column == "workflow_id":
        return "'wf-' || i % 100"
    if nullable:
        return "NULL"
    if kind in {"bigint", "smallint"}:
        return "i" if kind == "bigint" else "0"
    return f"'{column}-' || i"
