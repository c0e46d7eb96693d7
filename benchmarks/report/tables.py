"""Tables of figures, in Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from benchmarks.harness.targets import over_peer
from benchmarks.harness.workloads import RATED, W3

Json = Mapping[str, Any]
COLUMNS: Final = {
    ("noop", "sqlite"): "NoOp steps, SQLite",
    ("noop", "postgresql"): "NoOp steps, PostgreSQL",
    ("async", "sqlite"): "Python functions, SQLite",
    ("async", "postgresql"): "Python functions, PostgreSQL",
}
RATED_NAMES: Final = tuple(each.name for each in RATED)
SHOWN_SECTIONS: Final = ("start", "speed", "growth", "processes", "api", "reads", "profile")
OWN_TABLES: Final = ("permits", "lag", "gather")  # sections that are shown apart
PERMIT_COLUMNS: Final = {
    "workflow": "`step_concurrency`",
    "instance": "`instance_step_concurrency`",
    "free_tag": "a tag that nobody limits",
    "tag": "a tag with a limit",
}
DATABASE_NAMES: Final = {"sqlite": "SQLite", "postgresql": "PostgreSQL", "memory": "in memory"}
SHOWN_ANYHOW: Final = frozenset({"api", "processes", "reads"})  # also figures that have no target
KIND_NAMES: Final = {"noop": "NoOp", "async": "functions"}
PART_NAMES: Final = {"threads": "other threads: SQL, flushes"}
NOTHING: Final = "-"


# ------------------------------------------------------------------------------------------------- our own
def rates(results: Json) -> str:
    """W1 to W4 and the latest of W3: what was reached, and what was to be."""
    found = by_key(results)
    lines = [(each.name, f"{each.name}: {each.size:,} {each.what}, {each.unit}") for each in RATED]
    lines.insert(3, (f"{W3.name} p99", "W3: submit to end, p99, s"))
    rows = []
    for name, what in lines:
        workload, _, rank = name.partition(" ")
        cells = []
        for kind, database in COLUMNS:
            key = "/".join(filter(None, (workload, kind, database, rank)))
            cells.append(with_target(found.get(key)))
        rows.append([what, *cells])
    return table(["", *COLUMNS.values()], rows)


def others(results: Json) -> str:
    """All other figures that have a target, and those of the server."""
    rows = [
        [row["name"], f"{number(row['value'])} {row['unit']}", target(row)]
        for section in SHOWN_SECTIONS
        for row in results.get(section, {}).get("rows", ())
        if (row["target"] is not None or section in SHOWN_ANYHOW)
        and row["key"].split("/")[0] not in RATED_NAMES
    ]
    return table(["", "Measured", "Target"], rows)


def loads(results: Json) -> str:
    """A server under load: a line for each case, a figure that was not measured left out."""
    cases: dict[str, dict[str, Json]] = {}
    for key, row in by_key({"load": results["load"]}).items() if "load" in results else ():
        _section, case, figure = key.split("/")
        cases.setdefault(case, {})[figure] = row
    rows = [
        [
            case,
            with_target(found.get("starts")),
            with_target(found.get("factor")),
            joined(found, "p50", "p99", "max"),
            joined(found, "before", "peak"),
        ]
        for case, found in cases.items()
    ]
    head = ["", "Starts/s", "Processor time per start, times", "`/health` p50 / p99 / max, ms"]
    return table([*head, "Memory before / peak, MB"], rows)


def permits(results: Json) -> str:
    """What limits cost that never bind: a line for each workload, as multiples of its time without them."""
    if "permits" not in results:
        return absent("permits")
    found = by_key({"permits": results["permits"]})
    rows = []
    for key, row in found.items():
        if key.count("/") == 4:
            _section, kind, database, workload, runs = key.split("/")
            what = workload if runs == "1" else f"{workload}, {runs} runs at once"
            cells = [with_target(found.get(f"{key}/{limit}")) for limit in PERMIT_COLUMNS]
            line = f"{what}; {KIND_NAMES[kind]}, {DATABASE_NAMES[database]}"
            rows.append([line, number(row["value"]), *cells])
    return table(["", "Without limits, ms", *PERMIT_COLUMNS.values()], rows)


def lags(results: Json) -> str:
    """Reads and pushes of large runs: how long, how long the loop is held, and how that grows."""
    if "lag" not in results:
        return absent("lag")
    found = by_key({"lag": results["lag"]})
    rows = []
    for key, row in found.items():
        if key.count("/") == 2:
            _section, what, database = key.split("/")
            held, growth = (with_target(found.get(f"{key}/{each}")) for each in ("held", "growth"))
            rows.append([f"{what}; {DATABASE_NAMES[database]}", with_target(row), held, growth])
    return table(["", "Answer, ms", "The loop is held, ms", "Beside a tenth, times"], rows)


def gathers(results: Json) -> str:
    """A map whose results are gathered: how fast, and how that grows."""
    if "gather" not in results:
        return absent("gather")
    found = by_key({"gather": results["gather"]})
    rows = [
        [
            DATABASE_NAMES[key.split("/")[1]],
            number(row["value"]),
            with_target(found.get(f"{key}/growth")),
        ]
        for key, row in found.items()
        if key.count("/") == 1
    ]
    return table(["", "Items/s", "Beside a tenth, times"], rows)


def absent(section: str) -> str:
    """In place of figures that are not published."""
    return f"There are no published figures yet; `make bench SECTION={section}` prints them.\n"


def joined(found: Mapping[str, Json], *figures: str) -> str:
    return " / ".join(number(found[each]["value"]) if each in found else NOTHING for each in figures)


def profile(results: Json) -> str:
    """Microseconds of processor time of a step, by part of the code: the largest first."""
    found = by_key({"profile": results["profile"]}) if "profile" in results else {}
    columns = [key for key in found if key.count("/") == 2]
    spent: dict[str, dict[str, float]] = {}
    for key, row in found.items():
        column, _, part = key.rpartition("/")
        if column in columns:
            spent.setdefault(PART_NAMES.get(part, part), {})[column] = row["value"]
    ordered = sorted(spent.items(), key=lambda item: -sum(item[1].values()))
    rows = [[part, *(number(each.get(column)) for column in columns)] for part, each in ordered]
    rows.append(["all", *(number(found[column]["value"]) for column in columns)])
    head = [f"{key.split('/')[1]} {KIND_NAMES[key.split('/')[2]]}" for key in columns]
    return table(["us", *head], rows)


def by_key(results: Json) -> dict[str, Json]:
    return {row["key"]: row for part in results.values() for row in part["rows"] if row["key"]}


def with_target(row: Json | None) -> str:
    return NOTHING if row is None else f"{number(row['value'])} {target(row)}".strip()


def target(row: Json) -> str:
    if row["target"] is None:
        return ""
    return f"({number(row['target'])}{'' if row['hit'] else ', missed'})"


# --------------------------------------------------------------------------------------------------- peers
def ratios(peers: Json) -> str:
    """How many times as fast as each peer we are: Python functions, and NoOp steps."""
    rows = []
    for peer in peers.values():
        cells = [ratio_cell(find(peer, name)) for name in (*RATED_NAMES, "W6")]
        version = f" ({peer['version']})" if "version" in peer else ""
        rows.append([peer["title"] + version, *cells, verdict(peer)])
    return table(["Ours beside", *RATED_NAMES, "W6", "Target"], rows)


def figures(peers: Json) -> str:
    """What the peers reached."""
    rows = []
    for peer in peers.values():
        cells = [figure_cell(find(peer, name)) for name in RATED_NAMES]
        cells.insert(3, spread_cell(find(peer, "W3"), 1))
        memory, hello = peer.get("memory"), peer.get("hello")
        cells += [
            spread_cell(find(peer, "W6"), 1_000),
            NOTHING if hello is None else f"{number(hello['peer'])} (ours {number(hello['ours'])})",
            number(peer.get("server ready")),
            NOTHING if memory is None else f"{memory['idle']:.0f} / {memory['peak']:.0f}",
        ]
        rows.append([peer["title"], *cells])
    head = ["Peer", "W1 ms/step", "W2 steps/s", "W3 steps/s", "W3 p50 / p99 s", "W4 items/s"]
    return table([*head, "W6 p50 / p99 ms", "hello s", "server ready s", "MB idle / W3 peak"], rows)


def find(peer: Json, workload: str) -> Json | None:
    return next((row for row in peer.get("rows", ()) if row["workload"] == workload), None)


def ratio_cell(row: Json | None) -> str:
    return NOTHING if row is None else f"{number(row['ratio']['async'])} / {number(row['ratio']['noop'])}"


def figure_cell(row: Json | None) -> str:
    """With its size, where it was cut."""
    if row is None:
        return NOTHING
    whole = next(each.size for each in RATED if each.name == row["workload"])
    return number(row["peer"]["figure"]) + ("" if row["size"] == whole else f" (of {row['size']:,})")


def spread_cell(row: Json | None, scale: int) -> str:
    if row is None or row["peer"]["p50"] is None:
        return NOTHING
    return f"{number(row['peer']['p50'] * scale)} / {number(row['peer']['p99'] * scale)}"


def verdict(peer: Json) -> str:
    """Which lines of Python functions miss it, and whether there could have been more."""
    missed = [
        row["workload"]
        for row in peer["rows"]
        if row["ratio"]["async"] < over_peer(row["workload"], durable=peer["durable"])
    ]
    if not peer["rows"]:
        return "could not be measured"
    said = f"missed: {', '.join(missed)}" if missed else "met"
    return f"{said}; it broke off" if "trouble" in peer else said


# --------------------------------------------------------------------------------------------------- words
def measured_on(parts: Iterable[Json]) -> str:
    """Where the figures come from, each distinct origin once, and how busy the machine was."""
    loads: dict[str, list[float]] = {}
    for part in parts:
        loads.setdefault(origin(part["about"]), []).append(part["about"]["load"])
    return "".join(f"- {line}; load {min(each)} to {max(each)}\n" for line, each in loads.items())


def origin(about: Json) -> str:
    libraries = ", ".join(f"{name} {version}" for name, version in about["libraries"].items())
    changed = " with changes" if about["changed"] else ""
    day = about["date"].split()[0]
    what = f"commit {about['commit']}{changed}, {day}, Python {about['python']}, {libraries}"
    return f"{what}; {about['cpu']}, {about['cores']} cores, {about['system']}"


def number(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2g}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
