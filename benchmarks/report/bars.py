"""The plot: for each workload the figures of all systems as bars, on a logarithmic scale."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from statistics import median
from typing import Any, Final, NamedTuple
from xml.sax.saxutils import escape

from benchmarks.harness.workloads import RATED, Workload
from benchmarks.report.tables import COLUMNS, by_key, find, number

WIDTH: Final = 1_000
PANEL: Final = 490
LABELS: Final = 215  # of a panel, before its bars
VALUES: Final = 60  # behind them
BAR: Final = 15
STEP: Final = 19
HEAD: Final = 56
TITLE: Final = 30
AXIS: Final = 26
COLOURS: Final = {
    "async": ("#3f51b5", "Stretto, Python functions"),
    "noop": ("#9fa8da", "Stretto, NoOp steps"),
    "durable": ("#607d8b", "keeps the state of workflows"),
    "other": ("#cfd8dc", "does not"),
}
FONT: Final = 'font-family="DejaVu Sans, Arial, sans-serif" font-size="11"'
OURS: Final = {"async": "functions", "noop": "NoOp"}
DATABASES: Final = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
Json = Mapping[str, Any]


class Bar(NamedTuple):
    label: str
    value: float
    kind: str


def bars_of(workload: Workload, ours: Json, peers: Json) -> list[Bar]:
    """The best first. Ours are those of the same run as the peers, where there are some."""
    found = []
    for kind, database in COLUMNS:
        value = own_figure(workload, kind, database, ours, peers)
        if value is not None:
            found.append(Bar(f"Stretto {OURS[kind]}, {DATABASES[database]}", value, kind))
    for peer in peers.values():
        row = find(peer, workload.name)
        if row is not None:
            kind = "durable" if peer["durable"] else "other"
            found.append(Bar(peer["title"], row["peer"]["figure"], kind))
    return sorted(found, key=lambda bar: bar.value, reverse=workload.unit != "ms/step")


def own_figure(workload: Workload, kind: str, database: str, ours: Json, peers: Json) -> float | None:
    beside: list[float] = [
        row[kind]["figure"]
        for peer in peers.values()
        for row in [find(peer, workload.name)]
        if row is not None and row["size"] == workload.size and peer["beside"] == database
    ]
    if beside:
        return median(beside)
    alone = by_key(ours).get(f"{workload.name}/{kind}/{database}")
    return None if alone is None else float(alone["value"])


def svg(ours: Json, peers: Json) -> str:
    """The whole drawing."""
    panels = [(each, bars_of(each, ours, peers)) for each in RATED]
    tall = max((len(bars) for _, bars in panels), default=0) * STEP + TITLE + AXIS
    height = HEAD + 2 * tall
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {FONT} fill="#263238">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        *legend(),
    ]
    for place, (workload, bars) in enumerate(panels):
        left, top = place % 2 * (WIDTH - PANEL), HEAD + place // 2 * tall
        if bars:
            parts += panel(workload, bars, left, top)
    return "\n".join([*parts, "</svg>", ""])


def legend() -> list[str]:
    parts, left = [], 10
    for colour, what in COLOURS.values():
        parts.append(f'<rect x="{left}" y="14" width="14" height="14" fill="{colour}"/>')
        parts.append(f'<text x="{left + 20}" y="25">{escape(what)}</text>')
        left += 235
    return parts


def panel(workload: Workload, bars: Sequence[Bar], left: int, top: int) -> list[str]:
    """One workload: a title, lines at powers of ten, a bar for each system."""
    low = floor(log10(min(bar.value for bar in bars)) - 0.05)
    high = ceil(log10(max(bar.value for bar in bars)))
    start, room = left + LABELS, PANEL - LABELS - VALUES
    foot = top + TITLE + len(bars) * STEP

    def place(value: float) -> float:
        return start + room * (log10(value) - low) / (high - low)

    better = "less" if workload.unit == "ms/step" else "more"
    title = f"{workload.name}: {workload.size:,} {workload.what}; {workload.unit}, {better} is better"
    parts = [f'<text x="{left + 10}" y="{top + 16}" font-weight="bold">{escape(title)}</text>']
    for power in range(low, high + 1):
        at = f"{place(10.0**power):.1f}"
        parts.append(f'<line x1="{at}" x2="{at}" y1="{top + TITLE - 4}" y2="{foot}" stroke="#eceff1"/>')
        parts.append(
            f'<text x="{at}" y="{foot + 12}" text-anchor="middle" fill="#78909c" font-size="9">'
            f"{10.0**power:,g}</text>"
        )
    for number_of, bar in enumerate(bars):
        y = top + TITLE + number_of * STEP
        end = place(bar.value)
        parts.append(f'<text x="{start - 6}" y="{y + 11}" text-anchor="end">{escape(bar.label)}</text>')
        parts.append(
            f'<rect x="{start}" y="{y}" width="{max(1.0, end - start):.1f}" height="{BAR}"'
            f' fill="{COLOURS[bar.kind][0]}"/>'
        )
        parts.append(f'<text x="{end + 4:.1f}" y="{y + 11}">{number(bar.value)}</text>')
    return parts
