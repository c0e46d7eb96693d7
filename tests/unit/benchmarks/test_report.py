"""Figures of measurements, and what the documentation makes of them."""

from typing import Any
from xml.etree import ElementTree as ET

import pytest
from benchmarks.harness import results
from benchmarks.harness.shares import shares
from benchmarks.harness.targets import over_peer, rate_target
from benchmarks.harness.workloads import W1, W2, W3, W6, Measured, measured, percentile
from benchmarks.ours.shapes import dealt
from benchmarks.peers.turns import ratio
from benchmarks.report.bars import Bar, bars_of, svg
from benchmarks.report.page import PAGES, PLOT, filled
from benchmarks.report.tables import (
    gathers,
    lags,
    loads,
    number,
    origin,
    others,
    permits,
    profile,
    rates,
    ratios,
)
from benchmarks.row import Row

ABOUT = {
    "commit": "abc1234",
    "changed": False,
    "date": "2026-01-02 03:04 UTC",
    "python": "3.11.7",
    "libraries": {"sqlite": "3.45"},
    "cpu": "fast",
    "cores": 2,
    "system": "Linux 6",
    "load": 1.5,
}


RANKS = {"p50": 2.0, "p99": 9.0, "max": 1_000.0}


def ours(*rows: Row) -> dict[str, Any]:
    return {"speed": {"about": ABOUT, "rows": results.as_json(rows)}}


def peer(title: str, figure: float, our: float, *, durable: bool = True, size: int = 1_000) -> dict[str, Any]:
    def found(value: float) -> dict[str, Any]:
        return Measured("W2", size, value, 1.0)._asdict()

    row = {
        "workload": "W2",
        "size": size,
        "unit": "steps/s",
        "peer": found(figure),
        "async": found(our),
        "noop": found(2 * our),
        "ratio": {"async": our / figure, "noop": 2 * our / figure},
    }
    return {
        "title": title,
        "version": "1",
        "durable": durable,
        "beside": "sqlite",
        "rows": [row],
        "about": ABOUT,
    }


# ------------------------------------------------------------------------------------------------- figures
def test_a_chain_is_measured_by_its_step_and_all_else_by_its_rate() -> None:
    assert W1.figure(0.5, 100) == 5.0
    assert W2.figure(0.5, 100) == 200.0
    assert W3.figure(0.5, 100) == 1_000.0  # each run has five steps


@pytest.mark.parametrize(
    ("values", "rank", "found"), [([3, 1, 2], 50, 2), (range(1, 201), 99, 198), ([7.0], 99, 7.0)]
)
def test_percentiles_are_values_that_occurred(values: Any, rank: int, found: float) -> None:
    assert percentile(list(values), rank) == found


def test_the_middle_round_counts() -> None:
    answers = [{"seconds": each, "late": [each, 2 * each], "cpu": each} for each in (1.0, 9.0, 2.0)]
    found = measured(W3, 10, answers)
    assert found == Measured("W3", 10, figure=25.0, cpu=40_000.0, p50=2.0, p99=4.0)
    assert measured(W6, 2, answers).figure is None


def test_runs_are_dealt_to_as_many_workflows_as_they_need() -> None:
    assert dealt(200) == [200]
    assert dealt(2_000) == [1_000, 1_000]
    assert dealt(1_001) == [1_000, 1]


def test_a_ratio_is_above_one_where_we_are_better() -> None:
    assert ratio(W1, Measured("W1", 1, 2.0, 0), Measured("W1", 1, 6.0, 0)) == 3.0
    assert ratio(W2, Measured("W2", 1, 6.0, 0), Measured("W2", 1, 2.0, 0)) == 3.0
    assert ratio(
        W6, Measured("W6", 1, None, 0, 0.1, 0.2), Measured("W6", 1, None, 0, 0.3, 0.4)
    ) == pytest.approx(3)


def test_targets() -> None:
    assert rate_target("noop", "sqlite", "W2") == 12_000
    assert rate_target("sync", "sqlite", "W2") is None
    assert [over_peer(name, durable=True) for name in ("W1", "W2")] == [1, 20]
    assert over_peer("W2", durable=False) == 1


@pytest.mark.parametrize(("unit", "hit"), [("steps/s", True), ("times one", True), ("ms/step", False)])
def test_more_is_better_or_less(unit: str, hit: bool) -> None:
    assert Row("", 2, unit, 1, 0).hit is hit


# -------------------------------------------------------------------------------------------------- tables
def test_a_missed_target_is_called_so() -> None:
    made = rates(
        ours(
            Row("", 13_000.0, "steps/s", 12_000, 0, key="W2/noop/sqlite"),
            Row("", 70.0, "steps/s", 5_000, 0, key="W2/async/sqlite"),
        )
    )
    (line,) = [each for each in made.splitlines() if each.startswith("| W2")]
    assert line.endswith("| 13,000 (12,000) | - | 70 (5,000, missed) | - |")


def test_other_figures_are_shown_if_they_have_a_target() -> None:
    rows = ours(Row("hello", 0.5, "s", 0.6, 0, key="hello"), Row("cpu", 9, "us", None, 0, key="cpu"))
    assert others(rows).splitlines()[2:] == ["| hello | 0.5 s | (0.6) |"]


def test_cases_of_load_are_lines_of_a_table() -> None:
    rows = [
        Row("", 200.0, "starts/s", None, 0, key="load/many/starts"),
        Row("", 1.3, "times", 1.2, 0, key="load/many/factor"),
        *(Row("", value, "ms", None, 0, key=f"load/many/{rank}") for rank, value in RANKS.items()),
        Row("", 60.0, "MB", None, 0, key="load/attack/before"),
        Row("", 70.0, "MB", None, 0, key="load/attack/peak"),
    ]
    assert loads({"load": ours(*rows)["speed"]}).splitlines()[2:] == [
        "| many | 200 | 1.3 (1.2, missed) | 2 / 9 / 1,000 | - / - |",
        "| attack | - | - | - / - / - | 60 / 70 |",
    ]
    assert len(loads({}).splitlines()) == 2


def test_limits_are_shown_beside_their_workload() -> None:
    alone, shared = "permits/async/sqlite/W1/1", "permits/noop/postgresql/W2/8"
    rows = [
        Row("", 50.0, "ms", None, 0, key=alone),
        Row("", 1.2, "times plain", 1.3, 0, key=f"{alone}/workflow"),
        Row("", 1.5, "times plain", 1.3, 0, key=f"{alone}/tag"),
        Row("", 80.0, "ms", None, 0, key=shared),
        Row("", 1.9, "times plain", 2.0, 0, key=f"{shared}/tag"),
    ]
    assert permits({"permits": ours(*rows)["speed"]}).splitlines()[2:] == [
        "| W1; functions, SQLite | 50 | 1.2 (1.3) | - | - | 1.5 (1.3, missed) |",
        "| W2, 8 runs at once; NoOp, PostgreSQL | 80 | - | - | - | 1.9 (2) |",
    ]


def test_large_runs_are_shown_with_how_they_grow() -> None:
    rows = [
        Row("", 90.0, "ms", 500, 0, key="lag/one step/sqlite"),
        Row("", 60.0, "ms", 50, 0, key="lag/one step/sqlite/held"),
        Row("", 9.0, "times", 11, 0, key="lag/one step/sqlite/growth"),
        Row("", 10.0, "ms", 500, 0, key="lag/loop/sqlite"),
    ]
    assert lags({"lag": ours(*rows)["speed"]}).splitlines()[2:] == [
        "| one step; SQLite | 90 (500) | 60 (50, missed) | 9 (11) |",
        "| loop; SQLite | 10 (500) | - | - |",
    ]


def test_what_is_gathered_is_shown_with_how_it_grows() -> None:
    rows = [
        Row("", 3_000.0, "items/s", None, 0, key="gather/memory"),
        Row("", 12.0, "times", 11, 0, key="gather/memory/growth"),
    ]
    assert gathers({"gather": ours(*rows)["speed"]}).splitlines()[2:] == [
        "| in memory | 3,000 | 12 (11, missed) |"
    ]


@pytest.mark.parametrize(("shown", "section"), [(permits, "permits"), (lags, "lag"), (gathers, "gather")])
def test_what_was_not_measured_says_how_to(shown: Any, section: str) -> None:
    assert shown({}).endswith(f"`make bench SECTION={section}` prints them.\n")


def test_parts_of_a_profile_are_columns_of_a_table() -> None:
    found = {
        "W2/noop": 9.0,
        "W2/noop/node": 3.0,
        "W2/noop/threads": 6.0,
        "W4/async": 1.0,
        "W4/async/node": 1.0,
    }
    rows = [Row("", value, "us", None, 0, key=f"profile/{key}") for key, value in found.items()]
    assert profile({"profile": ours(*rows)["speed"]}).splitlines() == [
        "| us | W2 NoOp | W4 functions |",
        "| --- | --- | --- |",
        "| other threads: SQL, flushes | 6 | - |",
        "| node | 3 | 1 |",
        "| all | 9 | 1 |",
    ]
    assert profile({}).startswith("| us |")


def test_time_counts_for_the_part_that_asked_for_it() -> None:
    decide = ("/x/stretto/engine/decide.py", 1, "decide")
    sort, poll = ("~", 0, "<built-in method sorted>"), ("~", 0, "<method 'poll' of 'select.epoll' objects>")
    encode = ("~", 0, "<method 'encode' of 'msgspec.json.Encoder' objects>")
    stats: Any = {
        decide: (1, 1, 5.0, 9.0, {}),
        sort: (1, 1, 1.0, 1.0, {decide: (1, 1, 1.0, 1.0)}),
        encode: (1, 1, 4.0, 4.0, {decide: (1, 1, 4.0, 4.0)}),
        poll: (1, 1, 100.0, 100.0, {}),
    }
    assert shares(stats) == {"deciding": 0.6, "encoding": 0.4}


def test_peers_are_judged_by_what_they_keep() -> None:
    made = ratios(
        {
            "a": peer("A", 10, 150),
            "b": peer("B", 10, 150, durable=False),
            "c": {"title": "C", "rows": [], "trouble": "it does not start"},
            "d": {**peer("D", 10, 300), "trouble": "it has ended"},
        }
    )
    assert made.splitlines()[2:] == [
        "| A (1) | - | 15 / 30 | - | - | - | missed: W2 |",
        "| B (1) | - | 15 / 30 | - | - | - | met |",
        "| C | - | - | - | - | - | could not be measured |",
        "| D (1) | - | 30 / 60 | - | - | - | met; it broke off |",
    ]


def test_numbers_are_as_exact_as_they_deserve() -> None:
    assert [number(each) for each in (None, 0.0512, 7.66, 99.4, 1234.5)] == [
        "-",
        "0.051",
        "7.7",
        "99",
        "1,234",
    ]


def test_figures_say_where_they_come_from() -> None:
    assert origin({**ABOUT, "changed": True}).startswith(
        "commit abc1234 with changes, 2026-01-02, Python 3.11.7"
    )


# ---------------------------------------------------------------------------------------------------- plot
def test_the_best_bar_is_first_and_ours_is_of_the_same_run() -> None:
    alone = ours(Row("", 5.0, "steps/s", None, 0, key="W2/async/sqlite"))
    peers = {"a": peer("A", 500, 300), "b": peer("B", 10, 100), "cut": peer("Cut", 20, 1, size=5)}
    assert bars_of(W2, alone, peers) == [
        Bar("A", 500, "durable"),
        Bar("Stretto NoOp, SQLite", 400, "noop"),
        Bar("Stretto functions, SQLite", 200, "async"),
        Bar("Cut", 20, "durable"),
        Bar("B", 10, "durable"),
    ]
    assert bars_of(W2, alone, {}) == [Bar("Stretto functions, SQLite", 5.0, "async")]


def test_the_plot_can_be_drawn() -> None:
    drawn = ET.fromstring(svg({}, {"a": peer("A & B", 10, 150)}))  # noqa: S314 - of our own making
    texts = {each.text for each in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert {"A & B", "Stretto functions, SQLite", "10", "150", "300"} <= texts


# ---------------------------------------------------------------------------------------------------- page
def test_only_what_stands_between_markers_is_written() -> None:
    page = "a\n<!-- results: origin -->\nold\n<!-- end -->\nz\n"
    made = filled(page, ours(), {})
    assert made == f"a\n<!-- results: origin -->\n- {origin(ABOUT)}; load 1.5 to 1.5\n<!-- end -->\nz\n"
    assert filled(made, ours(), {}) == made


def test_the_pages_and_the_plot_are_those_of_the_results() -> None:
    kept = results.read(results.OURS), results.read(results.PEERS)
    for each in PAGES:
        page = each.read_text(encoding="utf-8")
        assert page == filled(page, *kept), "write them again: python -m benchmarks.report"
    assert PLOT.read_text(encoding="utf-8") == svg(*kept)
