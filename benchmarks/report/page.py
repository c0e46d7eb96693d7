"""The pages of the documentation: what stands between their markers is made from the results."""

import re
import subprocess
from collections.abc import Mapping
from typing import Any, Final

from benchmarks.harness import results
from benchmarks.harness.environments import python_of
from benchmarks.harness.program import ROOT, Trouble
from benchmarks.report.bars import svg
from benchmarks.report.tables import (
    OWN_TABLES,
    SHOWN_SECTIONS,
    figures,
    gathers,
    lags,
    loads,
    measured_on,
    others,
    permits,
    profile,
    rates,
    ratios,
)

EXPLANATION: Final = ROOT / "docs" / "explanation"
PAGES: Final = (EXPLANATION / "performance.md", EXPLANATION / "failure-model.md")
PLOT: Final = ROOT / "docs" / "images" / "performance.svg"
DRAWING: Final = ROOT / "benchmarks" / "harness" / "plot.txt"
RENDER: Final = """
import resvg_py, sys
with open(sys.argv[2], "wb") as png:
    png.write(bytes(resvg_py.svg_to_bytes(svg_path=sys.argv[1], zoom=2)))
"""


def write() -> None:
    """The pages and the plot, as SVG and as PNG."""
    ours, peers = results.read(results.OURS), results.read(results.PEERS)
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8"), ours, peers), encoding="utf-8")
    PLOT.parent.mkdir(exist_ok=True)
    PLOT.write_text(svg(ours, peers), encoding="utf-8")
    try:
        python = python_of("plot", DRAWING)
    except Trouble as error:
        print(f"  no PNG of the plot: {error}")
        return
    subprocess.run([python, "-c", RENDER, PLOT, PLOT.with_suffix(".png")], check=True)


def filled(page: str, ours: Mapping[str, Any], peers: Mapping[str, Any]) -> str:
    """A page with the parts between its markers made anew."""
    parts = {
        "rates": rates(ours),
        "others": others(ours),
        "profile": profile(ours),
        "ratios": ratios(peers),
        "figures": figures(peers),
        "permits": permits(ours),
        "lag": lags(ours),
        "gather": gathers(ours),
        "load": loads(ours),
        "load origin": measured_on([ours["load"]] if "load" in ours else []),
        "origin": measured_on(
            [*(ours[name] for name in (*SHOWN_SECTIONS, *OWN_TABLES) if name in ours), *peers.values()]
        ),
    }
    for name, text in parts.items():
        begin, end = f"<!-- results: {name} -->", "<!-- end -->"
        pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        page = pattern.sub(lambda _, made=f"{begin}\n{text}{end}": made, page)  # type: ignore[misc]
    return page
