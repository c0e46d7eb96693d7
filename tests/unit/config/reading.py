"""Settings from given sources, with nothing of this machine."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from stretto.config import Flag, InvalidConfig, Loaded, SettingProblem, Surroundings, load
from stretto.config.given import SET


def around(folder: Path, environ: Mapping[str, str] | None = None) -> Surroundings:
    """A user whose home is the folder `home` inside of the current one."""
    return Surroundings(environ=environ or {}, folder=folder, home=folder / "home")


def loaded(
    folder: Path,
    text: str | bytes | None = None,
    *,
    name: str = "stretto.toml",
    environ: Mapping[str, str] | None = None,
    sets: Sequence[str] = (),
) -> Loaded:
    if text is not None:
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(around(folder, environ), flags=[Flag(SET, each) for each in sets])


def problems(
    folder: Path,
    text: str | bytes | None = None,
    *,
    name: str = "stretto.toml",
    environ: Mapping[str, str] | None = None,
    sets: Sequence[str] = (),
) -> tuple[SettingProblem, ...]:
    with pytest.raises(InvalidConfig) as refused:
        loaded(folder, text, name=name, environ=environ, sets=sets)
    return refused.value.problems


def said(found: Sequence[SettingProblem], folder: Path) -> list[str]:
    """As texts, without the folder that differs from run to run."""
    return [str(each).replace(f"{folder}/", "") for each in found]
