"""Live events: in order, none lost, none twice, however often a follower comes back."""

import threading
from typing import Any

import httpx
import pytest
from tests.api.following import Message, follow, messages
from tests.api.serving import LOOP, PATIENCE, Served, noop, served, sleep

from stretto.actions.caller import Caller, Role
from stretto.actions.reading.changes_view import read_changes
from stretto.actions.reading.topics import topics_in
from stretto.api.cursors import cursor_in, cursor_text
from stretto.api.routes import events
from stretto.api.settings import ServerSettings
from stretto.config import Config
from stretto.model.errors import InvalidRequest, Unavailable
from stretto.model.user import User
from stretto.ports.events import Trimmed
from stretto.ports.places import GROUPS
from stretto.server.state import FeedObserver


def moves(message: Message) -> list[tuple[str, str]]:
    """Step and status, `""` for the run itself."""
    found = []
    for event in message.data["events"]:
        if "new_status" in event:
            found.append(("", event["new_status"]))
        found += [(event["step_id"], each["new_status"]) for each in event.get("status_change_records", ())]
    return found


# ---------------------------------------------------------------------------------------------- following
def test_a_run_from_its_start_to_its_end(server: Served) -> None:
    server.push("told", noop("a", "b"), noop("b"))
    with follow(server, "run:told/1/1") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in response.headers
        stream = messages(response)
        hello = next(stream)
        assert hello.name == "hello"
        assert hello.data["version"]
        server.start("told")
        seen: list[tuple[str, str]] = []
        while ("", "SUCCEEDED") not in seen:
            message = next(stream)
            assert message.name == "changes"
            seen += moves(message)
    assert seen.index(("a", "SUCCEEDED")) < seen.index(("b", "SUCCEEDED"))
    assert len(set(seen)) == len(seen)


FIELDS = {
    "workflow_id",
    "workflow_instance_id",
    "workflow_run_id",
    "workflow_uuid",
    "correlation_id",
    "cluster_name",
    "sync_time",
    "send_time",
    "type",
}


def test_every_move_of_every_step_has_the_fields_of_maestros_events(server: Served) -> None:
    server.push("whole", LOOP)
    told: list[dict[str, Any]] = []
    with follow(server) as response:
        stream = messages(response)
        next(stream)
        server.start("whole")
        while not any(each.get("new_status") == "SUCCEEDED" and not each["depth"] for each in told):
            told += [
                each for each in next(stream).data["events"] if each.get("correlation_id") == "whole:1:1"
            ]
    steps = [each for each in told if each["type"] == "STEP_INSTANCE_STATUS_CHANGE_EVENT"]
    assert {each["step_id"] for each in steps} == {"each", "inner"}
    for event in steps:
        assert event.keys() == FIELDS | {
            "step_id",
            "step_attempt_id",
            "step_uuid",
            "step_instance_id",
            "status_change_records",
        }
        assert event["cluster_name"] == "stretto"
        assert event["sync_time"] <= event["send_time"]
        shown = server.get(
            f"/workflows/{event['workflow_id']}/instances/{event['workflow_instance_id']}"
            f"/steps/{event['step_id']}"
        )
        assert (event["workflow_uuid"], event["step_uuid"]) == (shown["workflow_uuid"], shown["step_uuid"])
        last = event["status_change_records"][-1]
        if last["new_status"] == "SUCCEEDED":
            assert last["event_time"] == shown["runtime_state"]["end_time"]
    entered = [
        each["new_status"]
        for event in steps
        if event["step_id"] == "inner"
        for each in event["status_change_records"]
    ]
    assert entered.count("WAITING_FOR_PERMITS") == entered.count("SUCCEEDED") == 3
    runs = [each for each in told if each["type"] == "WORKFLOW_INSTANCE_STATUS_CHANGE_EVENT"]
    assert all(each["cluster_name"] == "stretto" and each["send_time"] for each in runs)


def test_the_name_of_the_cluster_is_a_setting() -> None:
    with served(Config(server=ServerSettings(cluster_name="eu-1"))) as server, follow(server) as response:
        stream = messages(response)
        next(stream)
        server.push("named")
        assert next(stream).data["events"][0]["cluster_name"] == "eu-1"


def test_read_then_follow(server: Served) -> None:
    """The cursor of an answer is a place so that what the answer lacks comes behind it."""
    server.push("then", sleep("s"))
    server.start("then")
    server.step_is("then", "s", "RUNNING")
    response = server.client.get("/api/v3/workflows/then/instances/1")
    cursor = response.headers["stretto-cursor"]
    server.put("/workflows/then/instances/1/actions/stop")
    server.ended("then", 1, "STOPPED")
    seen: list[tuple[str, str]] = []
    with follow(server, "run:then/1/1", cursor=cursor) as stream:
        for message in messages(stream):
            seen += moves(message) if message.name == "changes" else []
            if ("", "STOPPED") in seen:
                break
    assert ("s", "STOPPED") in seen


def test_why_a_workflow_was_deleted(server: Served) -> None:
    """Nothing is left of it but the event, which can be read as long as events are kept."""
    server.push("doomed")
    cursor = server.client.get("/api/v3/workflows/doomed/overview").headers["stretto-cursor"]
    server.delete("/workflows/doomed", params={"reason": "not needed"})
    with follow(server, "workflow:doomed", cursor=cursor) as response:
        events = (event for message in messages(response) for event in (message.data or {}).get("events", ()))
        gone = next(event for event in events if event["type"] == "WORKFLOW_DELETION_CHANGE_EVENT")
    assert (gone["author"], gone["reason"]) == ("ann", "not needed")


def test_who_comes_back_misses_nothing_and_hears_nothing_twice(server: Served) -> None:
    """Twenty connections, each of a message or two, while runs begin and end."""
    server.push("often", noop("a", "b"), noop("b"))
    begin = server.client.get("/api/v3/workflows/often/versions/1").headers["stretto-cursor"]
    runs = 40

    def start_all() -> None:
        with httpx.Client(base_url=server.url, headers={"user": "ann"}, timeout=PATIENCE) as client:
            for _ in range(runs):
                path = "/api/v3/workflows/often/versions/latest/actions/start"
                assert client.post(path, json={"initiator": {"type": "manual"}}).status_code == 200

    starting = threading.Thread(target=start_all)
    starting.start()
    last, ended, places = begin, 0, set()
    per_run: dict[int, list[str]] = {}
    for attempt in range(1_000):
        headers = {"last-event-id": last}
        with server.client.stream(
            "GET", "/api/v3/events?topic=workflow:often", headers=headers, timeout=PATIENCE
        ) as stream:
            for heard, message in enumerate(messages(stream)):
                last = message.id
                if message.name == "changes":
                    place = (message.data["group"], message.data["seq"])
                    assert place not in places
                    places.add(place)
                    for event in message.data["events"]:
                        if "new_status" in event:
                            per_run.setdefault(event["workflow_instance_id"], []).append(event["new_status"])
                            ended += event["new_status"] == "SUCCEEDED"
                if ended == runs or (attempt < 20 and heard >= 2):
                    break
        if ended == runs:
            break
    starting.join()
    ends = {number: each[-1] for number, each in per_run.items()}
    assert ends == dict.fromkeys(range(1, runs + 1), "SUCCEEDED")
    assert all(each.count("SUCCEEDED") == 1 for each in per_run.values())


def end_of_log(server: Served) -> str:
    """Now: what tests before have left behind may go on for a while."""
    return cursor_text(server.run(server.desk.store.newest_seqs()))


def test_what_was_not_asked_for_moves_the_place_on(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "BEAT_EVERY", 50)
    server.push("noise")
    with follow(server, "workflow:nobody") as response:
        stream = messages(response)
        first = next(stream)
        server.start("noise")
        server.ended("noise")
        moved = next(each for each in stream if each.id == end_of_log(server))
    assert first.id != moved.id
    assert moved.name == ""
    assert moved.data is None
    with follow(server, "workflow:noise", cursor=moved.id) as response:
        assert next(each for each in messages(response) if each.name != "hello").name == ""


def test_all_topics(server: Served) -> None:
    with follow(server) as response:
        stream = messages(response)
        next(stream)
        server.push("anything")
        message = next(each for each in stream if "anything" in str(each.data))
    assert message.data["events"][0]["type"] == "WORKFLOW_DEFINITION_CHANGE_EVENT"


# ------------------------------------------------------------------------------------------------ trouble
def test_events_that_are_not_kept_any_more(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    real = server.desk.store.read_log
    answers: list[Exception] = [Unavailable("away"), Trimmed(frozenset({1}))]

    async def read(cursor: Any, *, most: int = 1_000) -> Any:
        if answers:
            raise answers.pop(0)
        return await real(cursor, most=most)

    monkeypatch.setattr(server.desk.store, "read_log", read)
    server.push("after")
    with follow(server, "workflow:after") as response:
        stream = messages(response)
        assert [next(stream).name, next(stream).name] == ["hello", "resync"]
        server.start("after")
        seen: list[tuple[str, str]] = []
        while ("", "SUCCEEDED") not in seen:
            seen += moves(next(stream))


def test_a_database_that_does_not_say_where_its_log_ends(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away() -> Any:
        raise Unavailable("away")

    monkeypatch.setattr(server.desk.store, "newest_seqs", away)
    monkeypatch.setattr(server.desk.feed, "_read_at", -1_000_000)
    response = server.client.get("/api/v3/me")
    assert response.status_code == 200
    assert "stretto-cursor" not in response.headers
    assert server.client.get("/api/v3/events").status_code == 503


@pytest.mark.parametrize(
    "query",
    [
        *("topic=cats", "topic=workflow:", "topic=run:w/1", "topic=home?x=1", "topic=runs?owner=ann"),
        *("topic=runs?workflow", "cursor=x", "cursor=gA", "cursor=%C3%A4", "level=loud"),
    ],
)
def test_bad_topics_and_cursors(server: Served, query: str) -> None:
    assert server.get(f"/events?{query}", 400)["status"] == "BAD_REQUEST"


@pytest.mark.parametrize("level", ["full", "view"])
def test_a_cursor_of_another_database_is_a_resync(server: Served, level: str) -> None:
    """Else its reader would hear nothing until this one has come as far."""
    beyond = cursor_text(dict.fromkeys(range(GROUPS), 1_000_000))
    server.push("elsewhere")
    with follow(server, "workflow:elsewhere", level=level, cursor=beyond) as response:
        stream = messages(response)
        assert [next(stream).name, next(stream).name] == ["hello", "resync"]
        server.start("elsewhere")
        assert next(stream).name == ("run" if level == "view" else "changes")


@pytest.mark.parametrize("level", ["full", "view"])
def test_followers_are_sent_away_when_the_server_stops(level: str) -> None:
    with (
        served() as made,
        made.stranger() as client,
        client.stream("GET", f"/api/v3/events?level={level}", timeout=PATIENCE) as response,
    ):
        stream = messages(response)
        assert next(stream).name == "hello"
        made._loop.call_soon_threadsafe(made.desk.feed.close)
        assert list(stream) == []


# --------------------------------------------------------------------------------------------------- parts
def test_cursors_are_texts() -> None:
    cursor = {group: group * 1_000 for group in range(GROUPS)}
    assert cursor_in(cursor_text(cursor)) == cursor
    assert cursor_in(cursor_text({3: 7})) == {**dict.fromkeys(range(GROUPS), 0), 3: 7}
    for bad in ("", "gA", "ä", cursor_text({0: 1})[:-4]):
        with pytest.raises(InvalidRequest):
            cursor_in(bad)


def test_who_may_not_see_a_workflow_hears_nothing_of_it(server: Served) -> None:
    server.push("secret", access_control={"viewers": ["ann"]})
    server.start("secret")
    server.ended("secret")

    async def read(caller: Caller) -> list[str]:
        store = server.desk.store
        start = dict.fromkeys(await store.newest_seqs(), 0)
        changes = await read_changes(store, caller, topics_in(["workflow:secret"]), start)
        return [event.workflow_id for each in changes for event in each.events]

    ann, eve = (Caller(user=User(name=name), roles=frozenset({Role.VIEWER})) for name in ("ann", "eve"))
    assert server.run(read(ann))
    assert server.run(read(eve)) == []


def test_a_bell_without_a_feed_is_silent() -> None:
    observer = FeedObserver()
    observer.committed(())
    assert observer.feed is None
