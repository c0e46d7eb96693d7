"""Runs sections of benchmarks and prints a table: python -m benchmarks [SECTION...].

Without a section all of them, and what the documentation shows of them is written again; `--publish` does
that for some.
"""

import argparse
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Final

from benchmarks.harness import results
from benchmarks.report.page import write
from benchmarks.row import Row

HERE: Final = Path(__file__).parent
SECTIONS: Final = sorted(
    module.name
    for module in iter_modules([str(HERE)])
    if not module.ispkg and module.name not in {"__main__", "row", "far", "large"}
)
MARKS: Final = {True: "ok", False: "MISS", None: ""}


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    arguments.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; all")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    arguments.add_argument("--publish", action="store_true", help="put the results into the documentation")
    chosen = arguments.parse_args()
    unknown = set(chosen.sections) - set(SECTIONS)
    if unknown:
        arguments.error(f"there is no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    found: dict[str, Any] = {}
    for section in chosen.sections or SECTIONS:
        print(f"\n{section}")
        made: Iterable[Row] = import_module(f"benchmarks.{section}").run()
        rows = [shown_at_once(row) for row in made]
        found[section] = {"about": results.about(), "rows": results.as_json(rows)}
    if chosen.json:
        results.write(chosen.json, found)
    if chosen.publish or not chosen.sections:
        results.write(results.OURS, {**results.read(results.OURS), **found})
        write()


def shown_at_once(row: Row) -> Row:
    print(line(row), flush=True)
    return row


def line(row: Row) -> str:
    target = "" if row.target is None else f"target {shown(row.target)}"
    beside = f"{row.ratio:.3g} x {row.beside}" if row.beside else ""
    value = f"{shown(row.value):>10} {row.unit:<8}"
    return f"  {row.name:<68} {value} {target:<15} {MARKS[row.hit]:<5} {beside}".rstrip()


def shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.3g}"


if __name__ == "__main__":
    main()
