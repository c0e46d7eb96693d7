"""Where settings and data of a user are, platform by platform."""

from pathlib import Path

import pytest

from stretto.config.folders import (
    Surroundings,
    config_folder,
    data_folder,
    program_database,
    server_database,
    surroundings,
)

HOME = Path("/home/me")


@pytest.mark.parametrize(
    ("platform", "environ", "config", "data"),
    [
        ("linux", {}, "/home/me/.config/stretto", "/home/me/.local/share/stretto"),
        ("freebsd14", {"APPDATA": "/no"}, "/home/me/.config/stretto", "/home/me/.local/share/stretto"),
        ("linux", {"XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d"}, "/c/stretto", "/d/stretto"),
        (
            "linux",
            {"XDG_CONFIG_HOME": "c", "XDG_DATA_HOME": ""},
            "/home/me/.config/stretto",
            "/home/me/.local/share/stretto",
        ),
        (
            "darwin",
            {"XDG_CONFIG_HOME": "/c"},
            "/home/me/Library/Application Support/stretto",
            "/home/me/Library/Application Support/stretto",
        ),
        ("win32", {"APPDATA": "/r", "LOCALAPPDATA": "/l"}, "/r/stretto", "/l/stretto"),
        ("win32", {}, "/home/me/AppData/Roaming/stretto", "/home/me/AppData/Local/stretto"),
    ],
)
def test_folders(platform: str, environ: dict[str, str], config: str, data: str) -> None:
    around = Surroundings(environ=environ, home=HOME, platform=platform)
    assert (config_folder(around), data_folder(around)) == (Path(config), Path(data))
    assert server_database(around) == f"sqlite:///{data}/stretto.db"


def test_a_user_without_a_home(tmp_path: Path) -> None:
    around = Surroundings(environ={}, folder=tmp_path)
    assert (config_folder(around), data_folder(around)) == (None, None)
    assert server_database(around) == f"sqlite:///{tmp_path.as_posix()}/stretto.db"


def test_an_embedded_engine_has_its_database_beside_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "main.py").touch()
    assert program_database("app/main.py") == f"sqlite:///{tmp_path.as_posix()}/app/stretto.db"
    assert program_database("") == program_database("-c") == f"sqlite:///{tmp_path.as_posix()}/stretto.db"


def test_those_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRETTO_NODE_TRUST", "9s")
    monkeypatch.setenv("HOME", "/home/somebody")
    found = surroundings()
    assert found.environ["STRETTO_NODE_TRUST"] == "9s"
    assert found.home == Path("/home/somebody")


def test_a_process_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("os.getuid", lambda: 4_000_000_000)  # a container runs as somebody nobody knows
    assert surroundings().home is None
