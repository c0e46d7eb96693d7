"""The entry point: lazy commands, quiet ends."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

import stretto
from stretto.cli.main import COMMANDS, cli, main


def test_help_lists_every_command_without_importing_it() -> None:
    code = (
        "import sys; from stretto.cli.main import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'stretto.definition', 'msgspec', 'yaml'} & sys.modules.keys()\n"
        "assert not heavy, heavy"
    )
    command = [sys.executable, "-c", code, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert (done.returncode, done.stderr) == (0, "")
    assert all(name in done.stdout and text in done.stdout for name, (_, text) in COMMANDS.items())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    assert CliRunner().invoke(cli, [name, "-h"]).exit_code == 0


def test_version_and_unknown_commands() -> None:
    assert CliRunner().invoke(cli, ["--version"]).output == f"stretto, version {stretto.__version__}\n"
    assert CliRunner().invoke(cli, ["valdiate"]).exit_code == 2


def test_main(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["stretto", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("stretto, version")


def test_the_package_can_be_run() -> None:
    command = [sys.executable, "-m", "stretto", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert (done.returncode, done.stdout) == (0, f"stretto, version {stretto.__version__}\n")
