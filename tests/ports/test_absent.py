"""Where a server is missing, its store is left out of the gate; nowhere else."""

import pytest
from tests.ports import absent, mariadb_server, postgresql_server
from tests.ports.postgresql_server import Missing


def gone(*_names: str) -> str:
    raise Missing("not installed")


def test_what_is_missing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    for module in (mariadb_server, postgresql_server):
        monkeypatch.setattr(module, "NAMED", None)
    monkeypatch.setattr(mariadb_server, "program", gone)
    monkeypatch.setattr(postgresql_server, "binaries", gone)
    assert absent.absent() == [*absent.MARIADB, *absent.POSTGRESQL]
    monkeypatch.setattr(mariadb_server, "NAMED", "mariadb://there/name")
    assert absent.absent() == [*absent.POSTGRESQL]
    monkeypatch.setenv("CI", "true")
    assert absent.absent() == []
