"""CI runs failed tests once more, alone, and names those that pass then."""

from pathlib import Path

import pytest
from scripts.ci_tests import main, refusal, run_tests

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
        (["tests/ports/test_x.py::test_y"], "tests/ports/test_x.py::test_y must never fail"),
        (["tests/unit/node/test_x.py::test_y"], "must never fail"),
        (["tests/simulation/test_x.py::test_y"], "must never fail"),
        (["tests/chaos/test_x.py::test_y"], "must never fail"),
    ],
)
def test_what_is_not_run_again(failed: list[str], reason: str) -> None:
    assert reason in (refusal(failed, {"b"}, most=2) or "")


def test_few_new_failures_are_run_again() -> None:
    assert refusal(["a", "c"], {"b"}, most=2) is None
    assert refusal(["tests/api/test_node.py::test_ports[node]"], ()) is None


def test_no_more_than_three_are_run_again() -> None:
    assert refusal(["a", "b", "c"], ()) is None
    assert "at most 3" in (refusal(["a", "b", "c", "d"], ()) or "")


def test_the_time_of_each_folder_is_told(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("api", "unit"):
        (folder / "tests" / name / "deep").mkdir(parents=True)
        (folder / "tests" / name / "deep" / f"test_{name}.py").write_text("def test_sound(): pass\n")
    assert run_tests(ARGUMENTS, ()) == (0, [])
    told = [line.split() for line in capfd.readouterr().out.splitlines() if line.startswith("tests/")]
    assert [(words[0], words[2:]) for words in told] == [
        ("tests/api:", ["s,", "1", "tests"]),
        ("tests/unit:", ["s,", "1", "tests"]),
    ]


def test_flaky_tests_are_the_last_lines(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "test_sample.py").write_text(FLAKY)
    (folder / "tests").mkdir()
    (folder / "tests" / "flaky.txt").write_text("# none\n")
    monkeypatch.setattr("sys.argv", ["ci_tests", *ARGUMENTS])
    monkeypatch.setenv("FLAKY_TESTS", str(folder / "flaky"))
    assert main() == 0
    assert capfd.readouterr().out.splitlines()[-1] == "flaky: test_sample.py::test_flaky"
    assert (folder / "flaky").read_text() == "flaky: test_sample.py::test_flaky\n"
    (folder / "test_sample.mark").unlink()
    (folder / "tests" / "flaky.txt").write_text("test_sample.py::test_flaky\n")
    assert main() == 1
