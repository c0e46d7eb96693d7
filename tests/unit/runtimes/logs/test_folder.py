"""Where the output of steps is kept."""

from pathlib import Path

import pytest

from stretto.runtimes.logs.folder import fingerprint_of, folder_of
from stretto.runtimes.settings import RuntimeSettings

DATA = Path("/home/ann/.local/share/stretto")
DEFAULT = RuntimeSettings()


def test_beside_a_file() -> None:
    assert folder_of("sqlite:////x/work.db", DEFAULT, DATA) == Path("/x/work.logs")
    assert folder_of("sqlite:////x/work.sqlite", DEFAULT, DATA) == Path("/x/work.sqlite.logs")
    assert folder_of("sqlite:///x/work.db", DEFAULT, DATA) == Path("x/work.logs").absolute()
    assert folder_of("sqlite:///~/jobs.db", DEFAULT, DATA) == Path.home() / "jobs.logs"


def test_in_memory_nothing_is_kept() -> None:
    assert folder_of("memory://", DEFAULT, DATA) is None


@pytest.mark.parametrize("url", ["memory://", "sqlite:////x/work.db", "postgresql://h/d"])
def test_where_the_settings_say(url: str) -> None:
    assert folder_of(url, RuntimeSettings(logs="/var/log/steps"), DATA) == Path("/var/log/steps")
    assert folder_of(url, RuntimeSettings(logs="out"), DATA) == Path("out").absolute()


def test_of_a_server_by_its_address_without_who_asks() -> None:
    one = folder_of("postgresql://ann:secret@db.example:5432/work", DEFAULT, DATA)
    assert one is not None
    assert one.parent == DATA / "logs"
    assert len(one.name) == 12
    for same in (
        "postgresql://bob:other@db.example:5432/work",
        "postgresql+asyncpg://DB.example:5432/work",
        "postgresql://db.example:5432/work?sslmode=require",
    ):
        assert folder_of(same, DEFAULT, DATA) == one
    others = {
        folder_of(url, DEFAULT, DATA)
        for url in (
            "postgresql://db.example:5432/other",
            "postgresql://db.example:5433/work",
            "postgresql://db2.example:5432/work",
            "mariadb://db.example:5432/work",
            "postgresql:///work?host=/run/postgresql",
            "postgresql:///work?host=/tmp",
        )
    }
    assert len(others | {one}) == 7


def test_a_fingerprint_is_that_of_the_database() -> None:
    same = {fingerprint_of(url) for url in ("sqlite:///work.db", f"sqlite:///{Path('work.db').absolute()}")}
    assert len(same) == 1
    assert fingerprint_of("sqlite:///other.db") not in same
    assert fingerprint_of("postgresql://ann:x@host/db") == fingerprint_of("postgresql+psycopg://bob@host/db")
