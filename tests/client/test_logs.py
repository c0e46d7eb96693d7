"""What steps print, through both drivers: pages, and streams that break."""

import json
from typing import Any

import pytest
from tests.api.serving import Served, shell
from tests.client.scripted import answer, events, scripted
from tests.client.test_trouble import Make, make

from stretto.actions.reading.log_pages import LogEntry, LogPlace
from stretto.client import Retries
from stretto.model.errors import NotFound, Unavailable

__all__ = ["make"]  # a fixture


@pytest.fixture(scope="module")
def talk(server: Served) -> str:
    server.push("talk", shell("count", "seq 1 2500", "warn"), shell("warn", "echo old >&2"))
    server.start("talk")
    server.ended("talk")
    return "talk/1"


def texts(lines: Any) -> list[str]:
    return [each.text for each in lines]


def test_pages(client: Any, talk: str) -> None:
    first = client.logs(talk, "count", limit=2_000)
    assert texts(first.lines) == [str(number) for number in range(1, 2_001)]
    rest = client.logs(talk, "count", 1, from_line=first.next_line)
    assert (len(rest.lines), rest.next_line, rest.total_lines) == (500, None, 2_500)
    assert texts(client.logs(talk, "count", tail=2).lines) == ["2499", "2500"]
    assert [each.line for each in client.logs(talk, "count", find="1000").lines] == [1_000]
    assert texts(client.logs(talk, streams=["stderr", "log"]).lines) == ["old"]
    with pytest.raises(NotFound):
        client.logs(talk, "nope")


def test_following(client: Any, talk: str) -> None:
    assert texts(client.follow_logs(talk, "count", tail=2)) == ["2499", "2500"]
    assert texts(client.follow_logs(talk, find="old")) == ["old"]
    assert len(list(client.follow_logs(talk, streams=["stdout"]))) == 2_500


# --------------------------------------------------------------------------------------------------- trouble
def lines(*numbers: int, step: str = "load", place: str | None = None) -> str:
    made = [
        {
            "step_id": step,
            "step_attempt_id": 1,
            "line": number,
            "at": 20_000 + number,
            "stream": "stdout",
            "text": f"{step} {number}",
            "a_field_of_tomorrow": 1,
        }
        for number in numbers
    ]
    mark = "" if place is None else f"id: {place}\n"
    return f"{mark}event: lines\ndata: {json.dumps({'lines': made})}\n\n"


END = "event: end\ndata: {}\n\n"
ELSEWHERE = 'event: elsewhere\ndata: {"host": "far", "steps": ["load"]}\n\n'
TOMORROW = "event: of_tomorrow\ndata: {}\n\n"


def test_a_step_goes_on_behind_the_last_line(make: Make) -> None:
    with scripted(
        events(": alive\n\n", TOMORROW, lines(1, 2, place="1:2"), lines(3, place="1:3")[:20]),
        answer(503),
        events(lines(3, place="1:3"), ELSEWHERE, END),
    ) as server:
        found = list(make(server).follow_logs("etl/7", "load", tail=5, streams=["stdout"]))
    assert [each.line for each in found if isinstance(each, LogEntry)] == [1, 2, 3]
    assert [each for each in found if isinstance(each, LogPlace)] == [LogPlace(host="far", steps=("load",))]
    path = "/api/v3/workflows/etl/instances/7/runs/latest/steps/load/attempts/latest/logs/events"
    assert server.lines[0] == f"GET {path}?tail=5&stream=stdout HTTP/1.1"
    assert server.lines[1:] == [f"GET {path}?stream=stdout HTTP/1.1"] * 2
    ids = [each.lower().partition("last-event-id: ")[2].partition("\r\n")[0] for each in server.requests]
    assert ids == ["", "1:2", "1:2"]


def test_of_several_steps_no_line_is_told_twice(make: Make) -> None:
    with scripted(
        events(lines(1, 2), lines(1, step="check")),
        events(lines(1, 2, 3), lines(1, 2, step="check"), END),
    ) as server:
        found = texts(make(server).follow_logs("etl/7/1", tail=100))
    assert found == ["load 1", "load 2", "check 1", "load 3", "check 2"]
    path = "/api/v3/workflows/etl/instances/7/runs/1/logs/events"
    assert server.lines == [f"GET {path}?tail=100 HTTP/1.1", f"GET {path}?since=10002 HTTP/1.1"]


def test_a_server_that_does_not_come_back(make: Make) -> None:
    with scripted(events(lines(1)), *[answer(503, '{"message": "away"}')] * 29) as server:
        told = make(server, retries=Retries(tries=2, first=0.001, longest=0.001)).follow_logs("etl/7", "load")
        assert next(told).line == 1
        with pytest.raises(Unavailable, match="away"):
            next(told)
    assert len(server.requests) == 30
    with scripted(answer(404, '{"message": "gone"}')) as server, pytest.raises(NotFound, match="gone"):
        list(make(server).follow_logs("etl/7", "load"))
