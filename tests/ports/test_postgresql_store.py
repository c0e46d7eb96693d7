"""PostgreSQL keeps the contract of the store ports."""

from collections.abc import Iterator

import pytest

pytest.register_assert_rewrite("stretto.testing.store_suite")

from tests.ports.fence_race import race  # noqa: E402
from tests.ports.postgresql_bench import PostgresBench, Schema  # noqa: E402

from stretto.testing.store_suite import CHECKS, Check  # noqa: E402 - after the assertions are made readable


@pytest.fixture(scope="module")
def schema(postgresql_url: str) -> Iterator[Schema]:
    made = Schema(postgresql_url)
    yield made
    made.drop()


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_the_contract(check: Check, schema: Schema) -> None:
    schema.empty()
    check.run(PostgresBench(schema))


@pytest.mark.parametrize(
    "rounds", [100, pytest.param(1_000, marks=[pytest.mark.prove, pytest.mark.timeout(0)])]
)
def test_never_do_two_owners_write(rounds: int, schema: Schema) -> None:
    schema.empty()
    results = race(schema.url, rounds)
    assert len(results) == rounds
    assert [each for each in results if each.seen != each.stored] == []
    assert [each for each in results if each.left != sorted([*each.stored, "heir"])] == []
    assert sum(len(each.stored) for each in results) > rounds // 10  # they did race
