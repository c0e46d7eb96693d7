"""Runs sections of benchmarks and prints a table: python -m benchmarks [SECTION...] [--json FILE]."""

import argparse
import json
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Final

from benchmarks.row import Row

HERE: Final = Path(__file__).parent
SECTIONS: Final = sorted(
    module.name for module in iter_modules([str(HERE)]) if module.name not in {"__main__", "row"}
)
MARKS: Final = {True: "ok", False: "MISS", None: ""}


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    arguments.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; all")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    chosen = arguments.parse_args()
    unknown = set(chosen.sections) - set(SECTIONS)
    if unknown:
        arguments.error(f"there is no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    results: dict[str, list[Row]] = {}
    for section in chosen.sections or SECTIONS:
        print(f"\n{section}")
        results[section] = import_module(f"benchmarks.{section}").run()
        for row in results[section]:
            print(line(row))
    if chosen.json:
        rows = [
            {"section": name, **row._asdict(), "hit": row.hit} for name in results for row in results[name]
        ]
        chosen.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


def line(row: Row) -> str:
    target = "" if row.target is None else f"target {shown(row.target)}"
    beside = f"{row.ratio:.3g} x {row.beside}" if row.beside else ""
    value = f"{shown(row.value):>10} {row.unit:<8}"
    return f"  {row.name:<54} {value} {target:<15} {MARKS[row.hit]:<5} {beside}".rstrip()


def shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.3g}"


if __name__ == "__main__":
    main()
