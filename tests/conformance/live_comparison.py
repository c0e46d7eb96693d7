"""Runs the comparer of the folder that it is started in, and leaves out what differs by the day alone.

    python live_comparison.py BASE_URL --only REGEX

The comparer hides the clock: it compares no times, and no parameters of a run that are made of them. But a
step may read such a parameter: `${DERIVED_RUN_DATE_UTC}` of a signal dependency is the day of the recording
in one answer, and the day of the test in the other. A difference between exactly these two days is none;
every other difference stays.
"""

import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

DAY = "${DERIVED_RUN_DATE_UTC}"

Difference = tuple[str, str, Any, Any]
Compare = Callable[[Any, Any], Iterator[Difference]]


def today() -> str:
    return f"{datetime.now(UTC):%Y%m%d}"  # noqa: TID251 - the server under test has the machine's clock


def recorded_days(value: Any) -> set[str]:
    """The days of the recording: what recorded steps show where their definitions read the day of the run."""
    if isinstance(value, list):
        return {day for each in value for day in recorded_days(each)}
    if not isinstance(value, dict):
        return set()
    found = {day for each in value.values() for day in recorded_days(each)}
    defined = value.get("definition", {}).get("step", {}).get("signal_dependencies") or ()
    shown = (value.get("signal_dependencies") or {}).get("dependencies", ()) if defined else ()
    for one, two in zip(defined, shown, strict=False):
        given, params = one.get("match_params", {}), two.get("match_params", {})
        found |= {params[name]["value"] for name in given if given[name]["param"].get("value") == DAY}
    return found


def by_more_than_the_day(compare: Compare, recorded: set[str], tested: set[str]) -> Compare:
    """The same comparison without the differences between a day of the recording and one of the test."""

    def compared(theirs: Any, ours: Any) -> Iterator[Difference]:
        days = tested | {today()}  # the scenarios may have run past midnight
        for path, kind, one, two in compare(theirs, ours):
            texts = kind == "value" and isinstance(one, str) and isinstance(two, str)
            if not (texts and one in recorded and two in days):
                yield path, kind, one, two

    return compared


def main() -> None:
    sys.path.insert(0, str(Path.cwd()))
    comparer: Any = import_module("compare")
    recorded = recorded_days(comparer.recorded())
    comparer.compare_call = by_more_than_the_day(comparer.compare_call, recorded, {today()})
    comparer.main()


if __name__ == "__main__":
    main()
