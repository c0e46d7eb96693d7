"""SQLite keeps the contract of the store ports."""

from pathlib import Path

import pytest

pytest.register_assert_rewrite("stretto.testing.store_suite")

from tests.ports.sqlite_bench import SqliteBench  # noqa: E402 - after the assertions are made readable

from stretto.store.settings import DatabaseSettings  # noqa: E402
from stretto.testing.store_suite import CHECKS, Check  # noqa: E402

WITH_RECORDS = ("breakpoints", "commits", "copies", "history", "loading", "phases", "queues", "retention")


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_the_contract(check: Check, tmp_path: Path) -> None:
    check.run(SqliteBench(tmp_path))


@pytest.mark.parametrize("check", [each for each in CHECKS if str(each).startswith(WITH_RECORDS)], ids=str)
def test_the_contract_with_large_documents(check: Check, tmp_path: Path) -> None:
    """Every document is too large for its row."""
    check.run(SqliteBench(tmp_path, DatabaseSettings(blob_from=1)))
