"""The same steps for each element of a list, several at once, and a list in a list."""

from stretto import Engine, collect, foreach, step, workflow


@step
def days(first: int, count: int) -> list[str]:
    return [f"2026-11-{first + day:02}" for day in range(count)]


@step
def rows(day: str, table: str) -> int:
    return int(day[-2:]) * len(table)


@step
def total(counts: list[int]) -> int:
    return sum(counts)


@step
def summary(totals: list[int], by_table: list[list[int]]) -> str:
    return f"{sum(totals)} rows in all, {by_table} by day and table"


@workflow
def week(first: int = 1, count: int = 3) -> str:
    found = days(first, count)
    with foreach(found, concurrency=2) as day:
        counts = rows.map(table=["events", "users"], day=day)
        daily = total(counts)
    return summary(collect(daily), collect(counts))


if __name__ == "__main__":
    with Engine("memory").sync() as engine:
        print(engine.run(week))
