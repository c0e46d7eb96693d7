"""What is in the wheel: the package and its data, and nothing that only the repository needs."""

import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = ["-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "--quiet"]
    subprocess.run(  # noqa: S603 - our own build
        [sys.executable, *build, "--wheel-dir", str(folder), str(ROOT)], check=True, capture_output=True
    )
    [made] = folder.glob("*.whl")
    return made


def packed(wheel: Path) -> set[str]:
    return {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}


def test_every_module_and_its_data_are_in_it(wheel: Path) -> None:
    files = [path for path in (SRC / "stretto").rglob("*") if path.is_file()]
    wanted = {str(path.relative_to(SRC)) for path in files if "__pycache__" not in path.parts}
    assert packed(wheel) == wanted
    assert {"stretto/py.typed", "stretto/sel/syntax/tables.json"} <= wanted


def test_the_suites_for_authors_of_plug_ins_are_in_it_and_the_simulator_is_not(wheel: Path) -> None:
    found = packed(wheel)
    suites = {"harness.py", "clock.py", "faults.py", "plugin.py", "store_suite/__init__.py"}
    assert {f"stretto/testing/{name}" for name in suites} <= found
    assert not [name for name in found if "simulation" in name]
    assert {name.partition("/")[0] for name in found} == {"stretto"}


def test_it_stands_without_the_repository(wheel: Path, tmp_path: Path) -> None:
    """Everything that it says is there can be imported from it; what tests it needs is there, too."""
    ZipFile(wheel).extractall(tmp_path)
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert scripts["entry-points"]["pytest11"] == {"stretto": "stretto.testing.plugin"}
    names = ("harness", "store_suite", "plugin")
    modules = ", ".join((*(f"stretto.testing.{name}" for name in names), "stretto.server.lifecycle"))
    asked = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}]; import {modules}, stretto.cli.main;"
        "print(stretto.__file__, 'simulation' in sys.modules)"
    )
    ended = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == [str(tmp_path / "stretto/__init__.py"), "False"]
