"""Many followers: what is done for them is done once, and one that is slow or late costs others nothing."""

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from tests.api.following import Message, follow, messages
from tests.api.serving import Served
from tests.waiting import until

from stretto.actions.caller import Caller, Role
from stretto.actions.reading import changes_view
from stretto.actions.reading.topics import topics_in
from stretto.api.cursors import cursor_text
from stretto.api.live import channel
from stretto.api.live.channel import NOT_KEPT, TOO_SLOW, LiveFollower, ViewChannel
from stretto.api.routes import events
from stretto.engine.context import step_uuid
from stretto.engine.records import RunKey
from stretto.model.errors import Unavailable
from stretto.model.user import User
from stretto.ports.run_snapshot import read_run
from stretto.ports.store import Store

MANY = 12


def follow_all(server: Served, stack: ExitStack, topic: str, **rest: Any) -> list[Any]:
    """Followers who have come to the end of the log: a sign of life says so."""
    streams = [messages(stack.enter_context(follow(server, topic, **rest))) for _ in range(MANY)]
    for each in streams:
        while next(each).name:
            pass
    return [(heard for heard in each if heard.name) for each in streams]


def statuses(message: Message) -> list[str]:
    return [each["new_status"] for each in message.data["events"] if "new_status" in each]


# -------------------------------------------------------------------------------------------------- counts
def test_the_log_is_read_and_an_event_encoded_once_for_all(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the number of followers: no row of the log is read twice, no event encoded twice."""
    monkeypatch.setattr(events, "BEAT_EVERY", 50)
    store = server.desk.store
    real_read = store.read_log
    rows: Counter[tuple[int, int]] = Counter()
    encoded: list[Any] = []

    async def read(cursor: Any, *, most: int = 1_000) -> Any:
        found = await real_read(cursor, most=most)
        rows.update((each.group, each.seq) for each in found)
        return found

    def uuid(workflow_uuid: str, attempt: Any) -> str:
        encoded.append(attempt)
        return step_uuid(workflow_uuid, attempt)

    server.push("shared")
    with ExitStack() as stack:
        streams = follow_all(server, stack, "run:shared/1/1")
        monkeypatch.setattr(store, "read_log", read)
        monkeypatch.setattr(changes_view, "step_uuid", uuid)
        server.start("shared")
        told: list[list[Any]] = []
        for stream in streams:
            told.append([])
            while not any(each.get("new_status") == "SUCCEEDED" for each in told[-1]):
                told[-1] += next(stream).data["events"]
    assert set(rows.values()) <= {1}
    assert len(encoded) == sum("step_id" in each for each in told[0]) > 0
    assert all(each == told[0] for each in told)


def test_where_things_stand_is_read_once_for_all(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "BEAT_EVERY", 50)
    store = server.desk.store
    real, looks = store.glances, []

    async def look(runs: Any) -> Any:
        looks.append(runs)
        return await real(runs)

    server.push("screens")
    with ExitStack() as stack:
        streams = follow_all(server, stack, "runs?workflow=screens", level="view")
        monkeypatch.setattr(store, "glances", look)
        server.start("screens")
        told = []
        for stream in streams:
            heard = [next(stream)]
            while heard[-1].data["status"] != "SUCCEEDED":
                heard.append(next(stream))
            told.append([(each.id, each.data) for each in heard])
    assert all(each == told[0] for each in told)
    assert 0 < len(looks) <= len(told[0]) + 1


def test_followers_that_have_gone_leave_nothing_behind(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "BEAT_EVERY", 50)
    tail = server.desk.feed.tail
    with ExitStack() as stack:
        follow_all(server, stack, "workflow:left", level="view")
        assert tail.end is not None
    server.until("/me", lambda _: tail.end is None)
    assert (tail._channels, tail._index, tail._called) == ({}, {}, {})


# ----------------------------------------------------------------------------------------------- the slow
def test_what_waits_for_a_follower_is_bounded() -> None:
    follower = LiveFollower()
    part = b"x" * 1_000
    for _ in range(channel.MOST_WAITING // len(part) + 10):
        follower.put(part)
        assert follower.size <= channel.MOST_WAITING
    assert (follower.lost, follower.size, follower.take()) == (TOO_SLOW, 0, b"")
    follower.recover()
    follower.put(b"x" * (channel.MOST_WAITING + 1))  # a message of that size is told all the same
    assert follower.size > channel.MOST_WAITING


class ByHand:
    """A follower that reads when the test says so. Takes signs of life that come often."""

    def __init__(self, server: Served, topic: str, roles: frozenset[Role] = frozenset(Role)) -> None:
        self._server = server
        caller = Caller(user=User(name="ann", extra={"team": ["a"]}), roles=roles)
        begin = server.run(server.desk.store.newest_seqs())
        self._parts: AsyncIterator[bytes] = events._follow(
            server.desk, caller, topics_in([topic]), begin, view=False
        )
        assert [each.name for each in self.read()] == ["hello"]
        while b": alive" not in server.run(self._next()):
            pass  # it has come to the end of the log

    def read(self) -> list[Message]:
        """What comes next, without signs of life."""
        while True:
            text = self._server.run(self._next()).decode()
            found = [Message(each, "") for each in text.split("\n\n") if each]
            if any(each.name for each in found):
                return [each for each in found if each.name]

    def read_until_succeeded(self) -> list[tuple[int, int]]:
        """The places of what was heard meanwhile."""
        heard: list[Message] = []
        while not any("SUCCEEDED" in statuses(each) for each in heard):
            heard += self.read()
        return [(each.data["group"], each.data["seq"]) for each in heard]

    async def _next(self) -> bytes:
        return await anext(self._parts)

    def close(self) -> None:
        async def end() -> None:
            await self._parts.aclose()  # type: ignore[attr-defined]

        self._server.run(end())


def test_a_follower_that_does_not_read_is_told_to_read_anew(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "BEAT_EVERY", 50)
    server.push("slow")
    slow, quick = ByHand(server, "workflow:slow"), ByHand(server, "workflow:slow")
    monkeypatch.setattr(channel, "MOST_WAITING", 5_000)
    for number in range(1, 11):
        server.start("slow")
        server.ended("slow", number)
        quick.read_until_succeeded()
    (told,) = slow.read()
    assert (told.name, told.data["reason"], told.has_id) == ("resync", TOO_SLOW, True)
    server.start("slow")
    slow.read_until_succeeded()
    slow.close()
    quick.close()


@pytest.mark.parametrize(
    ("followers", "interval"),
    [(0, 250), (1, 250), (62, 250), (125, 500), (200, 800), (250, 1_000), (1_000, 1_000)],
)
def test_the_more_screens_follow_a_topic_the_less_often_they_are_told(followers: int, interval: int) -> None:
    screens = ViewChannel(topics_in(["runs"]), None)
    screens.gathered[0].lose("something")
    screens.begin(screens.gathered, 10_000, told=True)
    screens.followers |= dict.fromkeys(LiveFollower() for _ in range(followers))
    assert screens.due_in(10_000) == interval + 1  # the clock leaves out parts of a millisecond


# ----------------------------------------------------------------------------------------------- the late
def test_who_was_away_for_long_hears_everything(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than may wait for a follower: it is no reason to read anew."""
    monkeypatch.setattr(events, "BEAT_EVERY", 50)
    server.push("away")
    begin = cursor_text(server.run(server.desk.store.newest_seqs()))
    other = ByHand(server, "workflow:away")  # what happens is kept for who comes later
    for number in range(1, 11):
        server.start("away")
        server.ended("away", number)
        other.read_until_succeeded()
    monkeypatch.setattr(channel, "MOST_WAITING", 1_000)
    monkeypatch.setattr(events, "MOST_WAITING", 1_000)
    ended = 0
    places: list[tuple[int, int]] = []
    with follow(server, "workflow:away", cursor=begin) as response:
        stream = messages(response)
        assert next(stream).name == "hello"
        while ended < 10:
            message = next(stream)
            if not message.name:
                continue
            assert message.name == "changes"
            places.append((message.data["group"], message.data["seq"]))
            ended += statuses(message).count("SUCCEEDED")
    other.close()
    assert len(set(places)) == len(places)


# ------------------------------------------------------------------------------------------------- trouble
def test_what_comes_while_a_screen_is_told_is_told_next(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = server.desk.store
    real = store.glances
    asked, goes_on = threading.Event(), threading.Event()

    async def look(runs: Any) -> Any:
        found = await real(runs)
        asked.set()
        await asyncio.to_thread(goes_on.wait, 60)
        return found

    server.push("between")
    with follow(server, "workflow:between", level="view") as response:
        stream = messages(response)
        assert next(stream).name == "hello"
        monkeypatch.setattr(store, "glances", look)
        server.start("between")
        assert asked.wait(60)
        server.start("between")
        server.run(ended(server, "between", 2))
        goes_on.set()
        told: dict[str, str] = {}
        while told != {"between/1/1": "SUCCEEDED", "between/2/1": "SUCCEEDED"}:
            message = next(stream)
            if message.name == "run":
                told[message.data["ref"]] = message.data["status"]


async def ended(server: Served, workflow_id: str, instance: int) -> None:
    """By the store alone, and long enough ago for the reader of the log."""

    async def has_ended() -> bool:
        row = await read_run(server.desk.store, RunKey(workflow_id, instance, 1))
        return row is not None and row.record.status.is_terminal

    await until(has_ended)


def test_a_database_that_is_away_while_a_row_is_told(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can not say who may see the row. Nobody misses it then, and nobody hears it twice."""
    monkeypatch.setattr(events, "BEAT_EVERY", 50)
    server.push("away-once")
    faults = [Unavailable("away") for _ in range(3)]
    admin = ByHand(server, "run:away-once/1/1")
    viewer = ByHand(server, "run:away-once/1/1", frozenset({Role.VIEWER}))

    class AwayForAWhile:
        """The store, for the reader of the log alone."""

        def __init__(self, store: Store) -> None:
            self._store = store

        async def workflow_rows(self, selection: Any) -> Any:
            if faults:
                raise faults.pop()
            return await self._store.workflow_rows(selection)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._store, name)

    monkeypatch.setattr(server.desk.feed.tail, "_store", AwayForAWhile(server.desk.store))
    server.start("away-once")
    heard = [each.read_until_succeeded() for each in (admin, viewer)]
    assert heard[0] == heard[1]
    assert len(set(heard[0])) == len(heard[0])
    assert not faults
    admin.close()
    viewer.close()


def test_a_fault_of_the_reader_is_a_resync_for_all(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """All followers depend on it: it goes on."""
    monkeypatch.setattr(events, "BEAT_EVERY", 50)
    server.push("faulty")
    store = server.desk.store
    real, faults = store.read_log, [ValueError("nobody has foreseen it")]
    followers = [ByHand(server, "workflow:faulty") for _ in range(2)]

    async def read(cursor: Any, *, most: int = 1_000) -> Any:
        if faults:
            raise faults.pop()
        return await real(cursor, most=most)

    monkeypatch.setattr(store, "read_log", read)
    for each in followers:
        (told,) = each.read()
        assert (told.name, told.data["reason"], told.has_id) == ("resync", NOT_KEPT, True)
    server.start("faulty")
    for each in followers:
        each.read_until_succeeded()
        each.close()


def test_a_fault_of_the_reader_is_a_resync_for_who_is_about_to_join(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The follower is asked for at the moment when the reader fails: it would miss what the reader skips."""
    monkeypatch.setattr(events, "BEAT_EVERY", 50)
    server.push("joining")
    store, tail = server.desk.store, server.desk.feed.tail
    real_rows, real_read = store.workflow_rows, store.read_log
    begin = server.run(store.newest_seqs())
    other = ByHand(server, "workflow:joining")
    server.start("joining")
    other.read_until_succeeded()
    joins, failed, goes_on = threading.Event(), threading.Event(), threading.Event()

    async def rows(workflow_ids: Any) -> Any:
        joins.set()
        await asyncio.to_thread(goes_on.wait, 60)
        return await real_rows(workflow_ids)

    async def read(cursor: Any, *, most: int = 1_000) -> Any:
        if joins.is_set() and not failed.is_set():
            failed.set()
            raise ValueError("nobody has foreseen it")
        return await real_read(cursor, most=most)

    monkeypatch.setattr(store, "workflow_rows", rows)
    monkeypatch.setattr(store, "read_log", read)
    caller = Caller(user=User(name="ann"), roles=frozenset({Role.VIEWER}))
    parts = events._follow(server.desk, caller, topics_in(["workflow:joining"]), begin, view=False)

    async def heard() -> bytes:
        return await anext(parts)

    assert b"event: hello" in server.run(heard())
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(server.run, heard())
        assert failed.wait(60)
        server.run(asyncio.sleep(0))
        goes_on.set()
        assert b"event: changes" in first.result()
    (told,) = other.read()
    assert told.name == "resync"
    server.run(until_read(tail))
    server.start("joining")
    while b"event: " not in (part := server.run(heard())):
        pass  # a sign of life
    assert part.startswith(b"id: ")
    assert b"event: resync" in part
    server.run(parts.aclose())  # type: ignore[attr-defined]
    other.close()


async def until_read(tail: Any) -> None:
    async with asyncio.timeout(60):
        while tail.end is None:
            await tail.looked()


def test_a_topic_that_could_not_be_told_is_not_tried_again() -> None:
    screens, follower = ViewChannel(topics_in(["runs"]), None), LiveFollower()
    screens.followers[follower] = None
    screens.gathered[0].lose("something")
    assert screens.due_in(10_000) is not None
    screens.lose()
    assert (screens.due_in(10_000), follower.lost) == (None, NOT_KEPT)
