"""What steps print, by lines: pages, tails, texts that are looked for, and streams."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.api.following import Message, messages
from tests.api.serving import LOOP, PATIENCE, Served, noop, served, shell

from stretto.actions.reading import log_lines, log_pages
from stretto.actions.reading.log_pages import StepLogs
from stretto.actions.reading.log_target import LogTarget
from stretto.api.routes import logs as routes
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import Unavailable
from stretto.ports.runtime import Launch

RUN = "/workflows/{0}/instances/1/runs/1"
STEP = RUN + "/steps/{1}/attempts/1/logs"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served() as made:
        made.push("talk", shell("count", "seq 1 3000", "warn"), shell("warn", "echo old >&2; echo fine"))
        made.start("talk")
        made.ended("talk")
        yield made


def read(server: Served, query: str = "", step: str = "count") -> Any:
    return server.get(f"{STEP.format('talk', step)}{query}")


def texts(page: Any) -> list[str]:
    return [each["text"] for each in page["lines"]]


def stream(server: Served, path: str, **options: Any) -> Any:
    return server.client.stream("GET", f"/api/v3{path}/events", timeout=PATIENCE, **options)


def heard(response: Any, until: str = "end") -> list[Message]:
    found = []
    for message in messages(response):
        found.append(message)
        if message.name == until:
            break
    return found


def lines_in(found: list[Message]) -> list[str]:
    return [text for each in found if each.name == "lines" for text in texts(each.data)]


# ------------------------------------------------------------------------------------------------------ pages
def test_page_by_page(server: Served) -> None:
    first = read(server, "?limit=1200")
    assert texts(first) == [str(number) for number in range(1, 1_201)]
    assert first["next_line"] == 1_201
    assert "total_lines" not in first
    line = first["lines"][41]
    assert isinstance(line.pop("at"), int)
    assert line == {"step_id": "count", "step_attempt_id": 1, "line": 42, "stream": "stdout", "text": "42"}
    second = read(server, "?limit=2000&from_line=1201")
    assert texts(second) == [str(number) for number in range(1_201, 3_001)]
    assert "next_line" not in second
    assert second["total_lines"] == 3_000
    assert len(read(server)["lines"]) == 1_000
    latest = server.get(f"{RUN.format('talk')}/steps/count/attempts/latest/logs?limit=1")
    assert texts(latest) == ["1"]
    assert texts(read(server, "?from_line=9999")) == []


def test_the_last_lines(server: Served) -> None:
    last = read(server, "?tail=3")
    assert texts(last) == ["2998", "2999", "3000"]
    assert [each["line"] for each in last["lines"]] == [2_998, 2_999, 3_000]
    assert last["total_lines"] == 3_000
    assert read(server, "?tail=0")["lines"] == []


def test_lines_with_a_text(server: Served) -> None:
    found = read(server, "?find=299")
    assert texts(found) == ["299", "1299", "2299", *(str(number) for number in range(2_990, 3_000))]
    assert found["lines"][1]["line"] == 1_299
    assert texts(read(server, "?find=299&limit=2")) == ["299", "1299"]
    assert read(server, "?find=299&limit=2")["next_line"] == 1_300
    assert texts(read(server, "?find=299&tail=1")) == ["2999"]
    assert read(server, "?find=nothing")["lines"] == []


def test_streams_and_times(server: Served) -> None:
    assert texts(read(server, "?stream=stderr", "warn")) == ["old"]
    assert sorted(texts(read(server, "?stream=stderr&stream=stdout", "warn"))) == ["fine", "old"]
    at = max(each["at"] for each in read(server, "", "warn")["lines"])
    assert len(read(server, f"?since={at}", "warn")["lines"]) in {1, 2}
    assert read(server, f"?since={at + 1}", "warn")["lines"] == []


def test_all_steps_of_a_run(server: Served) -> None:
    page = server.get(f"{RUN.format('talk')}/logs?from_line=2999")
    assert texts(page)[:2] == ["2999", "3000"]
    assert sorted(texts(page)[2:]) == ["fine", "old"]
    assert {each["step_id"] for each in page["lines"][2:]} == {"warn"}
    assert page["total_lines"] == 3_002
    assert sorted(texts(server.get(f"{RUN.format('talk')}/logs?tail=2"))) == ["fine", "old"]


def test_iterations_have_runs_of_their_own(server: Served) -> None:
    each = {**LOOP["foreach"], "steps": [shell("inner", "echo number $i")]}
    server.push("loops", {"foreach": each})
    server.start("loops")
    server.ended("loops")
    found = server.get(f"{RUN.format('loops')}/resolve?path=each[2].inner")
    place = f"/workflows/{found['workflow_id']}/instances/2/runs/1/steps/inner/attempts/1/logs"
    assert texts(server.get(place)) == ["number 8"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (STEP.format("talk", "count") + "?limit=0", 400),
        (STEP.format("talk", "count") + "?limit=2001", 400),
        (STEP.format("talk", "count") + "?tail=2001", 400),
        (STEP.format("talk", "count") + "?tail=-1", 400),
        (STEP.format("talk", "count") + "?from_line=0", 400),
        (STEP.format("talk", "count") + "?tail=5&from_line=7", 400),
        (STEP.format("talk", "count") + "?stream=stdin", 400),
        (STEP.format("talk", "count") + "?follow=true", 400),
        (STEP.format("talk", "count") + "?find=a%0Ab", 400),
        (STEP.format("talk", "count") + f"?find={'x' * 1_001}", 400),
        (RUN.format("talk") + "/steps/count/attempts/nine/logs", 400),
        (RUN.format("talk") + "/steps/count/attempts/9/logs", 404),
        (RUN.format("talk") + "/steps/nope/attempts/latest/logs", 404),
        (RUN.format("nope") + "/logs", 404),
        (STEP.format("talk", "nope") + "/events", 404),
        (RUN.format("talk") + "/steps/nope/attempts/latest/logs/events", 404),
        (STEP.format("talk", "count") + "/events?tail=9999", 400),
    ],
)
def test_what_is_refused(server: Served, path: str, status: int) -> None:
    assert server.client.get(f"/api/v3{path}", timeout=PATIENCE).status_code == status


def test_a_bad_place_to_go_on(server: Served) -> None:
    headers = {"last-event-id": "somewhere"}
    path = f"/api/v3{STEP.format('talk', 'count')}/events"
    assert server.client.get(path, headers=headers).status_code == 400


# ----------------------------------------------------------------------------------------------- bounded work
def test_a_search_is_bounded_and_goes_on(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_pages, "MOST_SEARCHED", 1_000)
    page, found = read(server, "?find=2500"), 0
    while "next_line" in page:
        assert page["lines"] == []
        found += 1
        page = read(server, f"?find=2500&from_line={page['next_line']}")
        if page["lines"]:
            break
    assert found == 2
    assert texts(page) == ["2500"]


def test_an_answer_is_bounded_by_its_text(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_pages, "MOST_TEXT", 10)
    assert texts(read(server)) == [str(number) for number in range(1, 11)]
    assert texts(read(server, "?tail=100")) == ["2999", "3000"]


def test_the_event_loop_is_not_held(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in other threads, a slice at a time, and not by many threads at once."""
    seen: list[tuple[str, int]] = []
    items = log_lines.LogLines._items

    def counted(self: Any, look: Any) -> Any:
        for number, item in enumerate(items(self, look)):
            seen.append((threading.current_thread().name, number))
            yield item

    monkeypatch.setattr(log_lines.LogLines, "_items", counted)
    monkeypatch.setattr(log_lines, "SLICE", 100)
    handed: list[int] = []
    take = log_pages._Window.take

    def noted(self: Any, part: Any) -> bool:
        handed.append(len(part))
        return take(self, part)

    monkeypatch.setattr(log_pages._Window, "take", noted)
    read(server, "?find=nothing")
    assert len(seen) == 3_000
    assert max(handed) == 100
    loop_thread = server.run(_thread_name())
    assert all(name != loop_thread for name, _ in seen)


async def _thread_name() -> str:
    return threading.current_thread().name


# ---------------------------------------------------------------------------------------------------- streams
def test_what_has_ended_is_told_at_once(server: Served) -> None:
    with stream(server, STEP.format("talk", "count")) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in response.headers
        found = heard(response)
    assert lines_in(found) == [str(number) for number in range(1, 3_001)]
    assert [each.id for each in found if each.name == "lines"] == ["1:1000", "1:2000", "1:3000"]
    with stream(server, STEP.format("talk", "count"), headers={"last-event-id": "1:2998"}) as response:
        assert lines_in(heard(response)) == ["2999", "3000"]
    with stream(server, STEP.format("talk", "count"), params={"tail": 2, "find": "9"}) as response:
        assert lines_in(heard(response)) == ["2998", "2999"]


def test_lines_come_while_the_step_runs(server: Served, tmp_path: Any) -> None:
    go = tmp_path / "go"
    command = f"echo one; printf tw; while ! test -e {go}; do sleep 0.02; done; echo o; echo three"
    server.push("slow", shell("wait", command), noop("other"))
    server.start("slow")
    server.step_is("slow", "wait", "RUNNING")
    path = f"{RUN.format('slow')}/steps/wait/attempts/latest/logs"
    with stream(server, path) as step, stream(server, f"{RUN.format('slow')}/logs") as run:
        told = messages(step)
        first = next(each for each in told if each.name == "lines")
        assert texts(first.data) == ["one"]
        assert texts(server.get(f"{path}?tail=5")) == ["one", "tw"]
        assert texts(server.get(path)) == ["one"]  # a line that has not ended has no number yet
        go.touch()
        rest = []
        for each in told:
            rest.append(each)
            if each.name == "end":
                break
        assert lines_in(rest) == ["two", "three"]
        found = heard(run)
    assert lines_in(found) == ["one", "two", "three"]
    assert not any(each.has_id for each in found)


def test_signs_of_life_while_nothing_is_printed(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "BEAT_EVERY", 1)
    monkeypatch.setattr(routes, "LOOK_EVERY", 0.01)
    server.push("mute", shell("wait", "sleep 60"))
    server.start("mute")
    server.step_is("mute", "wait", "RUNNING")
    with stream(server, f"{RUN.format('mute')}/steps/wait/attempts/latest/logs") as response:
        told = messages(response)
        assert [next(told).name for _ in range(3)] == ["", "", ""]
    server.put("/workflows/mute/instances/1/actions/kill")


def test_a_database_that_is_away_is_waited_for(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    look, failures = LogTarget.look, [1, 1]

    async def troubled(self: LogTarget) -> Any:
        if failures:
            failures.pop()
            raise Unavailable("no answer")
        return await look(self)

    monkeypatch.setattr(LogTarget, "look", troubled)
    with stream(server, STEP.format("talk", "warn")) as response:
        assert sorted(lines_in(heard(response))) == ["fine", "old"]


def test_output_that_another_machine_keeps(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    server.push("quiet", shell("mute", "true"))
    server.start("quiet")
    server.ended("quiet")
    monkeypatch.setattr(server.desk.logs, "host", "another.example")
    page = server.get(STEP.format("quiet", "mute"))
    (place,) = page["elsewhere"]
    assert place["steps"] == ["mute"]
    assert place["host"]
    with stream(server, STEP.format("quiet", "mute")) as response:
        found = heard(response)
    assert [each.data for each in found if each.name == "elsewhere"] == [place]


def test_a_server_that_stops_ends_streams_without_an_end() -> None:
    with served() as server:
        server.push("mute", shell("wait", "echo one; sleep 60"))
        server.start("mute")
        server.step_is("mute", "wait", "RUNNING")
        path = f"{RUN.format('mute')}/steps/wait/attempts/latest/logs"
        with stream(server, path) as response:
            told = messages(response)
            assert next(each for each in told if each.name == "lines").data["lines"]
            server.run(_closed(server))
            assert [each.name for each in told if each.name] == []
        assert server.client.get(f"/api/v3{path}/events").status_code in {200, 503}
        server.put("/workflows/mute/instances/1/actions/kill")


async def _closed(server: Served) -> None:
    server.desk.feed.close()


# ----------------------------------------------------------------------------------------------- large output
def test_a_large_output_is_read_in_little_memory(server: Served) -> None:
    """What is held does not grow with what was printed: slices of lines, and of each attempt some bytes."""
    files = server.app.logs
    key = AttemptKey(RunKey("talk", 1, 1), "count", 1)
    held: list[int] = []

    async def print_much() -> None:
        for _ in range(200):
            files.write(Launch(key, 99), "stdout", (b"z" * 99 + b"\n") * 600)
        files.end(Launch(key, 99))

    server.run(print_much())

    async def count() -> int:
        target = LogTarget(server.app.store, "talk/1", RunKey("talk", 1, 1), "count", 1)
        logs = StepLogs(server.app.store, files, "here")
        lines = log_lines.LogLines(files, target.run)
        held.extend([len(part) async for part in lines.round(await target.look(), logs.threads)])
        return sum(held)

    assert server.run(count()) > 100_000
    assert max(held) <= log_lines.SLICE
