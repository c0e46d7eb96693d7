"""CI runs failed tests once more, alone, and names those that pass then."""

from pathlib import Path

import pytest
from scripts.ci_tests import refusal, run_tests

FLAKY = """
from pathlib import Path

def test_flaky():
    mark = Path(__file__).with_suffix(".mark")
    first = not mark.exists()
    mark.touch()
    assert not first

def test_sound():
    pass
"""
BROKEN = "def test_broken(): assert False\n"


ARGUMENTS = ["-q", "-n", "0", "-p", "tests.conftest"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own to run pytest in, apart from the tests around it."""
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_test_that_passes_when_it_runs_again_is_flaky(folder: Path) -> None:
    (folder / "test_sample.py").write_text(FLAKY)
    assert run_tests(ARGUMENTS, ()) == (0, ["test_sample.py::test_flaky"])


def test_a_test_that_fails_again_fails_the_run(folder: Path) -> None:
    (folder / "test_sample.py").write_text(BROKEN)
    assert run_tests(ARGUMENTS, ()) == (1, [])


@pytest.mark.parametrize(
    ("failed", "reason"),
    [
        ([], "no test did"),
        (["a", "b", "c"], "at most 2"),
        (["a", "b"], "b was flaky before"),
    ],
)
def test_what_is_not_run_again(failed: list[str], reason: str) -> None:
    assert reason in (refusal(failed, {"b"}, most=2) or "")


def test_few_new_failures_are_run_again() -> None:
    assert refusal(["a", "c"], {"b"}, most=2) is None
