"""Opening a store by its address: what is made, what is refused, and with which way out."""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from scripts.schema.script import script

from stretto.model.errors import InvalidRequest, PreconditionFailed, StrettoError
from stretto.ports.places import GROUPS
from stretto.store import opening
from stretto.store.memory import MemoryStore
from stretto.store.opening import Backend, open_store
from stretto.store.settings import DatabaseSettings, Synchronous
from stretto.store.sql import migrations
from stretto.store.sql.migrations import MIGRATIONS, statements_since
from stretto.store.sql.version import HEAD, Standing, standing_of
from stretto.store.sqlite import network, upkeep
from stretto.store.sqlite import opening as sqlite_opening
from stretto.store.sqlite.network import file_system_of, refuse_network


def url_of(path: Path) -> str:
    return f"sqlite:///{path}"


def refused(url: str) -> StrettoError:
    with pytest.raises(StrettoError) as caught:
        asyncio.run(open_store(url))
    assert caught.value.hint
    return caught.value


def opened(url: str, settings: DatabaseSettings | None = None) -> int:
    """Open, look, close; how many groups it has."""

    async def run() -> int:
        store = await open_store(url, settings or DatabaseSettings())
        groups = await store.groups()
        await store.close()
        await store.close()
        return len(groups)

    return asyncio.run(run())


# ------------------------------------------------------------------------------------------------- addresses
def test_a_file_is_made_and_found_again(tmp_path: Path) -> None:
    url = url_of(tmp_path / "stretto.db")
    assert opened(url) == GROUPS
    assert opened(url) == GROUPS
    assert opened(url, DatabaseSettings(synchronous=Synchronous.RELAXED)) == GROUPS


def test_a_path_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert opened("sqlite:///here.db") == GROUPS
    assert (tmp_path / "here.db").exists()


@pytest.mark.parametrize("url", ["memory:", "memory://"])
def test_memory_has_no_name(url: str) -> None:
    async def run() -> None:
        store = await open_store(url)
        assert isinstance(store, MemoryStore)
        now = await store.now()
        clock = store._db._clock
        assert clock.steady() <= clock.steady()
        await clock.sleep_until(now)

    asyncio.run(run())


@pytest.mark.parametrize(
    "url",
    [
        "",
        "stretto.db",
        "sqlite",
        "oracle://x",
        "sqlite://",
        "sqlite:///",
        "sqlite:///x.db?mode=ro",
        "memory://x",
    ],
)
def test_a_wrong_address_says_what_is_right(url: str) -> None:
    assert isinstance(refused(url), InvalidRequest)


def test_a_missing_driver_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Backend("stretto.store.postgresql", "no_such_driver", "postgresql")
    monkeypatch.setitem(opening.BACKENDS, "postgresql", backend)
    error = refused("postgresql+no_such_driver://host/name")
    assert isinstance(error, PreconditionFailed)
    assert "no_such_driver" in error.message
    assert error.hint == "install Stretto with it, from a clone: pip install './stretto[postgresql]'"


# ---------------------------------------------------------------------------------------------------- places
def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    error = refused(url_of(tmp_path / "no" / "such" / "stretto.db"))
    assert error.hint == f"mkdir -p {tmp_path / 'no' / 'such'}"


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    assert "is a folder" in refused(url_of(tmp_path)).message


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes\n" * 100)
    error = refused(url_of(path))
    assert str(path) in error.message
    assert "not a database" in error.message
    assert path.read_text() == "these are my notes\n" * 100


def test_a_name_that_the_system_refuses_is_named(tmp_path: Path) -> None:
    assert "can not be opened" in refused(url_of(tmp_path / ("x" * 253))).message


def test_a_database_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER)")
    connection.close()
    assert "not those of Stretto" in refused(url_of(path)).message
    assert upkeep.check(url_of(path)) == (Standing.FOREIGN, None)


@pytest.mark.parametrize("work", [upkeep.check, upkeep.vacuum, upkeep.upgrade])
def test_what_is_no_database_is_refused_by_upkeep_too(tmp_path: Path, work: Callable[[str], object]) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are notes, and no database at all. " * 100, encoding="utf-8")
    with pytest.raises(PreconditionFailed, match="not a database") as caught:
        work(url_of(path))
    assert "another file" in (caught.value.hint or "")


def set_version(path: Path, number: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE stretto_version SET version_num = ?", (number,))
    connection.close()


def set_floor(path: Path, number: int) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO counter VALUES ('oldest_schema', ?)", (number,))
    connection.close()


@pytest.mark.parametrize("floor", [None, 1, int(HEAD)])
def test_a_newer_schema_that_still_serves_this_code_is_used(floor: int | None, tmp_path: Path) -> None:
    path = tmp_path / "stretto.db"
    opened(url_of(path))
    set_version(path, "9999")
    if floor is not None:
        set_floor(path, floor)
    assert opened(url_of(path)) == GROUPS
    upkeep.upgrade(url_of(path))
    assert upkeep.check(url_of(path)) == (Standing.NEWER, "9999")


def test_a_newer_schema_that_took_something_away_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "stretto.db"
    opened(url_of(path))
    set_version(path, "9999")
    set_floor(path, int(HEAD) + 1)
    error = refused(url_of(path))
    assert "9999" in error.message
    assert upkeep.check(url_of(path)) == (Standing.TOO_NEW, "9999")


def test_an_older_schema_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is none older than the first: the migrations are replaced by one that only notes its number."""
    path = tmp_path / "stretto.db"
    opened(url_of(path))
    set_version(path, "0000")
    assert upkeep.check(url_of(path)) == (Standing.TOO_OLD, "0000")
    monkeypatch.setattr(migrations, "statements_of", lambda _number, _database: [])
    assert opened(url_of(path)) == GROUPS
    assert upkeep.check(url_of(path)) == (Standing.CURRENT, HEAD)


@pytest.mark.parametrize("standing", [Standing.TOO_NEW, Standing.TOO_OLD, Standing.FOREIGN, Standing.EMPTY])
def test_each_standing_has_a_way_out(standing: Standing) -> None:
    error = standing.refusal("there", "0000")
    assert "there" in error.message
    assert error.hint


def test_a_table_of_versions_without_a_version_is_empty() -> None:
    assert standing_of({"stretto_version"}, None) is Standing.EMPTY


def test_a_version_that_was_lost_is_no_reason_to_guess(tmp_path: Path) -> None:
    path = tmp_path / "stretto.db"
    opened(url_of(path))
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM stretto_version")
    connection.close()
    assert "not those of Stretto" in refused(url_of(path)).message


def test_an_old_sqlite_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 26, 0))
    assert "too old" in refused(url_of(tmp_path / "stretto.db")).message


# --------------------------------------------------------------------------------------------------- network
MOUNTS = """\
22 28 0:21 / /proc rw - proc proc rw
28 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
40 28 0:40 / /mnt/team\\040share rw - nfs4 server:/export rw
41 28 0:41 / /mnt/team rw - cifs //server/team rw
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/ana", "ext4"),
        ("/mnt/team share/data", "nfs4"),
        ("/mnt/team", "cifs"),
        ("/mnt/teams", "ext4"),
        ("/proc/1", "proc"),
    ],
)
def test_the_file_system_of_a_folder(folder: str, kind: str) -> None:
    assert file_system_of(Path(folder), MOUNTS) == kind


def test_a_network_file_system_is_refused(tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    refuse_network(Path("/home/ana"), mounts)
    with pytest.raises(PreconditionFailed, match="nfs4"):
        refuse_network(Path("/mnt/team share"), mounts)
    refuse_network(Path("/mnt/team share"), tmp_path / "a system that does not say")


def test_opening_looks_at_the_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "NETWORK", {file_system_of(tmp_path.resolve(), network.MOUNTS.read_text())})
    assert "network file system" in refused(url_of(tmp_path / "stretto.db")).message


# ---------------------------------------------------------------------------------------------------- upkeep
def test_upkeep_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "stretto.db"
    assert upkeep.check(url_of(path)) == (Standing.EMPTY, None)
    assert not path.exists()
    upkeep.upgrade(url_of(path))
    upkeep.upgrade(url_of(path))
    assert upkeep.check(url_of(path)) == (Standing.CURRENT, HEAD)
    assert opened(url_of(path)) == GROUPS


def test_vacuum_gives_room_back(tmp_path: Path) -> None:
    path = tmp_path / "stretto.db"
    upkeep.upgrade(url_of(path))
    with sqlite3.connect(path) as connection:
        row = ("x" * 100, "y" * 1_000_000)
        connection.execute("INSERT INTO job_template (job_type, version, doc) VALUES (?, 'v', ?)", row)
        connection.commit()
        connection.execute("DELETE FROM job_template")
    connection.close()
    before = path.stat().st_size
    upkeep.vacuum(url_of(path))
    assert path.stat().st_size < before - 900_000


# ------------------------------------------------------------------------------------------------- migrations
def schema_of(path: Path) -> list[tuple[str, str]]:
    connection = sqlite3.connect(path)
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
    ).fetchall()
    connection.close()
    return [(name, " ".join(sql.split())) for name, sql in rows]


def migrate(path: Path) -> None:
    """Run every migration, as on a database that has none."""
    connection = sqlite3.connect(path)
    connection.executescript(";\n".join(statements_since(None, "sqlite")))
    connection.close()


def test_migrations_make_what_a_new_file_is_made_of(tmp_path: Path) -> None:
    fresh, migrated = tmp_path / "fresh.db", tmp_path / "migrated.db"
    opened(url_of(fresh))
    migrate(migrated)
    assert schema_of(migrated) == schema_of(fresh)
    assert opened(url_of(migrated)) == GROUPS


def test_migrations_make_what_the_tables_say(tmp_path: Path) -> None:
    migrated, said = tmp_path / "migrated.db", tmp_path / "said.db"
    migrate(migrated)
    connection = sqlite3.connect(said)
    connection.executescript(script("sqlite", stamped=True))
    connection.close()
    assert schema_of(migrated) == schema_of(said)


def test_the_newest_migration_is_the_one_that_the_code_needs() -> None:
    numbers = [each.number for each in MIGRATIONS]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == HEAD


def broken(_path: Path) -> None:
    raise OSError("no")


def test_who_fails_to_open_lets_go_of_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare: Callable[[Path], None] = sqlite_opening.prepare
    monkeypatch.setattr(sqlite_opening, "prepare", broken)
    with pytest.raises(OSError, match="no"):
        opened(url_of(tmp_path / "stretto.db"))
    monkeypatch.setattr(sqlite_opening, "prepare", prepare)
    assert opened(url_of(tmp_path / "stretto.db")) == GROUPS
