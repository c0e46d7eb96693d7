"""Requests that say more than Maestro's: how long to wait, and on top of which version to publish."""

import asyncio
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import httpx
import pytest
from tests.api.serving import Served, noop, served, sleep
from tests.waiting import at_least, wait_until

from stretto.actions.reading.started_run import started_run
from stretto.api.awaiting import wait_in
from stretto.model.durations import NoDuration, millis_in
from stretto.model.errors import InvalidRequest, Unavailable
from stretto.model.response import StartResponse, StartStatus

START = "/workflows/{}/versions/latest/actions/start"
MANUAL = {"initiator": {"type": "manual"}}


def start(server: Served, workflow_id: str, wait: str, status: int = 200, **request: Any) -> Any:
    path = START.format(workflow_id)
    return server.post(path, {**MANUAL, **request}, status, params={"wait": wait})


# --------------------------------------------------------------------------------------------- start and wait
def test_a_start_that_waits_for_the_end(server: Served) -> None:
    server.push("awaited", sleep("s", 1))
    made = start(server, "awaited", "30s")
    assert (made["status"], made["workflow_instance_id"]) == ("CREATED", 1)
    assert made["run"]["status"] == "SUCCEEDED"
    assert made["run"]["counts"] == {"SUCCEEDED": 1}
    assert made["run"]["end_time"] >= made["run"]["start_time"] + 1_000


def test_a_start_that_does_not_wait_says_nothing_of_the_run(server: Served) -> None:
    server.push("unawaited")
    assert "run" not in server.start("unawaited")


def test_time_is_over_before_the_run_is(
    server: Served, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    server.push("endless", sleep("s"))
    with at_least(1.9), at_most(30):
        made = start(server, "endless", "2s", request_id="only-one")
    assert made["run"]["status"] == "IN_PROGRESS"
    again = start(server, "endless", "0", request_id="only-one")
    assert (again["status"], again["workflow_instance_id"]) == ("DUPLICATED", made["workflow_instance_id"])
    assert again["run"]["workflow_run_id"] == 1
    server.put("/workflows/endless/actions/kill", 202)


def test_a_run_that_ended_at_birth(server: Served) -> None:
    server.push("single", sleep("s"), run_strategy="FIRST_ONLY")
    start(server, "single", "0")
    made = start(server, "single", "30s")
    assert (made["status"], made["run"]["status"]) == ("STOPPED", "STOPPED")
    server.put("/workflows/single/actions/kill", 202)


def test_nothing_is_lost_when_the_client_goes(server: Served) -> None:
    server.push("left", sleep("s", 2))
    client = httpx.Client(base_url=server.url, headers={"user": "ann"}, timeout=0.5)
    with client, pytest.raises(httpx.ReadTimeout):
        client.post(f"/api/v3{START.format('left')}", json=MANUAL, params={"wait": "9m"})
    server.ended("left")

    async def waiting() -> int:
        return sum("_gone" in str(task.get_coro()) for task in asyncio.all_tasks())

    wait_until(lambda: not server.run(waiting()))


def test_a_server_that_stops_waits_for_no_run() -> None:
    with served() as made:
        made.push("slow", sleep("s"))
        made.start("slow")
        made.step_is("slow", "s", "RUNNING")
        made.run(_close(made))
        assert start(made, "slow", "9m")["run"]["status"] in {"CREATED", "IN_PROGRESS"}


async def _close(made: Served) -> None:
    made.desk.feed.close()


@pytest.mark.parametrize(
    ("wait", "said"),
    [
        ("soon", "Invalid wait [soon]: it is not a duration (write milliseconds"),
        ("", "it is not a duration"),
        ("-1", "it is not a duration"),
        ("30sec", "did you mean `30s`?"),
        ("11m", "it is too long (at most 10m"),
        ("0.5ms", "it is not a whole number of milliseconds"),
    ],
)
def test_no_time_to_wait(server: Served, wait: str, said: str) -> None:
    server.push("hasty")
    before = server.get("/workflows/hasty/instances?first=1")["elements"]
    assert said in start(server, "hasty", wait, 400)["message"]
    assert server.get("/workflows/hasty/instances?first=1")["elements"] == before == []


def test_durations_are_those_of_the_settings() -> None:
    assert millis_in("1m 30s") == wait_in("1m 30s") == 90_000
    with pytest.raises(NoDuration, match="is not a duration"):
        millis_in("1 2")
    with pytest.raises(InvalidRequest):
        wait_in("9999999999999999999999")


def test_a_database_that_is_away_is_waited_for() -> None:
    """The run is there, whether it can be read just now or not."""
    looks: list[int] = []
    done = StartResponse(
        workflow_id="w",
        workflow_version_id=1,
        workflow_instance_id=1,
        workflow_run_id=1,
        status=StartStatus.CREATED,
    )

    class Away:
        async def runs(self, _selection: object) -> None:
            looks.append(1)
            raise Unavailable("the database does not answer")

    async def again() -> bool:
        return len(looks) < 3

    told = asyncio.run(started_run(Away(), done, again))  # type: ignore[arg-type]  # all that is asked of it
    assert (told.run, told.status, len(looks)) == (None, StartStatus.CREATED, 3)


# -------------------------------------------------------------------------------------------- if_latest
def push(server: Served, workflow_id: str, if_latest: str, status: int = 200, user: str = "ann") -> Any:
    body = {"properties": {"owner": "ann"}, "workflow": {"id": workflow_id, "steps": [noop("a")]}}
    headers = {"user": user}
    return server.post("/workflows", body, status, params={"if_latest": if_latest}, headers=headers)


def test_a_push_on_top_of_what_the_author_saw(server: Served) -> None:
    push(server, "edited", "0")
    made = push(server, "edited", "1", user="bob")
    assert made["workflow_definition"]["metadata"]["workflow_version_id"] == 2
    refused = push(server, "edited", "1", 409)
    assert refused["status"] == "CONFLICT"
    assert "The newest version of workflow [edited] is [2], not [1]" in refused["message"]
    (who,) = refused["errors"]
    assert re.fullmatch(r"User \[bob\] published version \[2\] at 20\d\d-[\d-]+T[\d:]+\+00:00", who)
    assert server.get("/workflows/edited/overview")["latest_version_id"] == 2


def test_a_push_on_top_of_nothing(server: Served) -> None:
    refused = push(server, "never", "3", 409)
    assert "is [0], not [3]" in refused["message"]
    assert "errors" not in refused
    server.get("/workflows/never/overview", 404)
    assert push(server, "never", "x", 400)["title"] == "Bad Request"
    assert push(server, "never", "-1", 400)["title"] == "Bad Request"


def test_a_push_in_yaml_on_top_of_what_the_author_saw(server: Served) -> None:
    text = "workflow: {id: yamled-on, owner: ann, jobs: [{job: {id: a, type: NoOp}}]}"
    headers = {"content-type": "application/yaml"}
    for latest, status in (("0", 200), ("0", 409), ("1", 200)):
        path = f"/api/v3/workflows/yaml?if_latest={latest}"
        assert server.client.post(path, content=text, headers=headers).status_code == status


# ------------------------------------------------------------------------------------------- request ids
def test_a_repeated_request_does_nothing(server: Served) -> None:
    """Not even where it would have something to do by now."""
    server.push("repeated", sleep("s"))
    server.start("repeated")
    server.step_is("repeated", "s", "RUNNING")
    path = "/workflows/repeated/instances/1"
    once = {"request_id": "r1"}
    first = server.put(f"{path}/actions/stop", params=once)
    server.ended("repeated", 1, "STOPPED")
    server.post(f"{path}/actions/restart", {"restart_policy": "RESTART_FROM_BEGINNING"})
    server.step_is("repeated", "s", "RUNNING")
    assert server.put(f"{path}/actions/stop", params=once) == first
    assert server.get(path)["workflow_run_id"] == 2
    assert server.get(path)["status"] == "IN_PROGRESS"
    assert server.put(f"{path}/actions/stop", params={"request_id": "r2"})["workflow_run_id"] == 2
    server.ended("repeated", 1, "STOPPED")


def test_repeated_requests_for_steps_and_workflows(server: Served) -> None:
    server.push("resteps", sleep("s"), sleep("t"))
    server.start("resteps")
    server.step_is("resteps", "s", "RUNNING")
    server.step_is("resteps", "t", "RUNNING")
    once = {"request_id": "only"}
    path = "/workflows/resteps/instances/1/steps"
    assert server.put(f"{path}/s/actions/kill", params=once) == server.put(
        f"{path}/s/actions/kill", params=once
    )
    again = {"restart_policy": "RESTART_FROM_INCOMPLETE", "request_id": "anew"}
    made = server.post(f"{path}/s/actions/restart", again)
    assert made["step_attempt_id"] == 2
    assert server.post(f"{path}/s/actions/restart", again) == made
    skipped = server.put(f"{path}/t/actions/skip", params=once)
    assert server.put(f"{path}/t/actions/skip", params=once) == skipped
    gone = server.put("/workflows/resteps/actions/kill", 202, params=once)
    assert server.put("/workflows/resteps/actions/kill", 202, params=once) == gone
    server.ended("resteps", 1, "FAILED")
    deleted = server.delete("/workflows/resteps", params=once)
    assert server.delete("/workflows/resteps", params=once) == deleted


def test_what_was_refused_may_be_tried_again(server: Served) -> None:
    once = {"request_id": "early"}
    server.put("/workflows/late-one/actions/stop", 404, params=once)
    server.push("late-one")
    server.put("/workflows/late-one/actions/stop", 202, params=once)


def test_the_id_of_a_start_may_stand_in_the_query(server: Served) -> None:
    server.push("queried")
    made = [
        server.post(START.format("queried"), MANUAL, params={"request_id": "q"})["status"] for _ in range(2)
    ]
    assert made == ["CREATED", "DUPLICATED"]
    server.ended("queried")
    path = "/workflows/queried/instances/1/actions/restart"
    again = {"restart_policy": "RESTART_FROM_BEGINNING"}
    made = [server.post(path, again, params={"request_id": "p"})["workflow_uuid"]]
    assert made == ["p"]


@pytest.mark.parametrize("place", ["query", "body"])
def test_a_restart_that_is_sent_again_while_the_run_goes_on(server: Served, place: str) -> None:
    name = f"restarted-{place}"
    server.push(name, sleep("s"))
    server.start(name)
    server.step_is(name, "s", "RUNNING")
    server.put(f"/workflows/{name}/instances/1/actions/stop")
    server.ended(name, 1, "STOPPED")
    path, known = f"/workflows/{name}/instances/1/actions/restart", {"request_id": f"again-{place}"}
    body = {"restart_policy": "RESTART_FROM_BEGINNING", **(known if place == "body" else {})}
    params = known if place == "query" else {}
    first, second = (server.post(path, body, params=params) for _ in range(2))
    assert (first["status"], second["status"]) == ("CREATED", "DUPLICATED")
    assert first["workflow_run_id"] == second["workflow_run_id"] == 2
    assert first["workflow_uuid"] == second["workflow_uuid"] == f"again-{place}"
    server.put(f"/workflows/{name}/actions/kill", 202)


def test_pause_and_resume_are_asked_for_as_all_else(server: Served) -> None:
    server.push("held", sleep("s"))
    server.start("held")
    server.step_is("held", "s", "RUNNING")
    path = "/workflows/held/instances/1/actions"
    tried = server.put(f"{path}/pause", params={"dry_run": "true"})
    assert (tried["action"], tried["asked"]["count"]) == ("PAUSE", 1)
    assert server.get("/workflows/held/instances/1")["status"] == "IN_PROGRESS"
    once = {"request_id": "p1", "reason": "for lunch"}
    paused = server.put(f"{path}/pause", params=once)
    server.ended("held", 1, "PAUSED")
    assert server.put(f"{path}/pause", params=once) == paused
    tried = server.put(f"{path}/resume", params={"dry_run": "true"})
    assert (tried["action"], tried["asked"]["count"]) == ("RESUME", 1)
    server.put(f"{path}/resume", params={"reason": "lunch is over"})
    found = server.ended("held", 1, "IN_PROGRESS")
    lines = [each.get("message", "") for each in found["timeline"]]
    assert any(line.endswith(": for lunch") for line in lines)
    assert any(line.endswith(": lunch is over") for line in lines)
    server.put("/workflows/held/actions/kill", 202)


# ---------------------------------------------------------------------------------------- unknown parameters
def test_a_parameter_that_nobody_reads_is_refused(server: Served) -> None:
    """Else a misspelled filter lists everything, and a misspelled `dry_run` does it."""
    server.push("misspelled")
    refused = server.post(START.format("misspelled"), MANUAL, 400, params={"dryrun": "true"})
    assert refused["message"] == "This request has no parameter [dryrun] (did you mean `dry_run`?)"
    assert server.get("/instances?workflow=misspelled")["elements"] == []
    refused = server.get("/instances?status=FAILED&workflow_id=misspelled", 400)
    assert "no parameter [workflow_id] (did you mean `workflow`?)" in refused["message"]
    refused = server.get("/instances/histogram?parent=a", 400)
    assert "no parameter [parent] (it takes buckets, initiator, owner," in refused["message"]
    assert "(it takes none)" in server.get("/nodes?x=1", 400)["message"]
    assert server.client.get("/health?x=1").status_code == 200
