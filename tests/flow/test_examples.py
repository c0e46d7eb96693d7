"""The examples of the repository run, print what they promise, and mean the same in virtual time."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.flow.playing import play

from stretto.definition import parse
from stretto.flow import Flow

EXAMPLES = Path(__file__).parents[2] / "examples"
PRINTED = {
    "hello": "HELLO, ANN!\n",
    "etl": "2026-11-15: 42.0 (3 sales, the best is pot)\n",
    "map": "66 rows in all, [[6, 5], [12, 10], [18, 15]] by day and table\n",
    "branches": (
        "events copied in parts into the lake\n"
        "log copied at once, but where is attic?\n"
        "nobody may read secret into the lake\n"
    ),
    "while": "looking, 0\nlooking, 1\nlooking, 2\nfetching after 2\nfound after 3 looks\n",
    "saga": (
        "paid 200\n"
        "cancelled 3 nights in Rome\n"
        "cancelled flight to Rome\n"
        "run journey/2 ended FAILED: step `pay` FATALLY_FAILED: ValueError: 200 is more than 10\n"
    ),
}


def flows_of(name: str) -> list[Flow[..., Any]]:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return [each for each in vars(made).values() if isinstance(each, Flow)]


@pytest.mark.parametrize("name", PRINTED)
def test_it_prints_what_it_promises(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=110)  # noqa: S603
    assert (done.stdout, done.returncode) == (PRINTED[name], 0), done.stderr


@pytest.mark.parametrize(
    "name", [each for each in PRINTED if each != "etl"]
)  # which has a step that is async
def test_it_runs_in_virtual_time(name: str) -> None:
    (flow,) = flows_of(name)
    assert play(flow).status == "SUCCEEDED"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_the_printed_definition_is_the_same(path: Path) -> None:
    (flow,) = flows_of(path.stem)
    assert parse(flow.to_yaml()) == flow.definition


def test_there_is_an_example_of_everything() -> None:
    assert set(PRINTED) <= {path.stem for path in EXAMPLES.glob("*.py")}
