"""Extract, transform, load: values of all kinds, retries, a schedule, and a step that is async."""

import asyncio
from dataclasses import dataclass

from stretto import Engine, size, step, text, workflow


@dataclass
class Sale:
    product: str
    amount: float


@dataclass
class Report:
    day: str
    total: float
    best: Sale


@step(retries=3, retry_delay=10, timeout="5 minutes")
async def extract(day: str) -> list[Sale]:
    """Ask another system, which may be busy."""
    await asyncio.sleep(0)
    return [Sale("tea", 3.5), Sale("cup", 12.0), Sale("pot", 2.0 * int(day[-2:]))]


@step
def transform(day: str, sales: list[Sale], least: float) -> Report:
    """Leave small sales out, and add the others up."""
    kept = [sale for sale in sales if sale.amount >= least]
    return Report(day, sum(sale.amount for sale in kept), max(kept, key=lambda sale: sale.amount))


@step
def load(report: Report, note: str) -> str:
    return f"{report.day}: {report.total} ({note})"


@workflow(schedule="0 6 * * *", tags=["daily"])
def etl(day: str = "2026-11-15", least: float = 10) -> str:
    """Sales of a day."""
    sales = extract(day)
    report = transform(day, sales, least)
    return load(report, note=text(size(sales), " sales, the best is ", report.best.product))


if __name__ == "__main__":
    with Engine("memory").sync() as engine:
        print(engine.run(etl))
