"""Folders that nobody named are made; if one can not be, the message says so."""

from pathlib import Path

import pytest

from stretto.cli.database import Refused, place_of, prepare
from stretto.config.contexts import Context, Contexts, read_contexts, write_contexts
from stretto.config.folders import Surroundings, surroundings
from stretto.store.sqlite.address import path_of


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That of a new user, on a system that sets nothing else."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "STRETTO_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def prepared() -> Path:
    place = place_of(None, (), None, local=False)
    prepare(place)
    return path_of(place.url)


def test_the_folder_of_the_server_s_database_is_made(home: Path) -> None:
    assert prepared() == home / ".local/share/stretto/stretto.db"
    assert (home / ".local/share/stretto").is_dir()
    assert prepared().parent.is_dir()  # also if it is there
    assert list((home / ".local/share/stretto").iterdir()) == []


@pytest.mark.parametrize("said", ["", "data", "./data"])
def test_a_relative_folder_for_data_is_ignored(
    home: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", said)
    assert prepared().parent == home / ".local/share/stretto"
    assert prepared().parent.is_dir()


def test_an_absolute_folder_for_data_is_made(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(home.parent / "deep" / "data"))
    assert prepared().parent == home.parent / "deep/data/stretto"
    assert prepared().parent.is_dir()


def test_a_folder_that_can_not_be_made_is_named_with_the_way_out(home: Path) -> None:
    home.write_text("a file, where a folder should be")
    with pytest.raises(Refused) as refused:
        prepared()
    assert f"the folder {home}/.local/share/stretto for the database can not be made: Not a directory" in str(
        refused.value.message
    )
    assert "--db sqlite:///PATH" in refused.value.message


def test_a_database_that_somebody_named_is_not_guessed_at(home: Path) -> None:
    prepare(place_of(None, (), f"sqlite:///{home}/mine/work.db", local=False))
    assert not home.exists()


def test_the_folder_of_the_current_folder_is_kept_out_of_version_control(home: Path) -> None:
    prepare(place_of(None, (), None))
    assert (home.parent / ".stretto/.gitignore").read_text() == "*\n"


def test_contexts_make_their_folder_and_say_if_they_can_not(home: Path) -> None:
    contexts = Contexts(by_name={"here": Context(server="http://127.0.0.1:8080")})
    assert write_contexts(surroundings(), contexts) == home / ".config/stretto/contexts.toml"
    assert read_contexts(surroundings()) == contexts
    around = Surroundings(environ={}, home=home / ".config/stretto/contexts.toml")
    with pytest.raises(Exception, match=r"can not be written: Not a directory"):
        write_contexts(around, contexts)
