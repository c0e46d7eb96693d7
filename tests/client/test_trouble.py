"""What becomes of calls when servers are busy, away, or something else."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
from tests.client.drivers import Driven
from tests.client.scripted import Scripted, answer, cut, events, scripted, silent
from tests.waiting import at_least

import stretto.client as client_package
from stretto.client import AsyncClient, Client, Resync, Retries
from stretto.client.retries import Again
from stretto.client.settings import ClientSettings
from stretto.client.steps import Answer, Broken
from stretto.model.errors import (
    Conflict,
    Forbidden,
    Internal,
    InvalidRequest,
    NotFound,
    PreconditionFailed,
    StrettoError,
    TimedOut,
    Unauthenticated,
    Unavailable,
    Unprocessable,
)

HASTY = Retries(tries=3, first=0.01, longest=0.02)
Make = Callable[..., Any]

STARTED = json.dumps(
    {
        "workflow_id": "etl",
        "workflow_version_id": 1,
        "workflow_instance_id": 7,
        "workflow_run_id": 1,
        "status": "CREATED",
        "a_field_of_tomorrow": 1,
    }
)
ACTED = json.dumps(
    {
        "workflow_id": "etl",
        "workflow_instance_id": 7,
        "workflow_run_id": 1,
        "workflow_instance_status": "IN_PROGRESS",
        "completed": False,
    }
)


def run_body(status: str = "IN_PROGRESS") -> str:
    return json.dumps(
        {"workflow_id": "etl", "workflow_instance_id": 7, "workflow_run_id": 1, "status": status}
    )


@pytest.fixture(params=["sync", "aio"])
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    opened: list[Any] = []

    def made(server: Scripted | str, **rest: Any) -> Any:
        url = server if isinstance(server, str) else server.url
        options = {"user": "ann", "retries": HASTY, **rest}
        if request.param == "sync":
            opened.append(Client(url, **options))
        else:
            opened.append(Driven(lambda: AsyncClient(url, **options)))
        return opened[-1].__enter__()

    yield made
    for each in opened:
        each.__exit__(None, None, None)


def test_the_front_door() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = client_package.Nothing
    assert ClientSettings().server == "http://127.0.0.1:8080"


# ---------------------------------------------------------------------------------------------- repetitions
def test_a_start_is_repeated_with_the_same_request_id(make: Make) -> None:
    with scripted(cut, answer(503, "{}"), answer(200, STARTED)) as server:
        assert make(server).start("etl").workflow_instance_id == 7
    ids = {json.loads(each.partition("\r\n\r\n")[2])["request_id"] for each in server.requests}
    assert len(server.requests) == 3
    assert len(ids) == 1
    assert all("user: ann" in each for each in server.requests)


def test_an_action_is_repeated_with_the_same_request_id(make: Make) -> None:
    with scripted(cut, answer(200, ACTED)) as server:
        assert not make(server).unblock("etl/7", reason="go on").completed
    first, second = server.lines
    assert first == second
    assert first.startswith("POST /api/v3/workflows/etl/instances/7/actions/unblock?reason=go+on&request_id=")


@pytest.mark.parametrize("status", [502, 503, 504, 429])
def test_reads_are_repeated_while_a_server_is_busy(make: Make, status: int) -> None:
    with scripted(answer(status), answer(200, run_body())) as server:
        assert make(server).run("etl/7").workflow_instance_id == 7


def test_a_server_of_somebody_else_is_told_from_ours(make: Make) -> None:
    page = answer(404, "<html>Nothing here</html>", kind="text/html")
    with scripted(page) as server, pytest.raises(NotFound, match="answered with status 404") as caught:
        make(server).run("etl/7")
    assert "address of a Stretto server" in (caught.value.hint or "")
    full = [answer(503, "Service Unavailable", kind="text/plain")] * HASTY.tries
    with scripted(*full) as server, pytest.raises(Unavailable, match="503: Service") as busy:
        make(server).run("etl/7")
    assert busy.value.hint is None
    lost = answer(404, '{"detail": "There is nothing at this address", "instance": "/v9/api"}')
    with scripted(lost) as server, pytest.raises(NotFound, match="has nothing at /v9/api") as caught:
        make(server).run("etl/7")
    assert "it has no path" in (caught.value.hint or "")


def test_what_would_be_done_twice_is_not_repeated(make: Make) -> None:
    with scripted(cut) as server, pytest.raises(Unavailable, match=r"broke: .*not known whether it was done"):
        make(server).pause("etl/7")
    with scripted(answer(503, '{"message": "later"}')) as server, pytest.raises(Unavailable, match="later"):
        make(server).pause("etl/7")
    with scripted(silent) as server, pytest.raises(TimedOut, match=r"within 0\.5 s; it is not known"):
        make(server, within=0.5).pause("etl/7")
    with scripted(answer(502)) as server, pytest.raises(Unavailable, match="status 502"):
        make(server).pause("etl/7")
    with scripted(answer(429), answer(200, ACTED)) as server:
        assert not make(server).pause("etl/7").completed


def test_it_has_an_end(make: Make) -> None:
    with (
        scripted(*[answer(503, '{"message": "busy"}')] * 3) as server,
        pytest.raises(Unavailable, match="busy"),
    ):
        make(server).run("etl/7")
    assert len(server.requests) == 3
    with (
        scripted(*[silent] * 3) as server,
        pytest.raises(TimedOut, match=r"has not answered within 0\.5 s$"),
    ):
        make(server, within=0.5).run("etl/7")


def test_a_server_says_how_long(make: Make) -> None:
    with scripted(answer(503, "", "retry-after: 1"), answer(200, run_body())) as server, at_least(1):
        make(server).run("etl/7")


def test_nobody_is_there(make: Make) -> None:
    with socket.socket() as deaf:  # the port is ours meanwhile: nobody else can listen there
        deaf.bind(("127.0.0.1", 0))
        port = deaf.getsockname()[1]
        client = make(f"127.0.0.1:{port}")
        for call in (client.health, lambda: client.pause("etl/7")):
            with pytest.raises(Unavailable, match=f"there is no server at http://127.0.0.1:{port}") as caught:
                call()
            assert "stretto serve" in str(caught.value.hint)
        with pytest.raises(Unavailable, match="there is no server at"):
            next(make(f"localhost:{port}/").follow())


def test_pauses_grow_up_to_a_bound() -> None:
    retries = Retries(tries=5, first=1, longest=5, dice=lambda: 1.0)
    busy = Answer(status=503)
    assert [retries.pause(Again.SAFE, busy, tried) for tried in range(1, 6)] == [1, 2, 4, 5, None]
    assert Retries(dice=lambda: 0.0).pause(Again.SAFE, busy, 1) == pytest.approx(0.1)
    assert retries.pause(Again.NEVER, busy, 1) is None
    assert retries.pause(Again.SAFE, Answer(status=404), 1) is None
    assert retries.pause(Again.UNSENT, Broken(reason="", sent=False), 1) == 1
    assert retries.pause(Again.UNSENT, Broken(reason="", sent=True), 1) is None
    wishes = {"9": 9, "100000": 60, "Mon, 16 Nov 2026 14:00:00 GMT": 1, "-5": 1}
    for text, seconds in wishes.items():
        assert retries.pause(Again.SAFE, Answer(status=503, headers={"retry-after": text}), 1) == seconds


def test_an_announcement_whose_answer_was_lost(make: Make) -> None:
    seen: list[str] = []

    def page(connection: socket.socket) -> None:
        own = json.loads(seen[0])["request_id"]
        line = {"name": "s", "seq_id": 4, "instance_id": own}
        body = {
            "page_info": {"has_next_page": False, "has_previous_page": False},
            "total_count": 1,
            "elements": [line],
        }
        answer(200, json.dumps(body))(connection)

    refused = answer(409, '{"status": "CONFLICT", "message": "was announced before"}')

    def second(connection: socket.socket) -> None:
        seen.append(server.requests[-1].partition("\r\n\r\n")[2])
        refused(connection)

    with scripted(cut, second, page) as server:
        assert make(server).announce("s").seq_id == 4
    empty = '{"page_info": {}, "total_count": 0, "elements": []}'
    with scripted(refused, answer(200, empty)) as server, pytest.raises(Conflict, match="before"):
        make(server).announce("s")


# -------------------------------------------------------------------------------------------------- answers
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidRequest),
        (401, Unauthenticated),
        (403, Forbidden),
        (405, InvalidRequest),
        (409, Conflict),
        (412, PreconditionFailed),
        (422, Unprocessable),
        (500, Internal),
        (501, Internal),
    ],
)
def test_statuses_are_errors(make: Make, status: int, kind: type[StrettoError]) -> None:
    body = '{"status": "X", "message": "no (do this)", "errors": ["a", "b"]}'
    with scripted(answer(status, body)) as server, pytest.raises(StrettoError) as caught:
        make(server).run("etl/7")
    assert type(caught.value) is kind
    assert (caught.value.message, caught.value.details) == ("no (do this)", ("a", "b"))


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (answer(404, "<html>\nnot here</html>", kind="text/html"), "status 404: <html> not here</html>"),
        (answer(404, "[]"), r"status 404: \[\]"),
        (answer(400, ""), "status 400$"),
        (answer(302, "", "location: https://x/"), r"status 302 \(it leads to https://x/\)"),
        (answer(403, '{"detail": "The host is not ours"}'), "^The host is not ours$"),
        (answer(200, "<html>"), "can not be understood: it is not JSON"),
        (answer(200, '{"workflow_id": 7}'), "can not be understood: .*workflow_id"),
        (answer(400, '{"message": "Validation failure", "errors": ["a"]}'), "^a$"),
        (answer(400, '{"message": "Validation failure", "errors": ["a", "b"]}'), r"^a \(and 1 more\)$"),
    ],
)
def test_answers_of_others(make: Make, act: Any, said: str) -> None:
    with scripted(act) as server, pytest.raises(StrettoError, match=said):
        make(server).run("etl/7")


def test_a_server_that_is_not_ready(make: Make) -> None:
    with scripted(answer(503, '{"status": "OUT_OF_SERVICE", "reason": "stopping"}')) as server:
        found = make(server).health()
    assert (found.is_up, found.reason) == (False, "stopping")


# --------------------------------------------------------------------------------------------------- names
@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://x",
        "http://",
        "http://x:0",
        "http://x:99999",
        "http://x/?a=1",
        "http://a b",
        "x#y",
        "http://ann:secret@x",
        "http://[::",
    ],
)
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_addresses_that_are_none(kind: Any, url: str) -> None:
    with pytest.raises(InvalidRequest, match="not the address of a server"):
        kind(url)


@pytest.mark.parametrize("user", ["", " ", "Jürgen", "a\nb"])
def test_users_that_can_not_be_sent(user: str) -> None:
    with pytest.raises(InvalidRequest, match="can not be sent"):
        Client("localhost", user=user)


def test_proxies_are_for_others(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted(answer(200, run_body())) as proxy, scripted(answer(200, run_body())) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "")
        make(server.url.replace("127.0.0.1", "localhost")).run("etl/7")
        make("http://stretto.example.com/base/").run("etl/7")
    assert server.lines == ["GET /api/v3/workflows/etl/instances/7/runs/latest?enriched=true HTTP/1.1"]
    assert proxy.lines[0].startswith("GET http://stretto.example.com/base/api/v3/workflows/etl/")


# ------------------------------------------------------------------------------------------------ following
def changes(cursor: str, status: str = "IN_PROGRESS") -> str:
    event = {
        "type": "WORKFLOW_INSTANCE_STATUS_CHANGE_EVENT",
        "workflow_id": "etl",
        "workflow_instance_id": 7,
        "workflow_run_id": 1,
        "old_status": "CREATED",
        "new_status": status,
        "event_time": 5,
    }
    data = json.dumps({"group": 1, "seq": 2, "at": 5, "events": [event]})
    return f"id: {cursor}\nevent: changes\ndata: {data}\n\n"


HELLO = 'id: c0\nevent: hello\ndata: {"version": "1"}\n\n'
RESYNC = 'id: c5\nevent: resync\ndata: {"reason": "not kept"}\n\n'
QUIET = ": alive\nid: c6\n\n"


def test_a_follower_goes_on_behind_the_last_whole_message(make: Make) -> None:
    whole, half = changes("c1"), changes("c2")
    with scripted(
        events(HELLO, whole[:30], whole[30:], half[:-5]),
        answer(503),
        events(
            half.replace("\n", "\r\n"), "\n\n", ": a word\n\n", "id: c3\nevent: of_tomorrow\ndata: {}\n\n"
        ),
        events(RESYNC),
    ) as server:
        told = make(server).follow("workflow:etl", "workflow:b/c", cursor="c")
        found = [next(told) for _ in range(3)]
        told.close()
    assert [each.cursor for each in found] == ["c1", "c2", "c5"]
    assert isinstance(found[2], Resync)
    assert found[2].reason == "not kept"
    assert server.lines[0] == "GET /api/v3/events?topic=workflow%3Aetl&topic=workflow%3Ab%2Fc HTTP/1.1"
    ids = [each.lower().partition("last-event-id: ")[2].partition("\r\n")[0] for each in server.requests]
    assert ids == ["c", "c1", "c1", "c3"]


def test_following_a_run_ends_with_it(make: Make) -> None:
    standing = answer(200, run_body(), "stretto-cursor: c0")
    with scripted(standing, events(HELLO, changes("c1"), changes("c2", "SUCCEEDED"))) as server:
        assert [each.cursor for each in make(server).follow_run("etl/7")] == ["c1", "c2"]
    assert "last-event-id: c0" in server.requests[1].lower()
    assert "topic=run%3Aetl%2F7%2F1" in server.lines[1]


def test_following_a_run_that_has_ended(make: Make) -> None:
    over = answer(200, run_body("SUCCEEDED"), "stretto-cursor: c9")
    with scripted(over) as server:
        assert list(make(server).follow_run("etl/7")) == []
    with scripted(over, events(changes("c1"), QUIET)) as server:
        assert [each.cursor for each in make(server).follow_run("etl/7", cursor="c0")] == ["c1"]
    assert "last-event-id: c0" in server.requests[1].lower()


def test_who_missed_something_looks_again(make: Make) -> None:
    going, over = answer(200, run_body(), "stretto-cursor: c0"), answer(200, run_body("FAILED"))
    with scripted(going, events(QUIET, RESYNC, RESYNC, hold=2), going, over, over) as server:
        client = make(server)
        assert client.wait("etl/7").status.value == "FAILED"


def test_trouble_on_the_way_has_an_end(make: Make) -> None:
    going = answer(200, run_body(), "stretto-cursor: c0")
    with scripted(going, events(), *[answer(503, '{"message": "away"}')] * 29) as server:
        client = make(server, retries=Retries(tries=2, first=0.001, longest=0.001))
        with pytest.raises(Unavailable, match="away"):
            client.wait("etl/7")
    assert len(server.requests) == 31
    gone = answer(404, '{"message": "gone"}')
    with scripted(going, events(HELLO), gone) as server, pytest.raises(StrettoError, match="gone"):
        make(server).wait("etl/7")
    with scripted(going, cut, cut) as server, pytest.raises(Unavailable, match="broke"):
        make(server, retries=Retries(tries=2, first=0.001)).wait("etl/7")


def test_silence_is_no_answer(make: Make, at_most: Callable[[float], AbstractContextManager[None]]) -> None:
    """Who waits with an end looks more often the nearer it is."""
    going = answer(200, run_body(), "stretto-cursor: c0")
    late = events(HELLO, QUIET, hold=60, first=0.6)
    with scripted(going, late, *[events(QUIET, hold=60)] * 9) as server:
        client = make(server)
        with at_most(20), pytest.raises(TimedOut, match="within 1 s"):
            client.wait("etl/7", within=1)


@pytest.mark.parametrize("data", ["", "{", '{"at": "x"}'])
def test_events_of_others(make: Make, data: str) -> None:
    wrong = events(f"id: c\nevent: changes\ndata: {data}\n\n")
    with scripted(wrong) as server, pytest.raises(Internal, match="an event of the server can not be"):
        next(make(server).follow())


def test_a_place_to_follow_from(make: Make) -> None:
    with scripted(answer(200, "{}", "stretto-cursor: here")) as server:
        assert make(server).cursor() == "here"
