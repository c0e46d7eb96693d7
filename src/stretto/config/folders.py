"""Where a platform keeps what belongs to a user, and where a database is by default."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

APP: Final = "stretto"
DATABASE: Final = "stretto.db"


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """All that reading settings may know of the process and its machine."""

    environ: Mapping[str, str]
    folder: Path = Path()  # the current one
    home: Path | None = None
    platform: str = "linux"


def surroundings() -> Surroundings:
    """Those of this process."""
    home = None
    with suppress(RuntimeError):  # a user without a home
        home = Path.home()
    return Surroundings(environ=os.environ, home=home, platform=sys.platform)


def config_folder(around: Surroundings) -> Path | None:
    """The user's folder for settings; None if there is no user to speak of."""
    return _folder(around, "XDG_CONFIG_HOME", ".config", "APPDATA", "AppData/Roaming")


def data_folder(around: Surroundings) -> Path | None:
    """The user's folder for data."""
    return _folder(around, "XDG_DATA_HOME", ".local/share", "LOCALAPPDATA", "AppData/Local")


def _folder(around: Surroundings, xdg: str, unix: str, appdata: str, windows: str) -> Path | None:
    variable, below = (appdata, windows) if around.platform == "win32" else (xdg, unix)
    said = Path(around.environ.get(variable, ""))
    if around.platform != "darwin" and said.is_absolute():  # XDG says: a relative one is to be ignored
        return said / APP
    if around.home is None:
        return None
    return around.home / ("Library/Application Support" if around.platform == "darwin" else below) / APP


def server_database(around: Surroundings) -> str:
    """The address of a server's database, where nobody names one."""
    return _sqlite((data_folder(around) or around.folder.absolute()) / DATABASE)


def program_database(program: str) -> str:
    """The address of an embedded engine's database: beside the program, or in the current folder for one that
    is no file (a prompt, `python -c`).
    """
    path = Path(program).absolute()
    return _sqlite((path.parent if path.is_file() else Path().absolute()) / DATABASE)


def _sqlite(path: Path) -> str:
    return f"sqlite:///{path.as_posix()}"
