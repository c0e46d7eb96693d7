"""Scenarios that a Maestro server answered, sent to a real server: no answer differs without a reason.

The comparer is run in place. It judges each difference; one that it calls wrong, or does not know, fails.
Nothing is left out but the day of the recording (`live_comparison`). The scenarios are divided among a few
tests, so that several processes share the time that they wait.
"""

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from tests.acceptance.serving import Serving
from tests.api.databases import database_url
from tests.conformance import live_comparison
from tests.conformance.corpus import corpus
from tests.conformance.live_comparison import by_more_than_the_day, recorded_days, today

FOLDER = corpus("maestro-live", "compare.py").parent
PARTS = (
    "time/",  # waits up to two minutes for a cron trigger: first, so that the others run meanwhile
    "action/|def/|while/",
    "foreach/|param/|permit/",
    "run/|sample/",
    "signal/|strategy/|sub/|wrong/",
)
DATABASES = ("sqlite", "postgresql", "mariadb") if os.environ.get("CI") == "true" else ("sqlite",)
WITHIN = 280  # seconds


def compared(url: str, part: str) -> subprocess.CompletedProcess[str]:
    slow = {"SLOW": os.environ.get("SLOW", "3"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, live_comparison.__file__, url, "--only", f"^(?:{part})"]
    return subprocess.run(  # noqa: S603 - our own interpreter, a corpus of ours
        command,
        cwd=FOLDER,
        env={**os.environ, **slow},
        capture_output=True,
        text=True,
        timeout=WITHIN,
        check=False,
    )


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return database_url(request, tmp_path)


@pytest.mark.parametrize("part", PARTS)
def test_no_answer_differs_without_a_reason(database: str, part: str, tmp_path: Path) -> None:
    with Serving(folder=tmp_path, database=database) as server:
        found = compared(server.url, part)
    assert found.returncode == 0, found.stdout + found.stderr
    assert " same of 0 answers" not in found.stdout


def test_every_scenario_is_in_one_part() -> None:
    listed = subprocess.run(
        [sys.executable, "-c", "import scenarios; print(*scenarios.ALL, sep='\\n')"],
        cwd=FOLDER,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    prefixes = [each for part in PARTS for each in part.split("|")]
    for name in listed.stdout.split():
        assert sum(name.startswith(each) for each in prefixes) == 1, name


# ------------------------------------------------------------------------------------------- the calendar day
def test_the_recording_was_made_on_one_day() -> None:
    (day,) = recorded_days(json.loads((FOLDER / "recorded.json").read_text()))
    assert f"{datetime.strptime(day, '%Y%m%d'):%Y%m%d}" == day <= today()  # noqa: DTZ007 - it has no time


@pytest.mark.parametrize(
    ("kind", "recorded", "ours", "stays"),
    [
        ("value", "20251103", today(), False),
        ("value", "20251103", "20251102", True),  # neither day
        ("value", "20251103", f"{today()}01", True),
        ("value", "20251101", today(), True),  # not the day of the recording
        ("value", 20251103, today(), True),
        ("value", ["20251103"], today(), True),
        ("missing", "20251103", None, True),
        ("extra", None, today(), True),
    ],
)
def test_only_the_day_of_the_recording_may_be_the_day_of_the_test(
    kind: str, recorded: object, ours: object, stays: bool
) -> None:
    found = (".a.b", kind, recorded, ours)
    compare = by_more_than_the_day(lambda *_: iter([found]), {"20251103"}, set())
    assert list(compare(None, None)) == ([found] if stays else [])


def test_a_day_is_that_of_the_recording_only_where_the_definition_reads_it() -> None:
    def dependency(**values: str) -> dict[str, object]:
        return {"match_params": {name: {"param": {"value": value}} for name, value in values.items()}}

    shown = {"match_params": {"day": {"value": "20251103"}, "fixed": {"value": "20200101"}}}
    defined = [dependency(day="${DERIVED_RUN_DATE_UTC}", fixed="20200101"), {}]
    step = {
        "definition": {"step": {"signal_dependencies": defined}},
        "signal_dependencies": {"dependencies": [shown, {}]},
    }
    assert recorded_days({"calls": [{"body": [step, {"definition": {"step": {}}}, None]}]}) == {"20251103"}
