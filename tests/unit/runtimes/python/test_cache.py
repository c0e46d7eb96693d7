"""Results that are kept for a while."""

import logging
from typing import Any

import msgspec
import pytest
from tests.unit.runtimes.python.stand import NOW, Stand, playing, said, told, value

from stretto.model.timeline import LogEvent
from stretto.ports.runtime import Done, FatalError
from stretto.runtimes.python import function_of
from stretto.store.memory import Database, MemoryStore
from stretto.testing import shapes
from stretto.testing.clock import VirtualClock

CALLS: list[Any] = []


@pytest.fixture(autouse=True)
def _empty() -> None:
    CALLS.clear()


def rows(day: str, limit: int = 3) -> dict[str, Any]:
    CALLS.append((day, limit))
    return {"day": day, "rows": len(CALLS)}


def store() -> MemoryStore:
    return MemoryStore(Database(VirtualClock()))


def test_a_step_that_asks_for_the_same_need_not_run() -> None:
    async def body() -> None:
        made = function_of(rows, "rows", cache_ttl_s=60)
        stand = Stand(made, store=store())
        first = await stand.run(made, {"day": "a"})
        second = await stand.run(made, {"day": "a"})
        assert value(first) == value(second) == '{"day":"a","rows":1}'
        assert isinstance(second, Done)
        assert [each.message for each in second.timeline if isinstance(each, LogEvent)] == [
            "Taken from the cache: `rows` was not called"
        ]
        assert value(await stand.run(made, {"day": "b"})) == '{"day":"b","rows":2}'
        stand.at = NOW + 59_999
        await stand.run(made, {"day": "a"})
        assert len(CALLS) == 2
        stand.at = NOW + 60_000
        assert value(await stand.run(made, {"day": "a"})) == '{"day":"a","rows":3}'

    playing(body)


def test_a_function_that_has_changed_runs_again() -> None:
    async def body() -> None:
        kept = store()

        def one() -> int:
            return 1

        def two() -> int:
            return 2

        for call in (one, two):
            made = function_of(call, "f", cache_ttl_s=60)
            assert value(await Stand(made, store=kept).run(made)) == call()

    playing(body)


def test_a_key_of_ones_own() -> None:
    async def body() -> None:
        for key in (lambda day: day[:4], "day.substring(0, 4)"):
            CALLS.clear()
            made = function_of(rows, "rows", cache_ttl_s=60, cache_key=key)
            stand = Stand(made, store=store())
            await stand.run(made, {"day": "2026-11-15", "limit": 1})
            await stand.run(made, {"day": "2026-11-16", "limit": 2})
            assert CALLS == [("2026-11-15", 1)]
            await stand.run(made, {"day": "2027-01-01"})
            assert len(CALLS) == 2

    playing(body)


def test_a_key_of_none_keeps_nothing() -> None:
    async def body() -> None:
        made = function_of(rows, "rows", cache_ttl_s=60, cache_key=lambda: None)
        stand = Stand(made, store=store())
        await stand.run(made, {"day": "a"})
        await stand.run(made, {"day": "a"})
        assert len(CALLS) == 2

    playing(body)


def test_without_a_store_nothing_is_kept() -> None:
    async def body() -> None:
        made = function_of(rows, "rows", cache_ttl_s=60)
        stand = Stand(made)
        await stand.run(made, {"day": "a"})
        await stand.run(made, {"day": "a"})
        assert len(CALLS) == 2

    playing(body)


@pytest.mark.parametrize(
    ("key", "kind", "why"),
    [
        ("day.nothing()", "FatalError", "the cache key `day.nothing()`"),
        (
            lambda: {(1, 2): 2},
            "FatalError",
            "the cache key of `rows` can not be made: `cache_key` has the key (1, 2)",
        ),
        (lambda: 1 / 0, "UserError", "ZeroDivisionError"),
    ],
)
def test_a_key_that_can_not_be_made(key: Any, kind: str, why: str) -> None:
    async def body() -> None:
        made = function_of(rows, "rows", cache_ttl_s=60, cache_key=key)
        found, message = said(await Stand(made, store=store()).run(made, {"day": "a"}))
        assert found == kind
        assert why in str(message)
        assert CALLS == []

    playing(body)


def test_trouble_with_the_cache_costs_a_call(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(MemoryStore):
        async def cached(self, key: str, now: int) -> str | None:
            raise OSError(key[:0], now)

        async def keep(self, key: str, value: str, until: int) -> None:
            raise OSError(value, key[:0], until)

    async def body() -> None:
        made = function_of(rows, "rows", cache_ttl_s=60)
        stand = Stand(made, store=Broken(Database(VirtualClock())))
        assert isinstance(await stand.run(made, {"day": "a"}), Done)

    with caplog.at_level(logging.WARNING):
        playing(body)
    assert [record.__dict__["action"] for record in caplog.records] == ["cache.failed", "cache.failed"]


def test_what_an_older_version_kept_is_not_forced_on_a_newer_one() -> None:
    async def body() -> None:
        kept = store()

        def old(day: str) -> str:
            return day

        def new(day: str) -> int:
            return len(day)

        first = function_of(old, "f", cache_ttl_s=60, cache_key=lambda day: day)
        assert value(await Stand(first, store=kept).run(first, {"day": "a"})) == "a"
        second = function_of(new, "f", cache_ttl_s=60, cache_key=lambda day: day)
        assert value(await Stand(second, store=kept).run(second, {"day": "a"})) == 1

    playing(body)


def test_a_step_that_takes_its_parameters_from_the_cache_is_the_same_to_others() -> None:
    async def body() -> None:
        made = function_of(rows, "rows", cache_ttl_s=60)
        stand = Stand(made, store=store())
        first = await stand.end(told(made, {"day": "a"}))
        second = await stand.end(told(made, {"day": "a"}))
        assert isinstance(first, Done)
        assert isinstance(second, Done)
        assert first.outputs == second.outputs

    playing(body)


def test_a_step_that_can_be_undone_is_refused_before_its_work() -> None:
    async def body() -> None:
        made = function_of(rows, "rows", cache_ttl_s=60)
        undone = told(made, {"day": "a"})
        step = msgspec.structs.replace(undone.ctx.step, compensation=shapes.step("undo"))
        undone.ctx = msgspec.structs.replace(undone.ctx, step=step)
        answer = await Stand(made, store=store()).end(undone)
        assert isinstance(answer, FatalError)
        assert "a result that is undone must not be handed out from the cache" in answer.message
        assert CALLS == []

    playing(body)
